//! The edges to measure, by area, with their lengths in the bind pose; made once and measured on every character that
//! shares the mesh.

use std::ops::Range;
use std::sync::Arc;

use glam::{Affine3A, Mat4, Vec3};
use sinew_graph::{Cx, NodeError, Result};

use super::ratios::{Ratios, measure};
use super::{Stretch, Stretched, choose_clip};
use crate::data::{Character, Field, Regions};
use crate::measure::region::{Area, Which, areas};
use crate::mesh::edges::unique_edges;

/// The edges of a mesh: those with both ends in each area, area after area, then all others as `body`.
pub(in crate::measure) struct Edges {
    pub(super) ends: Vec<[u32; 2]>,
    /// Per edge 1 / the squared length in the bind pose.
    pub(super) inverse_squares: Vec<f32>,
    pub(super) groups: Vec<Group>,
    /// What they were made of.
    positions: Arc<[Vec3]>,
    triangles: Arc<[[u32; 3]]>,
    to_world: [f32; 16],
}

/// The edges of an area.
pub(super) struct Group {
    pub name: Arc<str>,
    pub range: Range<usize>,
    /// Edges left out because they have no length.
    pub skipped: usize,
}

impl Edges {
    /// The edges of a character's mesh, by regions.
    pub fn new(character: &Character, regions: Option<&Regions>, measured: Which, cx: &Cx) -> Result<Self> {
        let mesh = &character.mesh;
        let areas = areas(character, regions, measured)?;
        if regions.is_some() && areas.is_empty() {
            cx.warn_at(
                "regions",
                "no region is treated: all edges count as body; set measured to all to measure every region",
            );
        }
        if !mesh.positions.iter().all(|p| p.is_finite()) {
            return Err(not_finite());
        }
        cx.check()?;
        let edges: Vec<[u32; 2]> =
            unique_edges(mesh.positions.len(), &mesh.triangles, cx)?.into_iter().map(|edge| edge.ends).collect();
        cx.check()?;

        let inside = |area: &Area, [a, b]: [u32; 2]| area.mask[a as usize] && area.mask[b as usize];
        let mut all = Self {
            ends: Vec::with_capacity(edges.len()),
            inverse_squares: Vec::with_capacity(edges.len()),
            groups: Vec::with_capacity(areas.len() + 1),
            positions: Arc::clone(&mesh.positions),
            triangles: Arc::clone(&mesh.triangles),
            to_world: character.skeleton.to_world,
        };
        for area in &areas {
            all.add(Arc::clone(&area.name), edges.iter().copied().filter(|&edge| inside(area, edge)));
            cx.check()?;
        }
        let rest = edges.iter().copied().filter(|&edge| !areas.iter().any(|area| inside(area, edge)));
        all.add("body".into(), rest);
        let skipped = all.groups.iter().map(|group| group.skipped).sum::<usize>();
        if skipped > 0 {
            cx.warn_at("character", format!("{skipped} edges have no length in the bind pose and were left out"));
        }
        Ok(all)
    }

    fn add(&mut self, name: Arc<str>, edges: impl Iterator<Item = [u32; 2]>) {
        // Bind lengths in the world, which may be scaled against bind space.
        let to_world = Affine3A::from_mat4(Mat4::from_cols_array(&self.to_world));
        let (start, mut skipped) = (self.ends.len(), 0);
        for [a, b] in edges {
            let edge = self.positions[a as usize] - self.positions[b as usize];
            let square = to_world.transform_vector3(edge).length_squared();
            if square > 0.0 && square.recip().is_finite() {
                self.ends.push([a, b]);
                self.inverse_squares.push(square.recip());
            } else {
                skipped += 1;
            }
        }
        self.groups.push(Group { name, range: start..self.ends.len(), skipped });
    }

    /// Whether a character has the same edges of the same lengths, because it shares the mesh.
    pub fn are_of(&self, character: &Character) -> bool {
        Arc::ptr_eq(&self.positions, &character.mesh.positions)
            && Arc::ptr_eq(&self.triangles, &character.mesh.triangles)
            && self.to_world == character.skeleton.to_world
    }

    /// How a clip of a character stretches them.
    pub fn measure(&self, character: &Character, clip: &str, samples: u32, cx: &Cx) -> Result<Stretched> {
        let clip = choose_clip(&character.clips, clip)?;
        if !character.skin.weights.iter().all(|weight| weight.is_finite()) {
            return Err(not_finite());
        }
        let Ratios { worst, tops, torn } = measure(self, character, clip, samples, cx)?;
        let mut field = vec![-1.0f32; self.positions.len()];
        for (&[a, b], &worst) in self.ends.iter().zip(&worst) {
            for end in [a, b] {
                field[end as usize] = field[end as usize].max(worst);
            }
        }
        let field = field.into_iter().map(|square| if square < 0.0 { 1.0 } else { square.sqrt() }).collect();
        let stretch = Field { name: "greatest stretch".into(), unit: "ratio".into(), values: field, stub: None };
        let rows = self.groups.iter().zip(tops).zip(torn).map(|((group, top), torn)| {
            let [p95, p99, max] = top.percentiles([0.95, 0.99, 1.0], f64::sqrt);
            let edges = group.range.len();
            let torn = torn as f64 / (edges * samples as usize) as f64;
            Stretch { region: Arc::clone(&group.name), p95, p99, max, torn, edges, skipped: group.skipped }
        });
        Ok(Stretched::new(&rows.collect::<Vec<_>>(), clip, samples, stretch))
    }
}

fn not_finite() -> NodeError {
    NodeError::new("a position or weight is not a finite number")
        .at("character")
        .help("import the file with the importer of this version, which repairs such numbers")
}
