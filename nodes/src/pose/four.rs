//! Linear blend skinning at many times at once, for measures that go through a clip.
//!
//! Four times of one number lie side by side in a register, and the matrices of a joint at all times one behind the other.
//! Weights and positions are read once for all times, no lane is left empty, and what is measured afterwards finds four
//! times side by side, too.

use std::array::from_fn;
use std::ops::Range;

use glam::{Affine3A, Vec3, Vec4};

use super::JointMatrices;

/// How many times lie side by side: a quad.
pub const FOUR: usize = 4;

/// A position at four times: x, y and z of all.
pub type Place4 = [Vec4; 3];

/// A matrix at four times: three rows of four numbers.
type Matrix4 = [[Vec4; 4]; 3];

/// What moves the skin at many times.
#[derive(Clone, Debug, PartialEq)]
pub struct QuadMatrices {
    /// How many quads of times there are.
    quads: usize,
    /// Joint by joint, its matrices at all quads.
    joints: Vec<Matrix4>,
    /// Bind space to world, for vertices without any weight.
    unweighted: Matrix4,
}

impl QuadMatrices {
    /// The matrices of one rig at these times. Lanes beyond the last time repeat it.
    pub fn new(times: &[JointMatrices]) -> Self {
        let joints = times.iter().map(|time| time.joints.len()).min().unwrap_or(0);
        let quads = times.len().div_ceil(FOUR);
        let time = |quad: usize, lane: usize| &times[(quad * FOUR + lane).min(times.len() - 1)];
        let places = (0..joints).flat_map(|joint| (0..quads).map(move |quad| (joint, quad)));
        let unweighted = times.first().map_or(Affine3A::IDENTITY, |time| time.unweighted);
        Self {
            quads,
            joints: places.map(|(joint, quad)| side_by_side(from_fn(|lane| &time(quad, lane).joints[joint]))).collect(),
            unweighted: side_by_side([&unweighted; FOUR]),
        }
    }

    /// How many quads of times there are.
    pub fn quads(&self) -> usize {
        self.quads
    }

    /// How many joints there are.
    pub fn joints(&self) -> usize {
        self.joints.len() / self.quads.max(1)
    }

    /// Whether both move a joint to the same places.
    pub fn moves_alike(&self, other: &Self, joint: usize) -> bool {
        let both = joint < self.joints() && joint < other.joints();
        both && self.quads == other.quads && self.joint(joint, 0..self.quads) == other.joint(joint, 0..self.quads)
    }

    /// Whether both leave vertices without any weight at the same places.
    pub fn rests_alike(&self, other: &Self) -> bool {
        self.unweighted == other.unweighted
    }

    fn joint(&self, joint: usize, quads: Range<usize>) -> &[Matrix4] {
        let start = joint * self.quads;
        &self.joints[start + quads.start..start + quads.end]
    }

    /// Moves a vertex as its influences say, at the times of some quads: `put` gets the number of each within them, and
    /// the position. A vertex without any weight stays where the bind pose has it.
    #[inline(always)]
    pub fn place(
        &self,
        p: Vec3,
        joints: &[u16],
        weights: &[f32],
        quads: Range<usize>,
        mut put: impl FnMut(usize, Place4),
    ) {
        // Most vertices have fewer influences than there is room for, and mostly as many as their neighbours.
        let used = match weights.first() {
            Some(&first) if first != 0.0 => {
                weights.iter().rposition(|&weight| weight != 0.0).map_or(0, |last| last + 1)
            }
            _ => 0,
        };
        match used {
            0 => (0..quads.len()).for_each(|quad| put(quad, moved(&self.unweighted, p))),
            1 => self.blended::<1>(p, joints, weights, quads, put),
            2 => self.blended::<2>(p, joints, weights, quads, put),
            3 => self.blended::<3>(p, joints, weights, quads, put),
            4 => self.blended::<4>(p, joints, weights, quads, put),
            _ => {
                let matrices = |k: usize| self.joint(joints[k].into(), quads.clone());
                for quad in 0..quads.len() {
                    let first = moved(&matrices(0)[quad], p).map(|x| x * weights[0]);
                    put(quad, (1..used).fold(first, |sum, k| add(sum, moved(&matrices(k)[quad], p), weights[k])));
                }
            }
        }
    }

    /// Where the first `N` influences move the position, added by weight.
    #[inline(always)]
    fn blended<const N: usize>(
        &self,
        p: Vec3,
        joints: &[u16],
        weights: &[f32],
        quads: Range<usize>,
        mut put: impl FnMut(usize, Place4),
    ) {
        let matrices: [&[Matrix4]; N] = from_fn(|k| self.joint(joints[k].into(), quads.clone()));
        for (quad, first) in matrices[0].iter().enumerate() {
            let first = moved(first, p).map(|x| x * weights[0]);
            put(quad, (1..N).fold(first, |sum, k| add(sum, moved(&matrices[k][quad], p), weights[k])));
        }
    }
}

#[inline(always)]
fn add(sum: Place4, place: Place4, weight: f32) -> Place4 {
    from_fn(|row| sum[row] + place[row] * weight)
}

fn side_by_side(times: [&Affine3A; FOUR]) -> Matrix4 {
    let columns = times.map(|m| [m.matrix3.x_axis, m.matrix3.y_axis, m.matrix3.z_axis, m.translation]);
    from_fn(|row| from_fn(|k| Vec4::from_array(columns.map(|columns| columns[k][row]))))
}

#[inline(always)]
fn moved(matrix: &Matrix4, p: Vec3) -> Place4 {
    let (x, y, z) = (Vec4::splat(p.x), Vec4::splat(p.y), Vec4::splat(p.z));
    matrix.map(|[a, b, c, t]| a * x + b * y + c * z + t)
}
