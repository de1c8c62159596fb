//! The skin of some regions, made ready for looking at one after the other.

use glam::{DVec3, Vec3};
use sinew_graph::{Cx, Result};

use super::chain::geodesic::spread;
use super::sweep::excerpt::Excerpt;
use crate::data::{Body, Region};

/// The vertices of some regions and their neighbours, and room for what is found of one region at a time.
pub struct Surface<'a> {
    body: &'a Body,
    skin: Excerpt,
    /// Per vertex of the excerpt: where it is.
    places: Vec<Vec3>,
    /// Which vertices are in the region at hand.
    inside: Vec<bool>,
    /// The way from its collar.
    geodesic: Vec<f32>,
}

impl<'a> Surface<'a> {
    /// The skin of `regions` and of their collars.
    pub fn of<'r>(regions: impl IntoIterator<Item = &'r Region>, body: &'a Body) -> Self {
        let wanted = regions.into_iter().flat_map(|region| {
            let ring = region.collar.iter().flat_map(|collar| collar.ring.iter());
            region.vertices.iter().chain(ring).copied()
        });
        let skin = Excerpt::of(body.weld.first.len(), wanted, &body.weld.triangles);
        let place = |&v: &u32| body.mesh.positions[body.weld.first[v as usize] as usize];
        Self {
            body,
            places: skin.vertices.iter().map(place).collect(),
            inside: vec![false; skin.vertices.len()],
            geodesic: vec![f32::INFINITY; skin.vertices.len()],
            skin,
        }
    }

    /// The place of a welded vertex.
    pub fn place(&self, vertex: u32) -> Vec3 {
        self.body.mesh.positions[self.body.weld.first[vertex as usize] as usize]
    }

    /// The numbers of welded vertices.
    fn numbers(&self, vertices: &[u32]) -> impl Iterator<Item = u32> {
        vertices.iter().map(|&v| self.skin.number[v as usize])
    }

    fn mark(&mut self, region: &Region, inside: bool) {
        region.vertices.iter().for_each(|&v| self.inside[self.skin.number[v as usize] as usize] = inside);
    }

    /// The neighbours of a region outside of it, rising.
    pub fn ring(&mut self, region: &Region) -> Vec<u32> {
        self.mark(region, true);
        let neighbours = self.numbers(&region.vertices).flat_map(|v| self.skin.graph.neighbours(v).iter().copied());
        let outside = neighbours.filter(|&v| !self.inside[v as usize]);
        let mut ring: Vec<u32> = outside.map(|v| self.skin.vertices[v as usize]).collect();
        self.mark(region, false);
        ring.sort_unstable();
        ring.dedup();
        ring
    }

    /// Length of a region's border over the square root of its area; 0 for a closed shell.
    pub fn neck(&mut self, region: &Region) -> f32 {
        self.mark(region, true);
        let inside = |v: u32| self.inside[v as usize];
        let place = |v: u32| self.places[v as usize].as_dvec3();
        let (mut border, mut area) = (0.0f64, 0.0f64);
        for v in self.numbers(&region.vertices) {
            let p = place(v);
            for &[a, b] in self.skin.graph.fans(v) {
                // Each corner inside brings its third of a triangle; where all are, the first one brings it whole.
                let shares = match (inside(a), inside(b)) {
                    (true, true) if v < a && v < b => 3.0,
                    (true, true) => continue,
                    _ => 1.0,
                };
                let (pa, pb): (DVec3, DVec3) = (place(a), place(b));
                area += (pa - p).cross(pb - p).length() * (shares / 6.0);
                // The border runs half way along the edges that leave, so it is half as long as the edge between the two corners
                // on one side; two corners inside both come by here.
                border += match (inside(a), inside(b)) {
                    (true, true) => 0.0,
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
        self.mark(region, true);
        let ring: &[u32] = region.collar.as_ref().map_or(&[], |collar| &collar.ring);
        let mut geodesic = std::mem::take(&mut self.geodesic);
        self.numbers(ring).for_each(|v| geodesic[v as usize] = 0.0);
        let (place, inside) = (|v: u32| self.places[v as usize], |v: u32| self.inside[v as usize]);
        spread(&self.skin.graph, place, &mut geodesic, self.numbers(ring), f32::INFINITY, inside, cx)?;
        let reached = self.numbers(&region.vertices).filter(|&v| geodesic[v as usize].is_finite());
        let mut along: Vec<(f32, u32)> =
            reached.map(|v| (geodesic[v as usize], self.skin.vertices[v as usize])).collect();
        along.sort_unstable_by_key(|&(g, v)| u64::from(g.to_bits()) << 32 | u64::from(v));
        self.numbers(ring).chain(self.numbers(&region.vertices)).for_each(|v| geodesic[v as usize] = f32::INFINITY);
        self.geodesic = geodesic;
        self.mark(region, false);
        Ok(along)
    }
}
