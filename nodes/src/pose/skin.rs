//! Linear blend skinning.

use glam::{Affine3A, Vec3, Vec3A};
use rayon::prelude::*;
use sinew_graph::{NodeError, Result};

use super::JointMatrices;
use crate::data::{Mesh, Skin};

/// Vertices per piece of work: large enough to be worth a thread, small enough to stay in its cache.
pub(super) const CHUNK: usize = 8192;

/// Moves a mesh as its skin says: `out` becomes one position per vertex in the file's world. A vertex without any
/// weight stays where the bind pose has it. An error tells of a skin that does not fit the mesh or the joints.
pub fn skin_positions(mesh: &Mesh, skin: &Skin, matrices: &JointMatrices, out: &mut Vec<Vec3>) -> Result<()> {
    out.resize(mesh.positions.len(), Vec3::ZERO);
    skin_slice(&mesh.positions, skin, matrices, out, Vec3::from)
}

/// Like [`skin_positions`], over slices of equal length and into any form of position, which `make` gives.
pub fn skin_slice<T: Send>(
    positions: &[Vec3],
    skin: &Skin,
    matrices: &JointMatrices,
    out: &mut [T],
    make: impl Fn(Vec3A) -> T + Copy + Sync,
) -> Result<()> {
    let (count, width) = (positions.len(), skin.width);
    check(count, skin, matrices.joints.len(), out.len())?;
    if width == 0 {
        for (out, &p) in out.iter_mut().zip(positions) {
            *out = make(matrices.unweighted.transform_point3a(p.into()));
        }
        return Ok(());
    }
    let chunk = |out: &mut [T], positions: &[Vec3], joints: &[u16], weights: &[f32]| match width {
        1 => blend::<1, T>(positions, joints, weights, matrices, out, make),
        2 => blend::<2, T>(positions, joints, weights, matrices, out, make),
        3 => blend::<3, T>(positions, joints, weights, matrices, out, make),
        4 => blend::<4, T>(positions, joints, weights, matrices, out, make),
        8 => blend::<8, T>(positions, joints, weights, matrices, out, make),
        _ => {
            let influences = joints.chunks_exact(width).zip(weights.chunks_exact(width));
            for ((out, &p), (joints, weights)) in out.iter_mut().zip(positions).zip(influences) {
                *out = make(one(p, joints, weights, matrices));
            }
        }
    };
    // Every vertex is on its own, so chunks change nothing about the bits.
    if count <= CHUNK {
        chunk(out, positions, &skin.joints, &skin.weights);
    } else {
        let influences = skin.joints.par_chunks(CHUNK * width).zip(skin.weights.par_chunks(CHUNK * width));
        let chunks = out.par_chunks_mut(CHUNK).zip(positions.par_chunks(CHUNK)).zip(influences);
        chunks.for_each(|((out, positions), (joints, weights))| chunk(out, positions, joints, weights));
    }
    Ok(())
}

/// An error that tells of a skin that does not fit so many vertices and joints.
pub(super) fn check(vertices: usize, skin: &Skin, joints: usize, out: usize) -> Result<()> {
    let (count, width) = (vertices, skin.width);
    if skin.joints.len() != count * width || skin.weights.len() != count * width || out != count {
        return Err(NodeError::new(format!(
            "the skin has {} influences of {width} per vertex but the mesh has {count} vertices",
            skin.joints.len()
        ))
        .help("take mesh and skin from the same character"));
    }
    let largest = skin.joints.iter().fold(0, |largest, &joint| largest.max(joint));
    if count * width > 0 && usize::from(largest) >= joints {
        return Err(NodeError::new(format!("the skin names joint {largest} of {joints}"))
            .help("take skin and skeleton from the same character"));
    }
    Ok(())
}

/// A width known at compile time lets the loop over influences be unrolled.
fn blend<const N: usize, T>(
    positions: &[Vec3],
    joints: &[u16],
    weights: &[f32],
    matrices: &JointMatrices,
    out: &mut [T],
    make: impl Fn(Vec3A) -> T,
) {
    let influences = joints.as_chunks::<N>().0.iter().zip(weights.as_chunks::<N>().0);
    for ((out, &p), (joints, weights)) in out.iter_mut().zip(positions).zip(influences) {
        *out = make(one(p, joints, weights, matrices));
    }
}

/// The blended matrix times the position. All influences are added, unused ones with weight 0: a branch per influence
/// costs more than it saves.
#[inline(always)]
fn one(p: Vec3, joints: &[u16], weights: &[f32], matrices: &JointMatrices) -> Vec3A {
    if weights[0] == 0.0 {
        return matrices.unweighted.transform_point3a(p.into());
    }
    let scaled = |k: usize| {
        let m: &Affine3A = &matrices.joints[usize::from(joints[k])];
        [m.matrix3.x_axis, m.matrix3.y_axis, m.matrix3.z_axis, m.translation].map(|column| column * weights[k])
    };
    let mut columns = scaled(0);
    for k in 1..joints.len() {
        for (column, add) in columns.iter_mut().zip(scaled(k)) {
            *column += add;
        }
    }
    let [x, y, z, t] = columns;
    x * p.x + y * p.y + z * p.z + t
}
