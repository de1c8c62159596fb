//! The skin of some regions, made ready for looking at one after the other.

use glam::{DVec3, Vec3};
use sinew_graph::{Cx, Result};

use super::chain::geodesic::spread;
use super::sweep::graph::Graph;
use crate::data::{Body, Region};

/// The edges at the vertices of some regions, and room for what is found of one region at a time.
pub struct Surface<'a> {
    body: &'a Body,
    graph: Graph,
    /// Which vertices are in the region at hand.
    inside: Vec<bool>,
    /// The way from its collar.
    geodesic: Vec<f32>,
}

impl<'a> Surface<'a> {
    /// The skin of `regions` and of their collars.
    pub fn of<'r>(regions: impl IntoIterator<Item = &'r Region>, body: &'a Body) -> Self {
        let mut inside = vec![false; body.weld.first.len()];
        for region in regions {
            let ring = region.collar.iter().flat_map(|collar| collar.ring.iter());
            region.vertices.iter().chain(ring).for_each(|&v| inside[v as usize] = true);
        }
        let graph = Graph::within(&inside, &body.weld.triangles);
        inside.fill(false);
        Self { body, graph, inside, geodesic: Vec::new() }
    }

    /// The place of a welded vertex.
    pub fn place(&self, vertex: u32) -> Vec3 {
        self.body.mesh.positions[self.body.weld.first[vertex as usize] as usize]
    }

    fn mark(&mut self, region: &Region, inside: bool) {
        region.vertices.iter().for_each(|&v| self.inside[v as usize] = inside);
    }

    /// The neighbours of a region outside of it, rising.
    pub fn ring(&mut self, region: &Region) -> Vec<u32> {
        self.mark(region, true);
        let neighbours = region.vertices.iter().flat_map(|&v| self.graph.neighbours(v).iter().copied());
        let mut ring: Vec<u32> = neighbours.filter(|&v| !self.inside[v as usize]).collect();
        self.mark(region, false);
        ring.sort_unstable();
        ring.dedup();
        ring
    }

    /// Length of a region's border over the square root of its area; 0 for a closed shell.
    pub fn neck(&mut self, region: &Region) -> f32 {
        self.mark(region, true);
        let inside = |v: u32| self.inside[v as usize];
        let place = |v: u32| self.place(v).as_dvec3();
        let (mut border, mut area) = (0.0f64, 0.0f64);
        for &v in region.vertices.iter() {
            let p = place(v);
            for &[a, b] in self.graph.fans(v) {
                let (pa, pb): (DVec3, DVec3) = (place(a), place(b));
                // Each corner inside brings its third of the triangle. The border runs half way along the edges that leave, so
                // it is half as long as the edge between the two corners on one side; two corners inside both come by here.
                area += (pa - p).cross(pb - p).length() / 6.0;
                border += match (inside(a), inside(b)) {
                    (true, true) => continue,
                    (true, false) => 0.25 * p.distance(pa),
                    (false, true) => 0.25 * p.distance(pb),
                    (false, false) => 0.5 * pa.distance(pb),
                };
            }
        }
        self.mark(region, false);
        if area > 0.0 { (border / area.sqrt()) as f32 } else { f32::INFINITY }
    }

    /// The vertices of a region that can be reached along the skin from its collar, by how far that is: the way and the
    /// vertex, rising.
    pub fn along(&mut self, region: &Region, cx: &Cx) -> Result<Vec<(f32, u32)>> {
        self.geodesic.resize(self.inside.len(), f32::INFINITY);
        self.mark(region, true);
        let ring: &[u32] = region.collar.as_ref().map_or(&[], |collar| &collar.ring);
        let mut geodesic = std::mem::take(&mut self.geodesic);
        ring.iter().for_each(|&v| geodesic[v as usize] = 0.0);
        let (place, inside) = (|v| self.place(v), |v: u32| self.inside[v as usize]);
        spread(&self.graph, place, &mut geodesic, ring.iter().copied(), f32::INFINITY, inside, cx)?;
        let along = region.vertices.iter().map(|&v| (geodesic[v as usize], v)).filter(|(g, _)| g.is_finite());
        let mut along: Vec<(f32, u32)> = along.collect();
        along.sort_unstable_by_key(|&(g, v)| u64::from(g.to_bits()) << 32 | u64::from(v));
        ring.iter().chain(region.vertices.iter()).for_each(|&v| geodesic[v as usize] = f32::INFINITY);
        self.geodesic = geodesic;
        self.mark(region, false);
        Ok(along)
    }
}
