//! A region and its collar cut out of the welded mesh, with numbers of its own: small tables, near in memory.

use glam::Vec3;
use sinew_graph::{Cx, NodeError, Result};

use crate::data::{Body, Region};
use crate::rig::sweep::graph::Graph;

/// The vertices of a region, in its order, followed by those of the ring around it that lie outside of it.
pub struct Patch {
    /// Where they are.
    pub positions: Vec<Vec3>,
    /// How many belong to the region: the first ones.
    pub inside: usize,
    /// The vertices of the ring, by number within the patch.
    pub ring: Vec<u32>,
    /// Triangles with all corners in the patch.
    pub triangles: Vec<[u32; 3]>,
    /// Its edges. Where only one of the other corners of a triangle is in the patch, that one is listed twice.
    pub graph: Graph,
}

/// Vertices or triangles between two looks at the context.
pub const STRIDE: usize = 1 << 16;

const NONE: u32 = u32::MAX;

impl Patch {
    /// Cuts out a region with the ring of its collar.
    pub fn new(body: &Body, region: &Region, ring: &[u32], cx: &Cx) -> Result<Self> {
        let welded = body.weld.first.len();
        let mut number = vec![NONE; welded];
        let mut positions = Vec::with_capacity(region.vertices.len() + ring.len());
        let mut add = |vertex: u32| -> Result<u32> {
            let wrong = |what: String| {
                NodeError::new(what).at("regions").help("connect regions found on this character's own weld")
            };
            let number = number.get_mut(vertex as usize).ok_or_else(|| {
                wrong(format!("region {} names vertex {vertex}, but there are {welded}", region.number))
            })?;
            if *number == NONE {
                let position = body.mesh.positions[body.weld.first[vertex as usize] as usize];
                if !position.is_finite() {
                    return Err(wrong(format!("vertex {vertex} of region {} lies at {position}", region.number))
                        .help("repair the mesh in its source program: coordinates must be finite numbers"));
                }
                *number = positions.len() as u32;
                positions.push(position);
            }
            Ok(*number)
        };
        for &vertex in region.vertices.iter() {
            add(vertex)?;
        }
        let ring = ring.iter().map(|&vertex| add(vertex)).collect::<Result<Vec<u32>>>()?;
        let mut patch =
            Self { inside: region.vertices.len(), graph: Graph::default(), positions, ring, triangles: Vec::new() };
        patch.connect(&body.weld.triangles, &number, cx)?;
        Ok(patch)
    }

    /// Collects triangles and links: counts per vertex, their running sum, and a second pass that fills the places.
    fn connect(&mut self, triangles: &[[u32; 3]], number: &[u32], cx: &Cx) -> Result<()> {
        let mut slivers = Vec::new();
        // A closed surface has two triangles a vertex.
        self.triangles.reserve(2 * self.positions.len());
        // Counts stand two places on: as places are filled, the start of a vertex becomes its end, the start of the next.
        let mut starts = vec![0u32; self.positions.len() + 2];
        for stretch in triangles.chunks(STRIDE) {
            cx.check()?;
            for &[a, b, c] in stretch {
                let (a, b, c) = (number[a as usize], number[b as usize], number[c as usize]);
                let two = match (a != NONE, b != NONE, c != NONE) {
                    (true, true, true) => {
                        self.triangles.push([a, b, c]);
                        for corner in [a, b, c] {
                            starts[corner as usize + 2] += 1;
                        }
                        continue;
                    }
                    (true, true, false) => [a, b],
                    (false, true, true) => [b, c],
                    (true, false, true) => [c, a],
                    _ => continue,
                };
                slivers.push(two);
                for corner in two {
                    starts[corner as usize + 2] += 1;
                }
            }
        }
        for k in 2..starts.len() {
            starts[k] += starts[k - 1];
        }
        cx.check()?;
        let mut links = vec![[0; 2]; 3 * self.triangles.len() + 2 * slivers.len()];
        let mut link = |from: u32, to: [u32; 2]| {
            let place = &mut starts[from as usize + 1];
            links[*place as usize] = to;
            *place += 1;
        };
        for stretch in self.triangles.chunks(STRIDE) {
            cx.check()?;
            for &[a, b, c] in stretch {
                link(a, [b, c]);
                link(b, [c, a]);
                link(c, [a, b]);
            }
        }
        for &[a, b] in &slivers {
            link(a, [b, b]);
            link(b, [a, a]);
        }
        self.graph = Graph::from_links(starts, links);
        Ok(())
    }

    /// Mean length of the edges of its triangles, file units; 0 without any.
    pub fn mean_edge(&self) -> f32 {
        let length = |triangle: &[u32; 3]| {
            let [a, b, c] = triangle.map(|vertex| self.positions[vertex as usize]);
            f64::from(a.distance(b) + b.distance(c) + c.distance(a))
        };
        (self.triangles.iter().map(length).sum::<f64>() / (3 * self.triangles.len()).max(1) as f64) as f32
    }
}
