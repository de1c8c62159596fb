//! A piece of skin on its way into the file: vertices with all their attributes.

use glam::{DVec2, DVec3};
use sinew_graph::{Cx, Result};

use super::solid::Blob;
use super::surface::Surface;
use super::weights::{self, Influences};

/// What a shell is made of; the number of the glTF material.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Material {
    /// Fur, hair or cloth, with a texture.
    Fur,
    /// Bare skin.
    Skin,
    /// Eyes, noses, teeth.
    Gloss,
}

/// A shell: one primitive of the file.
#[derive(Debug)]
pub struct Shell {
    pub material: Material,
    pub positions: Vec<DVec3>,
    pub normals: Vec<DVec3>,
    pub uvs: Vec<DVec2>,
    /// sRGB, 0 to 1.
    pub colours: Vec<[f64; 3]>,
    pub influences: Vec<Influences>,
    pub triangles: Vec<[u32; 3]>,
}

/// The colour of a place on a surface with its normal.
pub type Paint = fn(DVec3, DVec3) -> [f64; 3];

impl Shell {
    /// An empty shell.
    pub fn new(material: Material) -> Self {
        let (positions, normals, uvs) = (Vec::new(), Vec::new(), Vec::new());
        Self { material, positions, normals, uvs, colours: Vec::new(), influences: Vec::new(), triangles: Vec::new() }
    }

    /// Adds a vertex; gives its number.
    pub fn push(&mut self, p: DVec3, normal: DVec3, uv: DVec2, colour: [f64; 3], influences: Influences) -> u32 {
        self.positions.push(p);
        self.normals.push(normal);
        self.uvs.push(uv);
        self.colours.push(colour);
        self.influences.push(influences);
        self.positions.len() as u32 - 1
    }

    /// Another shell of the same material joins this one; they share no vertex.
    pub fn append(&mut self, other: Self) {
        let base = self.positions.len() as u32;
        self.positions.extend(other.positions);
        self.normals.extend(other.normals);
        self.uvs.extend(other.uvs);
        self.colours.extend(other.colours);
        self.influences.extend(other.influences);
        self.triangles.extend(other.triangles.into_iter().map(|t| t.map(|k| base + k)));
    }

    /// The skin of a body, unwrapped onto the six sides of a box: where a triangle faces another side than its
    /// neighbour, the texture has a seam and the vertices between them are stored once per side.
    pub fn body(
        surface: &Surface,
        blobs: &[Blob],
        parents: &[Option<usize>],
        reach: f64,
        paint: Paint,
        cx: &Cx,
    ) -> Result<Self> {
        let influences = weights::body(surface, blobs, parents, reach, cx)?;
        let mut shell = Self::new(Material::Fur);
        let mut stored = vec![[u32::MAX; 6]; surface.positions.len()];
        for &triangle in &surface.triangles {
            let facing: DVec3 = triangle.iter().map(|&k| surface.normals[k as usize]).sum();
            let side = side(facing);
            let corners = triangle.map(|k| {
                let number = &mut stored[k as usize][side];
                if *number == u32::MAX {
                    let k = k as usize;
                    let (p, n) = (surface.positions[k], surface.normals[k]);
                    *number = shell.push(p, n, unwrap(side, p), paint(p, n), influences[k]);
                }
                *number
            });
            shell.triangles.push(corners);
        }
        Ok(shell)
    }
}

/// The side of a box that a direction faces.
fn side(facing: DVec3) -> usize {
    let a = facing.abs();
    let axis = if a.x >= a.y && a.x >= a.z {
        0
    } else if a.z >= a.y {
        2
    } else {
        1
    };
    2 * axis + usize::from(facing[axis] < 0.0)
}

/// A place on a side of the box: two textures to the metre, the sides apart by a third of one.
fn unwrap(side: usize, p: DVec3) -> DVec2 {
    let flat = match side / 2 {
        0 => DVec2::new(p.z, -p.y),
        1 => DVec2::new(p.x, p.z),
        _ => DVec2::new(p.x, -p.y),
    };
    flat * 2.0 + side as f64 / 3.0
}
