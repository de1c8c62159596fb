//! Reads one skinned primitive: positions, normals, triangles, weights.

use glam::Vec3;
use sinew_graph::{Cx, NodeError, Result};

use super::accessor::{Accessors, bad};
use super::weights::{self, Defects, Influences};

/// Positions beyond this are damage, and would overflow when squared.
const FARTHEST: f32 = 1e15;
/// Vertices that a character may have.
const MOST_VERTICES: usize = 1 << 25;

/// Which primitive, seen through which skin.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// The mesh.
    pub mesh: usize,
    /// The primitive within it.
    pub primitive: usize,
    /// The skin.
    pub skin: usize,
}

/// A primitive in its own mesh space.
#[derive(Debug)]
pub struct Geometry {
    /// Positions.
    pub positions: Vec<Vec3>,
    /// Normals, if the file has some.
    pub normals: Option<Vec<Vec3>>,
    /// Triangles.
    pub triangles: Vec<[u32; 3]>,
    /// Weights over the joints of the skin.
    pub influences: Influences,
    /// What was wrong with them.
    pub defects: Defects,
}

/// What a primitive turned out to be.
pub enum Found {
    /// Triangles with weights.
    Skinned(Geometry),
    /// Something that has no place in the mesh, and why; it stays in the document.
    Other(&'static str),
}

/// Reads a primitive.
pub fn read(accessors: &Accessors, place: Place, budget: &mut usize, cx: &Cx) -> Result<Found> {
    let document = accessors.document();
    let primitive = &document.meshes[place.mesh].primitives[place.primitive];
    let path = format!("meshes[{}].primitives[{}]", place.mesh, place.primitive);
    let mode = primitive.mode.unwrap_or(4);
    match mode {
        0 => return Ok(Found::Other("points")),
        1..=3 => return Ok(Found::Other("lines")),
        4..=6 => {}
        other => return Err(bad(&format!("{path}.mode"), format!("mode {other} is unknown"))),
    }
    let Some(&position) = primitive.attributes.get("POSITION") else { return Ok(Found::Other("without positions")) };
    if !primitive.attributes.contains_key("JOINTS_0") && !primitive.attributes.contains_key("WEIGHTS_0") {
        return Ok(Found::Other("without weights"));
    }
    let at = format!("{path}.attributes.POSITION");
    let count = accessors.accessor(position, &at)?.count;
    *budget = budget.checked_sub(count).ok_or_else(|| {
        NodeError::new(format!("{at}: the character would have more than {MOST_VERTICES} vertices"))
            .help("split the file, or check accessors[].count")
    })?;
    let positions: Vec<Vec3> = accessors.floats::<3>(position, &at)?.into_iter().map(Vec3::from_array).collect();
    let broken = |p: &Vec3| !p.to_array().iter().all(|x| x.abs() <= FARTHEST);
    if let Some(first) = positions.iter().position(broken) {
        let count = positions.iter().filter(|p| broken(p)).count();
        return Err(NodeError::new(format!(
            "{at}: {count} of {} positions are not usable numbers, first vertex {first}",
            positions.len()
        ))
        .help("delete these vertices where the model was made, then export again"));
    }
    cx.check()?;
    let normals = match primitive.attributes.get("NORMAL") {
        None => None,
        Some(&normal) => {
            let at = format!("{path}.attributes.NORMAL");
            let normals = accessors.floats::<3>(normal, &at)?;
            if normals.len() != positions.len() {
                return Err(bad(&at, format!("{} entries, but POSITION has {}", normals.len(), positions.len())));
            }
            Some(normals.into_iter().map(Vec3::from_array).collect())
        }
    };
    let corners = match primitive.indices {
        None => (0..positions.len() as u32).collect(),
        Some(indices) => {
            let at = format!("{path}.indices");
            let corners: Vec<u32> = bytemuck::cast_vec(accessors.integers::<1>(indices, &at)?);
            if let Some(k) = corners.iter().position(|&corner| corner as usize >= positions.len()) {
                let what = format!("entry {k} names vertex {} of {}", corners[k], positions.len());
                return Err(bad(&at, what));
            }
            corners
        }
    };
    let triangles = triangles(&corners, mode);
    if mode == 4 && corners.len() % 3 != 0 {
        cx.warn(format!("{path}: {} corners are left over after the last triangle", corners.len() % 3));
    }
    let skin = (place.skin, document.skins[place.skin].joints.len());
    match weights::read(accessors, primitive, &positions, skin, &path, cx)? {
        None => Ok(Found::Other("without weights")),
        Some((influences, defects)) => {
            Ok(Found::Skinned(Geometry { positions, normals, triangles, influences, defects }))
        }
    }
}

/// A budget for [`read`].
pub fn budget() -> usize {
    MOST_VERTICES
}

/// Triangles of a list (4), a strip (5) or a fan (6), all turning the same way.
fn triangles(corners: &[u32], mode: u32) -> Vec<[u32; 3]> {
    match mode {
        5 => corners
            .windows(3)
            .enumerate()
            .map(|(k, c)| if k % 2 == 0 { [c[0], c[1], c[2]] } else { [c[1], c[0], c[2]] })
            .collect(),
        6 => corners.get(1..).unwrap_or_default().windows(2).map(|c| [c[0], c[1], corners[0]]).collect(),
        _ => corners.chunks_exact(3).map(|c| [c[0], c[1], c[2]]).collect(),
    }
}

/// Normals from the triangles, weighted by area; up where a vertex has no face.
pub fn computed_normals(positions: &[Vec3], triangles: &[[u32; 3]]) -> Vec<Vec3> {
    let mut normals = vec![Vec3::ZERO; positions.len()];
    for triangle in triangles {
        let [a, b, c] = triangle.map(|corner| positions[corner as usize]);
        let normal = (b - a).cross(c - a);
        for &corner in triangle {
            normals[corner as usize] += normal;
        }
    }
    normals.into_iter().map(|normal| normal.try_normalize().unwrap_or(Vec3::Y)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strips_and_fans_turn_the_way_of_their_first_triangle() {
        assert_eq!(triangles(&[0, 1, 2, 3, 4], 5), [[0, 1, 2], [2, 1, 3], [2, 3, 4]]);
        assert_eq!(triangles(&[0, 1, 2, 3], 6), [[1, 2, 0], [2, 3, 0]]);
        assert_eq!(triangles(&[0, 1, 2, 3, 4], 4), [[0, 1, 2]]);
        assert!(triangles(&[], 5).is_empty() && triangles(&[], 6).is_empty() && triangles(&[1], 6).is_empty());
    }

    #[test]
    fn a_square_seen_from_above_has_normals_that_point_up() {
        let positions = [Vec3::ZERO, Vec3::Z, Vec3::X, Vec3::new(1.0, 0.0, 1.0), Vec3::ONE];
        let normals = computed_normals(&positions, &[[0, 1, 2], [2, 1, 3]]);
        assert_eq!(normals, [Vec3::Y; 5]);
    }
}
