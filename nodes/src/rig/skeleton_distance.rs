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

    #[inline(always)]
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
    // The widest vectors that this processor has: the same operations, so the same bits.
    let wide = pulp::Arch::new();
    positions.par_chunks(BLOCK * TASK).zip(values.par_chunks_mut(BLOCK * TASK)).try_for_each(
        |(positions, values)| {
            cx.check()?;
            let (mut around, mut near) = (Vec::new(), Vec::new());
            let mut group = Points::<{ BLOCK * GROUP }>::new();
            let mut block = Points::<BLOCK>::new();
            let size = BLOCK * GROUP;
            for (positions, values) in positions.chunks(size).zip(values.chunks_mut(size)) {
                group.fill(positions);
                let limit = group.limit(&prepared, &mut around);
                around.retain(|&(d, _)| within(d, limit));
                let segments: Vec<Prepared> = around.iter().map(|&(_, segment)| segment).collect();
                for (positions, values) in positions.chunks(BLOCK).zip(values.chunks_mut(BLOCK)) {
                    block.fill(positions);
                    wide.dispatch(Measure { block: &block, segments: &segments, near: &mut near, values });
                }
            }
            Ok(())
        },
    )?;
    Ok(values.into())
}

/// The measuring of a block, for whatever vectors there are.
struct Measure<'a> {
    block: &'a Points<BLOCK>,
    segments: &'a [Prepared],
    near: &'a mut Vec<(f32, Prepared)>,
    values: &'a mut [f32],
}

impl pulp::NullaryFnOnce for Measure<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        self.block.measure(self.segments, self.near, self.values);
    }
}

/// Positions, axis by axis.
struct Points<const N: usize> {
    axes: [[f32; N]; 3],
}

/// Numbers that are looked at side by side.
const LANES: usize = 8;

impl<const N: usize> Points<N> {
    fn new() -> Self {
        Self { axes: [[0.0; N]; 3] }
    }

    /// Takes in up to `N` positions, the first of them again for each that is missing.
    fn fill(&mut self, positions: &[Vec3]) {
        let [x, y, z] = &mut self.axes;
        for (k, p) in positions.iter().take(N).enumerate() {
            (x[k], y[k], z[k]) = (p.x, p.y, p.z);
        }
        for axis in [x, y, z] {
            let first = axis[0];
            axis[positions.len().min(N)..].fill(first);
        }
    }

    /// How far each segment is from the centre of the positions, and the distance beyond which a segment is not the nearest to
    /// any of them: that is at most two radii further away than the nearest segment. The margin takes up rounding: a segment
    /// too many costs time, one too few would cost exactness.
    #[inline(always)]
    fn limit(&self, segments: &[Prepared], near: &mut Vec<(f32, Prepared)>) -> f32 {
        let centre = Vec3::from(self.axes.each_ref().map(middle));
        let mut squares = [0.0f32; LANES];
        let rows = self.axes.each_ref().map(|axis| axis.as_chunks::<LANES>().0);
        for ((x, y), z) in rows[0].iter().zip(rows[1]).zip(rows[2]) {
            for k in 0..LANES {
                let (x, y, z) = (x[k] - centre.x, y[k] - centre.y, z[k] - centre.z);
                let square = x * x + y * y + z * z;
                squares[k] = if square > squares[k] { square } else { squares[k] };
            }
        }
        let radius = squares.into_iter().fold(0.0, f32::max).sqrt();
        near.clear();
        near.extend(segments.iter().map(|segment| (segment.distance_squared(centre).sqrt(), *segment)));
        let least = near.iter().map(|n| n.0).fold(f32::INFINITY, f32::min);
        (least + 2.0 * radius) * (1.0 + 1e-5)
    }

    /// The least distance of each position to any segment.
    #[inline(always)]
    fn measure(&self, segments: &[Prepared], near: &mut Vec<(f32, Prepared)>, values: &mut [f32]) {
        let [x, y, z] = &self.axes;
        let limit = self.limit(segments, near);
        let mut best = [f32::INFINITY; N];
        for &(_, Prepared { a, d, per_length_squared }) in near.iter().filter(|(d, _)| within(*d, limit)) {
            for k in 0..N {
                let (px, py, pz) = (x[k] - a.x, y[k] - a.y, z[k] - a.z);
                let t = ((px * d.x + py * d.y + pz * d.z) * per_length_squared).clamp(0.0, 1.0);
                let (qx, qy, qz) = (px - t * d.x, py - t * d.y, pz - t * d.z);
                let square = qx * qx + qy * qy + qz * qz;
                best[k] = if square < best[k] { square } else { best[k] };
            }
        }
        for (value, best) in values.iter_mut().zip(best) {
            *value = best.sqrt();
        }
    }
}

/// The middle between the least and the greatest; numbers that are none do not count.
#[inline(always)]
fn middle<const N: usize>(axis: &[f32; N]) -> f32 {
    let (mut lo, mut hi) = ([f32::INFINITY; LANES], [f32::NEG_INFINITY; LANES]);
    for row in axis.as_chunks::<LANES>().0 {
        for k in 0..LANES {
            lo[k] = if row[k] < lo[k] { row[k] } else { lo[k] };
            hi[k] = if row[k] > hi[k] { row[k] } else { hi[k] };
        }
    }
    (lo.into_iter().fold(f32::INFINITY, f32::min) + hi.into_iter().fold(f32::NEG_INFINITY, f32::max)) * 0.5
}

/// Whether a segment counts. A vertex without a number for a place takes no segment from the others of its block.
#[inline(always)]
fn within(d: f32, limit: f32) -> bool {
    d.partial_cmp(&limit) != Some(Ordering::Greater)
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
