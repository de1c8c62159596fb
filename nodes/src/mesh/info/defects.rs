//! What is wrong with a mesh and its weights, in counts.

use std::collections::HashMap;

use sinew_graph::{Cx, Result};

use crate::data::{Mesh, Skeleton, Skin};
use crate::mesh::edges::unique_edges;

/// Counts of what may surprise in a mesh. All but `loose` are over places: vertices that share a position exactly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Defects {
    /// Distinct positions.
    pub places: usize,
    /// Connected pieces.
    pub shells: usize,
    /// Triangles with two corners at one place, or without area.
    pub degenerate: usize,
    /// Triangles with the same three places as one before, whatever their order.
    pub repeated: usize,
    /// Edges of one triangle.
    pub open: usize,
    /// Edges of more than two triangles.
    pub non_manifold: usize,
    /// Vertices that no triangle uses.
    pub loose: usize,
    /// Vertices whose position is not finite.
    pub not_finite: usize,
    /// Vertices without any weight.
    pub unweighted: usize,
    /// Vertices whose weights sum to something else than 1, or are negative or not finite.
    pub unnormalised: usize,
    /// Vertices with a joint that the skeleton has not.
    pub unknown_joints: usize,
    /// The most influences that a vertex has.
    pub most_influences: usize,
}

/// Looks for defects of a mesh, and with skeleton and skin also for those of the weights.
pub fn defects(mesh: &Mesh, rigged: Option<(&Skeleton, &Skin)>, cx: &Cx) -> Result<Defects> {
    let mut found = Defects::default();
    let mut numbers: HashMap<[u32; 3], u32> = HashMap::with_capacity(mesh.positions.len());
    let mut place = Vec::with_capacity(mesh.positions.len());
    for (k, p) in mesh.positions.iter().enumerate() {
        if k % 4096 == 0 {
            cx.check()?;
        }
        found.not_finite += usize::from(!p.is_finite());
        // Adding 0 makes -0 a 0.
        let bits = p.to_array().map(|x| (x + 0.0).to_bits());
        let next = numbers.len() as u32;
        place.push(*numbers.entry(bits).or_insert(next));
    }
    found.places = numbers.len();
    drop(numbers);

    let mut used = vec![false; mesh.positions.len()];
    let mut shells = Shells::new(found.places);
    let mut surface = Vec::with_capacity(mesh.triangles.len());
    for (k, triangle) in mesh.triangles.iter().enumerate() {
        if k % 4096 == 0 {
            cx.check()?;
        }
        for &corner in triangle {
            used[corner as usize] = true;
        }
        let [a, b, c] = triangle.map(|corner| place[corner as usize]);
        shells.join(a, b);
        shells.join(a, c);
        let [p, q, r] = triangle.map(|corner| mesh.positions[corner as usize].as_dvec3());
        if a == b || b == c || c == a || (q - p).cross(r - p).length_squared() == 0.0 {
            found.degenerate += 1;
        } else {
            surface.push([a, b, c]);
        }
    }
    found.loose = used.iter().filter(|&&used| !used).count();
    let mut in_use = vec![false; found.places];
    for (&place, _) in place.iter().zip(&used).filter(|&(_, &used)| used) {
        in_use[place as usize] = true;
    }
    found.shells = (0..found.places as u32).filter(|&k| in_use[k as usize] && shells.root(k) == k).count();

    cx.check()?;
    let mut corners: Vec<[u32; 3]> = surface.clone();
    corners.iter_mut().for_each(|triangle| triangle.sort_unstable());
    corners.sort_unstable();
    cx.check()?;
    found.repeated = corners.windows(2).filter(|pair| pair[0] == pair[1]).count();
    corners.dedup();
    for edge in unique_edges(found.places, &corners, cx)? {
        found.open += usize::from(edge.triangles == 1);
        found.non_manifold += usize::from(edge.triangles > 2);
    }

    if let Some((skeleton, skin)) = rigged {
        for vertex in 0..skin.len() {
            if vertex % 4096 == 0 {
                cx.check()?;
            }
            let row = vertex * skin.width..(vertex + 1) * skin.width;
            let (joints, weights) = (&skin.joints[row.clone()], &skin.weights[row]);
            let sum: f32 = weights.iter().sum();
            let influences = weights.iter().filter(|&&weight| weight > 0.0).count();
            let odd = weights.iter().any(|weight| !(0.0..=f32::MAX).contains(weight));
            found.unweighted += usize::from(influences == 0);
            found.unnormalised += usize::from(odd || influences > 0 && (sum - 1.0).abs() > 1e-3);
            found.most_influences = found.most_influences.max(influences);
            let unknown = |(&joint, &weight): (&u16, &f32)| weight > 0.0 && usize::from(joint) >= skeleton.joints.len();
            found.unknown_joints += usize::from(joints.iter().zip(weights).any(unknown));
        }
    }
    Ok(found)
}

/// Disjoint sets; the least member of each is its root.
struct Shells(Vec<u32>);

impl Shells {
    fn new(count: usize) -> Self {
        Self((0..count as u32).collect())
    }

    fn root(&mut self, mut k: u32) -> u32 {
        while self.0[k as usize] != k {
            self.0[k as usize] = self.0[self.0[k as usize] as usize];
            k = self.0[k as usize];
        }
        k
    }

    fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        self.0[a.max(b) as usize] = a.min(b);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use glam::Vec3;

    use super::*;
    use crate::measure::edge_stretch::tests::arm;

    fn mesh(positions: &[[f32; 3]], triangles: &[[u32; 3]]) -> Mesh {
        let positions: Arc<[Vec3]> = positions.iter().map(|&p| Vec3::from_array(p)).collect();
        Mesh {
            normals: positions.iter().map(|_| Vec3::Y).collect(),
            colours: positions.iter().map(|_| [255; 4]).collect(),
            triangles: triangles.into(),
            parts: Arc::from([]),
            positions,
        }
    }

    fn of(mesh: &Mesh) -> Defects {
        defects(mesh, None, &Cx::detached()).unwrap()
    }

    const CORNERS: [[f32; 3]; 4] = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    const FACES: [[u32; 3]; 4] = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];

    #[test]
    fn a_tetrahedron_with_split_seams_is_one_closed_shell() {
        // Every face with vertices of its own; one zero is negative.
        let mut positions: Vec<[f32; 3]> = FACES.iter().flatten().map(|&k| CORNERS[k as usize]).collect();
        positions[0] = [-0.0, 0.0, -0.0];
        let triangles: Vec<[u32; 3]> = (0..4).map(|k| [3 * k, 3 * k + 1, 3 * k + 2]).collect();
        let expected = Defects { places: 4, shells: 1, ..Defects::default() };
        assert_eq!(of(&mesh(&positions, &triangles)), expected);
    }

    #[test]
    fn every_defect_is_counted_where_it_was_made() {
        let mut positions = CORNERS.to_vec();
        positions.extend([[5.0, 0.0, 0.0], [6.0, 0.0, 0.0], [7.0, 0.0, 0.0], [0.5, -1.0, -1.0], [f32::NAN; 3]]);
        let mut triangles = FACES.to_vec();
        // Another shell without area, a repeated face turned round, a fin on the edge 0-1, and a collapsed face.
        triangles.extend([[4, 5, 6], [2, 0, 1], [0, 1, 7], [0, 0, 1]]);
        let found = of(&mesh(&positions, &triangles));
        let expected = Defects {
            places: 9,
            shells: 2,
            degenerate: 2,
            repeated: 1,
            open: 2,
            non_manifold: 1,
            loose: 1,
            not_finite: 1,
            ..Defects::default()
        };
        assert_eq!(found, expected);
    }

    #[test]
    fn weights_are_judged_per_vertex() {
        let mut character = arm();
        let mut weights = character.skin.weights.to_vec();
        weights[0] = 0.0;
        weights[4] = 0.75;
        weights[8] = f32::NAN;
        let mut joints = character.skin.joints.to_vec();
        joints[10] = 9;
        (character.skin.weights, character.skin.joints) = (weights.into(), joints.into());
        let found = defects(&character.mesh, Some((&character.skeleton, &character.skin)), &Cx::detached()).unwrap();
        assert_eq!((found.unweighted, found.unnormalised, found.unknown_joints), (2, 2, 1));
    }
}
