//! How far each vertex is from the bones (`tail-3d.md` A1).
//!
//! Vertices are taken in blocks, and blocks in groups. A bounding sphere rules out most segments for a whole group, that of a
//! block most of the rest; what is left is measured in plain loops over arrays that the compiler turns into vector code.

use std::cmp::Ordering;
use std::sync::Arc;

use glam::Vec3;
use rayon::prelude::*;
use sinew_graph::{Cx, Result, node};

use crate::data::{Character, Field};
use crate::rig::anatomy::{self, Segment};

/// Measures how far each vertex is from the skeleton, in the bind pose: the least distance to any bone. Joints that move no
/// vertex do not count.
#[node(id = "rig.skeleton_distance", revision = 2)]
pub fn skeleton_distance(
    /// The character to measure.
    character: &Character,
    /// How far a leaf joint's bone goes on beyond it, as a share of the bone before, so that muzzles and hands do not read as
    /// far.
    #[param(default = STUB, range = 0.0..=2.0)]
    stub: f32,
    cx: &Cx,
) -> Result<Field> {
    let segments = anatomy::bones(&character.skeleton, &character.skin).segments(&character.skeleton, stub);
    let values = distances(&character.mesh.positions, &segments, cx)?;
    Ok(Field { name: "skeleton distance".into(), unit: "file units".into(), values, stub: Some(stub) })
}

/// How far a leaf's bone goes on by default, as a share of the bone before.
pub const STUB: f32 = 0.5;

/// How far a leaf's bone goes on in some distances; what is usual for distances that do not tell.
pub fn stub_of(distance: &Field) -> f32 {
    distance.stub.unwrap_or(STUB)
}

/// The distance of one point to the nearest of some segments; infinite without segments.
pub fn to_point(p: Vec3, segments: &[Segment]) -> f32 {
    segments.iter().map(|s| Prepared::of(s).distance_squared(p)).fold(f32::INFINITY, f32::min).sqrt()
}

/// Vertices per block.
const BLOCK: usize = 64;

/// Blocks per group.
const GROUP: usize = 16;

/// Blocks per task.
const TASK: usize = 256;

/// A segment, prepared: `t = dot(p - a, d) / |d|^2`.
#[derive(Clone, Copy)]
struct Prepared {
    a: Vec3,
    d: Vec3,
    per_length_squared: f32,
}

impl Prepared {
    fn of(segment: &Segment) -> Self {
        let d = segment.b - segment.a;
        let square = d.length_squared();
        // A segment without length is a point.
        let per_length_squared = if square > 0.0 && (1.0 / square).is_finite() { 1.0 / square } else { 0.0 };
        Self { a: segment.a, d, per_length_squared }
    }

    fn distance_squared(&self, p: Vec3) -> f32 {
        let ap = p - self.a;
        let t = (ap.dot(self.d) * self.per_length_squared).clamp(0.0, 1.0);
        (ap - self.d * t).length_squared()
    }
}

/// The least distance of each position to any segment; infinite without segments.
pub fn distances(positions: &[Vec3], segments: &[Segment], cx: &Cx) -> Result<Arc<[f32]>> {
    let prepared: Vec<Prepared> = segments.iter().map(Prepared::of).collect();
    let mut values = vec![f32::INFINITY; positions.len()];
    positions.par_chunks(BLOCK * TASK).zip(values.par_chunks_mut(BLOCK * TASK)).try_for_each(
        |(positions, values)| {
            cx.check()?;
            let (mut around, mut near) = (Vec::new(), Vec::new());
            let size = BLOCK * GROUP;
            for (positions, values) in positions.chunks(size).zip(values.chunks_mut(size)) {
                let (least, radius) = measure(positions, &prepared, &mut around);
                around.retain(|&(d, _)| within(d, limit(least, radius)));
                let segments: Vec<Prepared> = around.iter().map(|&(_, segment)| segment).collect();
                for (positions, values) in positions.chunks(BLOCK).zip(values.chunks_mut(BLOCK)) {
                    block(positions, &segments, &mut near, values);
                }
            }
            Ok(())
        },
    )?;
    Ok(values.into())
}

/// How far each segment is from the centre of some positions, the least of it, and the radius of the sphere around them.
fn measure(positions: &[Vec3], segments: &[Prepared], near: &mut Vec<(f32, Prepared)>) -> (f32, f32) {
    let (lo, hi) = positions.iter().fold((positions[0], positions[0]), |(lo, hi), &p| (lo.min(p), hi.max(p)));
    let centre = (lo + hi) * 0.5;
    let radius = positions.iter().map(|p| p.distance_squared(centre)).fold(0.0, f32::max).sqrt();
    near.clear();
    near.extend(segments.iter().map(|segment| (segment.distance_squared(centre).sqrt(), *segment)));
    (near.iter().map(|n| n.0).fold(f32::INFINITY, f32::min), radius)
}

/// The distance from the centre beyond which a segment is not the nearest to any vertex: that is at most two radii further
/// away than the nearest segment. The margin takes up rounding: a segment too many costs time, one too few would cost
/// exactness.
fn limit(least: f32, radius: f32) -> f32 {
    (least + 2.0 * radius) * (1.0 + 1e-5)
}

/// Whether a segment counts. A vertex without a number for a place takes no segment from the others of its block.
fn within(d: f32, limit: f32) -> bool {
    d.partial_cmp(&limit) != Some(Ordering::Greater)
}

fn block(positions: &[Vec3], segments: &[Prepared], near: &mut Vec<(f32, Prepared)>, values: &mut [f32]) {
    let (mut x, mut y, mut z) = ([0.0f32; BLOCK], [0.0f32; BLOCK], [0.0f32; BLOCK]);
    for (k, &p) in positions.iter().enumerate() {
        (x[k], y[k], z[k]) = (p.x, p.y, p.z);
    }
    let (least, radius) = measure(positions, segments, near);
    let mut best = [f32::INFINITY; BLOCK];
    let mut lower = |&Prepared { a, d, per_length_squared }: &Prepared| {
        for k in 0..BLOCK {
            let (px, py, pz) = (x[k] - a.x, y[k] - a.y, z[k] - a.z);
            let t = ((px * d.x + py * d.y + pz * d.z) * per_length_squared).clamp(0.0, 1.0);
            let (qx, qy, qz) = (px - t * d.x, py - t * d.y, pz - t * d.z);
            let square = qx * qx + qy * qy + qz * qz;
            best[k] = if square < best[k] { square } else { best[k] };
        }
    };
    let limit = limit(least, radius);
    near.iter().filter(|(d, _)| within(*d, limit)).for_each(|(_, segment)| lower(segment));
    for (value, best) in values.iter_mut().zip(best) {
        *value = best.sqrt();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(a: Vec3, b: Vec3) -> Segment {
        Segment { a, b, joint: 0 }
    }

    #[test]
    fn distance_to_a_segment_is_to_its_side_or_to_its_ends() {
        let bone = [segment(Vec3::ZERO, Vec3::new(2.0, 0.0, 0.0))];
        let points =
            [Vec3::new(1.0, 3.0, 4.0), Vec3::new(-3.0, 4.0, 0.0), Vec3::new(2.0, 0.0, 0.0), Vec3::new(5.0, 0.0, 4.0)];
        assert_eq!(&*distances(&points, &bone, &Cx::detached()).unwrap(), [5.0, 5.0, 0.0, 5.0]);
    }

    #[test]
    fn a_segment_without_length_is_a_point() {
        let point = [segment(Vec3::ONE, Vec3::ONE)];
        assert_eq!(&*distances(&[Vec3::new(1.0, 4.0, 5.0)], &point, &Cx::detached()).unwrap(), [5.0]);
    }

    #[test]
    fn culling_changes_no_bit() {
        let mut state = 7u32;
        let mut random = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / (1 << 24) as f32
        };
        let segments: Vec<Segment> = (0..65)
            .map(|_| {
                let a = Vec3::new(random(), random(), random()) * 2.0;
                segment(a, a + Vec3::new(random(), random(), random()) * 0.2)
            })
            .collect();
        let points: Vec<Vec3> =
            (0..3000).map(|k| Vec3::new(k as f32 / 1500.0, random() * 0.1, random() * 0.1)).collect();
        let culled = distances(&points, &segments, &Cx::detached()).unwrap();
        let prepared: Vec<Prepared> = segments.iter().map(Prepared::of).collect();
        for (&p, &d) in points.iter().zip(culled.iter()) {
            let all = prepared.iter().map(|s| s.distance_squared(p)).fold(f32::INFINITY, f32::min).sqrt();
            assert!((all - d).abs() <= 1e-6 * all.max(1e-3), "{all} {d}");
        }
    }
}
