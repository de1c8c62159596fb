//! A z-buffer that keeps, for every sample, the nearest triangle and where in it the sample lies. What a sample looks
//! like is decided later, once each.

use glam::{DVec3, Vec2, Vec3};
use rayon::prelude::*;
use sinew_graph::{Cx, Result};

/// No triangle.
pub const NOTHING: u32 = u32::MAX;

/// A sample: what is seen there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// One over the distance, 0 for nothing; greater is nearer.
    pub nearness: f32,
    /// The triangle, or [`NOTHING`].
    pub triangle: u32,
    /// The weights of the triangle's second and third corner, in space.
    pub at: Vec2,
}

impl Sample {
    /// Nothing.
    pub const EMPTY: Self = Self { nearness: 0.0, triangle: NOTHING, at: Vec2::ZERO };

    /// A value of the corners at this sample.
    pub fn between(&self, a: Vec3, b: Vec3, c: Vec3) -> Vec3 {
        a * (1.0 - self.at.x - self.at.y) + b * self.at.x + c * self.at.y
    }
}

/// Samples, row by row from the top.
#[derive(Clone, Debug)]
pub struct Raster {
    /// Samples per row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// The samples.
    pub samples: Vec<Sample>,
}

/// Rows that one task draws.
const BAND: usize = 64;

impl Raster {
    /// Nothing yet.
    pub fn new(width: usize, height: usize) -> Self {
        Self { width, height, samples: vec![Sample::EMPTY; width * height] }
    }

    /// Draws triangles. Points are x and y in samples from the top left corner, and z one over the distance. A sample
    /// belongs to a triangle if its middle does; on an edge, to one of the two. Triangles with a point that is not
    /// finite or not in front are left out.
    pub fn draw(&mut self, points: &[Vec3], triangles: &[[u32; 3]], cx: &Cx) -> Result<()> {
        let width = self.width;
        if width == 0 || self.height == 0 {
            return Ok(());
        }
        self.samples.par_chunks_mut(width * BAND).enumerate().try_for_each(|(band, rows)| {
            let (top, height) = (band * BAND, rows.len() / width);
            for (number, triangle) in triangles.iter().enumerate() {
                if number % 4096 == 0 {
                    cx.check()?;
                }
                let corners = triangle.map(|k| points[k as usize]);
                draw_triangle(rows, width, top, height, number as u32, corners);
            }
            Ok(())
        })
    }

    /// The sample at a place; nothing outside.
    pub fn get(&self, x: i64, y: i64) -> Sample {
        if x < 0 || y < 0 || x >= self.width as i64 || y >= self.height as i64 {
            return Sample::EMPTY;
        }
        self.samples[y as usize * self.width + x as usize]
    }
}

fn draw_triangle(rows: &mut [Sample], width: usize, top: usize, height: usize, number: u32, corners: [Vec3; 3]) {
    if corners.iter().any(|c| !c.is_finite() || c.z <= 0.0) {
        return;
    }
    let (low, high) = corners.iter().fold((Vec3::MAX, Vec3::MIN), |(l, h), &c| (l.min(c), h.max(c)));
    let first = (low.y - 0.5).ceil().max(top as f32) as usize;
    let last = (high.y - 0.5).floor().min((top + height) as f32 - 1.0);
    if last < first as f32 {
        return;
    }
    // Edge functions in f64: exact enough that neighbours agree on their edge.
    let [a, b, c] = corners.map(|c| c.as_dvec3());
    let edge = |p: DVec3, q: DVec3, x: f64, y: f64| (q.x - p.x) * (y - p.y) - (q.y - p.y) * (x - p.x);
    let area = edge(a, b, c.x, c.y);
    if area == 0.0 {
        return;
    }
    let left = (low.x - 0.5).ceil().max(0.0) as usize;
    let right = (high.x - 0.5).floor().min(width as f32 - 1.0);
    for y in first..=last as usize {
        for x in left..(right + 1.0).max(left as f32) as usize {
            let (px, py) = (x as f64 + 0.5, y as f64 + 0.5);
            let (u, v) = (edge(c, a, px, py) / area, edge(a, b, px, py) / area);
            let w = 1.0 - u - v;
            if u < 0.0 || v < 0.0 || w < -1e-12 {
                continue;
            }
            // One over the distance is linear on screen; weights in space follow from it.
            let near = w * a.z + u * b.z + v * c.z;
            let sample = &mut rows[(y - top) * width + x];
            if near as f32 > sample.nearness {
                let at = Vec2::new((u * b.z / near) as f32, (v * c.z / near) as f32);
                *sample = Sample { nearness: near as f32, triangle: number, at };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn covered(raster: &Raster) -> Vec<(usize, usize)> {
        let hit = raster.samples.iter().enumerate().filter(|(_, s)| s.triangle != NOTHING);
        hit.map(|(k, _)| (k % raster.width, k / raster.width)).collect()
    }

    #[test]
    fn a_known_triangle_covers_known_samples() {
        let mut raster = Raster::new(4, 4);
        let points = [Vec3::new(0.0, 0.0, 1.0), Vec3::new(3.0, 0.0, 1.0), Vec3::new(0.0, 3.0, 1.0)];
        raster.draw(&points, &[[0, 1, 2]], &Cx::detached()).unwrap();
        // Middles (0.5, 0.5) … with x + y <= 3.
        assert_eq!(covered(&raster), [(0, 0), (1, 0), (2, 0), (0, 1), (1, 1), (0, 2)]);
    }

    #[test]
    fn the_nearer_triangle_is_seen_whichever_is_drawn_first() {
        for order in [[[0, 1, 2], [3, 4, 5]], [[3, 4, 5], [0, 1, 2]]] {
            let mut raster = Raster::new(2, 2);
            let flat = |z| [Vec3::new(-9.0, -9.0, z), Vec3::new(30.0, -9.0, z), Vec3::new(-9.0, 30.0, z)];
            let points = [flat(0.5), flat(0.25)].concat();
            raster.draw(&points, &order, &Cx::detached()).unwrap();
            assert!(raster.samples.iter().all(|s| (s.nearness - 0.5).abs() < 1e-6), "{:?}", raster.samples);
        }
    }

    #[test]
    fn two_triangles_of_a_square_leave_no_gap() {
        let mut raster = Raster::new(300, 200);
        let points = [
            Vec3::new(10.3, 7.7, 1.0),
            Vec3::new(290.1, 3.3, 1.0),
            Vec3::new(280.9, 190.2, 1.0),
            Vec3::new(5.5, 180.0, 1.0),
        ];
        raster.draw(&points, &[[0, 1, 2], [0, 2, 3]], &Cx::detached()).unwrap();
        for y in 10..178 {
            for x in 14..278 {
                assert_ne!(raster.get(x, y).triangle, NOTHING, "{x} {y}");
            }
        }
    }

    #[test]
    fn a_point_that_is_not_a_number_leaves_its_triangle_out() {
        let mut raster = Raster::new(8, 8);
        let points =
            [Vec3::NAN, Vec3::new(8.0, 0.0, 1.0), Vec3::new(0.0, 8.0, 1.0), Vec3::new(0.0, 0.0, f32::INFINITY)];
        raster.draw(&points, &[[0, 1, 2], [3, 1, 2]], &Cx::detached()).unwrap();
        assert!(covered(&raster).is_empty());
    }
}
