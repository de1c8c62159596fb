//! Characters of any size: a sample with every triangle split into four, as often as needed.

use std::collections::BTreeMap;
use std::sync::Arc;

use sinew_nodes::data::{Character, Mesh, Part, Skin};

/// The character with every triangle split into four at the middles of its edges. Corners stay; a middle takes the
/// weights of the first end of its edge. The source file no longer matches, so the result is for measuring only.
pub fn subdivided(character: &Character) -> Character {
    let mesh = &character.mesh;
    let width = character.skin.width;
    let (mut positions, mut normals, mut colours) = (Vec::new(), Vec::new(), Vec::new());
    let (mut joints, mut weights) = (Vec::new(), Vec::new());
    let (mut triangles, mut parts) = (Vec::new(), Vec::new());
    for part in mesh.parts.iter() {
        let (vertices, faces) = (part.vertices.clone(), part.triangles.clone());
        let (start, first) = (positions.len() as u32, triangles.len() as u32);
        let span = vertices.start as usize..vertices.end as usize;
        positions.extend_from_slice(&mesh.positions[span.clone()]);
        normals.extend_from_slice(&mesh.normals[span.clone()]);
        colours.extend_from_slice(&mesh.colours[span.clone()]);
        joints.extend_from_slice(&character.skin.joints[span.start * width..span.end * width]);
        weights.extend_from_slice(&character.skin.weights[span.start * width..span.end * width]);
        let mut middles = BTreeMap::new();
        for face in &mesh.triangles[faces.start as usize..faces.end as usize] {
            let mut middle = |a: u32, b: u32| {
                *middles.entry((a.min(b), a.max(b))).or_insert_with(|| {
                    let (a, b) = (a.min(b) as usize, a.max(b) as usize);
                    positions.push((mesh.positions[a] + mesh.positions[b]) * 0.5);
                    normals.push((mesh.normals[a] + mesh.normals[b]).normalize_or_zero());
                    colours.push(mesh.colours[a]);
                    joints.extend_from_slice(&character.skin.joints[a * width..(a + 1) * width]);
                    weights.extend_from_slice(&character.skin.weights[a * width..(a + 1) * width]);
                    positions.len() as u32 - 1
                })
            };
            let [a, b, c] = *face;
            let (ab, bc, ca) = (middle(a, b), middle(b, c), middle(c, a));
            let corner = |v: u32| v - vertices.start + start;
            triangles.extend([[corner(a), ab, ca], [corner(b), bc, ab], [corner(c), ca, bc], [ab, bc, ca]]);
        }
        let (end, last) = (positions.len() as u32, triangles.len() as u32);
        parts.push(Part { vertices: start..end, triangles: first..last, ..part.clone() });
    }
    let skin = Skin { width, joints: joints.into(), weights: weights.into() };
    Character {
        mesh: Mesh {
            positions: positions.into(),
            normals: normals.into(),
            colours: colours.into(),
            triangles: triangles.into(),
            parts: Arc::from(parts),
        },
        source_skin: skin.clone(),
        skin,
        ..character.clone()
    }
}

/// The character split until it has at least `vertices`.
pub fn at_least(character: &Character, vertices: usize) -> Character {
    let mut character = character.clone();
    while character.mesh.positions.len() < vertices && !character.mesh.triangles.is_empty() {
        character = subdivided(&character);
    }
    character
}
