//! Linear blend skinning at four times at once, for measures that go through a clip.
//!
//! The four times of one number lie side by side in a register. Weights and positions are read once instead of four times,
//! no lane is left empty, and what is measured afterwards finds the four times side by side, too.

use glam::{Affine3A, Vec3, Vec4};
use rayon::prelude::*;
use sinew_graph::{Cx, Result};

use super::JointMatrices;
use super::skin::{CHUNK, check};
use crate::data::Skin;

/// How many times.
pub const FOUR: usize = 4;

/// A position at four times: x, y and z of all.
pub type Place4 = [Vec4; 3];

/// A matrix at four times: three rows of four numbers.
type Matrix4 = [[Vec4; 4]; 3];

/// Moves positions as a skin says at four times. A vertex without any weight stays where the bind pose has it. An error
/// tells of a skin that does not fit the mesh or the joints.
pub fn skin_four(
    positions: &[Vec3],
    skin: &Skin,
    times: &[JointMatrices; FOUR],
    out: &mut [Place4],
    cx: &Cx,
) -> Result<()> {
    let joints = times.iter().map(|time| time.joints.len()).min().unwrap_or(0);
    check(positions.len(), skin, joints, out.len())?;
    let matrices: Vec<Matrix4> =
        (0..joints).map(|joint| side_by_side(times.each_ref().map(|time| &time.joints[joint]))).collect();
    let unweighted = side_by_side(times.each_ref().map(|time| &time.unweighted));
    if skin.width == 0 {
        out.iter_mut().zip(positions).for_each(|(out, &p)| *out = moved(&unweighted, p));
        return Ok(());
    }
    // Every vertex is on its own, so chunks change nothing about the bits.
    let influences = skin.joints.par_chunks(CHUNK * skin.width).zip(skin.weights.par_chunks(CHUNK * skin.width));
    let chunks = out.par_chunks_mut(CHUNK).zip(positions.par_chunks(CHUNK)).zip(influences);
    chunks.try_for_each(|((out, positions), (joints, weights))| {
        cx.check()?;
        let rows = joints.chunks_exact(skin.width).zip(weights.chunks_exact(skin.width));
        for ((out, &p), (joints, weights)) in out.iter_mut().zip(positions).zip(rows) {
            *out = if weights[0] == 0.0 { moved(&unweighted, p) } else { blended(p, joints, weights, &matrices) };
        }
        Ok(())
    })
}

fn side_by_side(times: [&Affine3A; FOUR]) -> Matrix4 {
    let columns = times.map(|m| [m.matrix3.x_axis, m.matrix3.y_axis, m.matrix3.z_axis, m.translation]);
    std::array::from_fn(|row| std::array::from_fn(|k| Vec4::from_array(columns.map(|columns| columns[k][row]))))
}

#[inline(always)]
fn moved(matrix: &Matrix4, p: Vec3) -> Place4 {
    let (x, y, z) = (Vec4::splat(p.x), Vec4::splat(p.y), Vec4::splat(p.z));
    matrix.map(|[a, b, c, t]| a * x + b * y + c * z + t)
}

/// Where each influence moves the position, added by weight. Most vertices have fewer influences than there is room for.
#[inline(always)]
fn blended(p: Vec3, joints: &[u16], weights: &[f32], matrices: &[Matrix4]) -> Place4 {
    let mut sum = [Vec4::ZERO; 3];
    for (&joint, &weight) in joints.iter().zip(weights) {
        if weight != 0.0 {
            let weight = Vec4::splat(weight);
            for (sum, moved) in sum.iter_mut().zip(moved(&matrices[usize::from(joint)], p)) {
                *sum += moved * weight;
            }
        }
    }
    sum
}
