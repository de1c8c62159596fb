//! Linear blend skinning.

use glam::{Affine3A, Vec3, Vec3A};
use rayon::prelude::*;
use sinew_graph::{NodeError, Result};

use super::JointMatrices;
use crate::data::{Mesh, Skin};

/// Vertices per piece of work: what is read of them fits into the nearest caches.
const CHUNK: usize = 2048;

/// Moves a mesh as its skin says: `out` becomes one position per vertex in the file's world. A vertex without any
/// weight stays where the bind pose has it. An error tells of a skin that does not fit the mesh or the joints.
pub fn skin_positions(mesh: &Mesh, skin: &Skin, matrices: &JointMatrices, out: &mut Vec<Vec3>) -> Result<()> {
    let (positions, width) = (&mesh.positions, skin.width);
    check_size(positions.len(), skin)?;
    out.resize(positions.len(), Vec3::ZERO);
    if width == 0 {
        for (out, &p) in out.iter_mut().zip(positions.iter()) {
            *out = matrices.unweighted.transform_point3a(p.into()).into();
        }
        return Ok(());
    }
    // Every vertex is on its own, so chunks change nothing about the bits.
    let influences = skin.joints.par_chunks(CHUNK * width).zip(skin.weights.par_chunks(CHUNK * width));
    let chunks = out.par_chunks_mut(CHUNK).zip(positions.par_chunks(CHUNK)).zip(influences);
    chunks.try_for_each(|((out, positions), (joints, weights))| {
        check_joints(joints, matrices.joints.len())?;
        match width {
            1 => blend::<1>(positions, joints, weights, matrices, out),
            2 => blend::<2>(positions, joints, weights, matrices, out),
            3 => blend::<3>(positions, joints, weights, matrices, out),
            4 => blend::<4>(positions, joints, weights, matrices, out),
            _ => {
                let influences = joints.chunks_exact(width).zip(weights.chunks_exact(width));
                for ((out, &p), (joints, weights)) in out.iter_mut().zip(positions).zip(influences) {
                    *out = one(p, joints, weights, matrices).into();
                }
            }
        }
        Ok(())
    })
}

/// An error that tells of a skin that does not fit so many vertices and joints.
pub(crate) fn check_skin(vertices: usize, skin: &Skin, joints: usize) -> Result<()> {
    check_size(vertices, skin)?;
    check_joints(&skin.joints, joints)
}

fn check_size(vertices: usize, skin: &Skin) -> Result<()> {
    let (joints, width) = (skin.joints.len(), skin.width);
    if joints == vertices * width && skin.weights.len() == vertices * width {
        return Ok(());
    }
    Err(NodeError::new(format!(
        "the skin has {joints} influences of {width} per vertex but the mesh has {vertices} vertices"
    ))
    .help("take mesh and skin from the same character"))
}

fn check_joints(named: &[u16], joints: usize) -> Result<()> {
    match named.iter().copied().reduce(u16::max) {
        Some(largest) if usize::from(largest) >= joints => {
            Err(NodeError::new(format!("the skin names joint {largest} of {joints}"))
                .help("take skin and skeleton from the same character"))
        }
        _ => Ok(()),
    }
}

/// A width known at compile time lets the loop over influences be unrolled.
fn blend<const N: usize>(
    positions: &[Vec3],
    joints: &[u16],
    weights: &[f32],
    matrices: &JointMatrices,
    out: &mut [Vec3],
) {
    let influences = joints.as_chunks::<N>().0.iter().zip(weights.as_chunks::<N>().0);
    for ((out, &p), (joints, weights)) in out.iter_mut().zip(positions).zip(influences) {
        *out = one(p, joints, weights, matrices).into();
    }
}

/// The blended matrix times the position. Most vertices follow one or two joints, and mostly as many as their neighbours;
/// of the others all influences are added, unused ones with weight 0.
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
    let mut add = |k: usize| {
        for (column, add) in columns.iter_mut().zip(scaled(k)) {
            *column += add;
        }
    };
    if weights.len() > 1 && weights[1..].iter().any(|&weight| weight != 0.0) {
        add(1);
        if weights.len() > 2 && weights[2..].iter().any(|&weight| weight != 0.0) {
            (2..joints.len()).for_each(add);
        }
    }
    let [x, y, z, t] = columns;
    x * p.x + y * p.y + z * p.z + t
}
