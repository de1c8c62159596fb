//! A skin in which some vertices get new influences and all others keep theirs to the bit.

use std::ops::Range;
use std::sync::Arc;

use sinew_graph::{Cx, NodeError, Result};

use super::chain::patch::STRIDE;
use crate::data::{Body, Skin};

/// Most influences that a node of this module gives a vertex.
pub const WIDTH: usize = 2;

/// The influences of a vertex, the larger first; joint 0 and weight 0 for none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Influences {
    /// Joint numbers.
    pub joints: [u16; WIDTH],
    /// Weights.
    pub weights: [f32; WIDTH],
}

/// The skin to start from: the one given, if it fits, else the body's.
pub fn base<'a>(skin: Option<&'a Skin>, body: &'a Body) -> Result<&'a Skin> {
    let Some(skin) = skin else { return Ok(&body.skin) };
    let vertices = body.mesh.positions.len();
    if skin.len() == vertices {
        return Ok(skin);
    }
    Err(NodeError::new(format!("has weights for {} vertices, the character has {vertices}", skin.len()))
        .at("skin")
        .help("connect weights of the same character, or nothing to start from those as rigged"))
}

/// Vertices of which is asked at once whether any of them changes.
const BLOCK: usize = 64;

/// A copy of a skin, at least `room` wide, in which each vertex has the influences that `of` gives for its welded vertex;
/// where it gives none, those it had. All stored copies of a vertex so get the same. Of welded vertices outside of `range`
/// it is not asked: stretches of them are copied and no more.
pub fn replace(
    skin: &Skin,
    room: usize,
    welded: &[u32],
    range: Range<u32>,
    cx: &Cx,
    of: impl Fn(u32) -> Option<Influences>,
) -> Result<Skin> {
    let Skin { width, mut joints, mut weights } = copy(skin, room);
    let length = range.end.saturating_sub(range.start);
    let asked = |vertex: u32| vertex.wrapping_sub(range.start) < length;
    // Nobody else holds these copies, so nothing is copied again.
    let rows = Arc::make_mut(&mut joints).chunks_mut(BLOCK * width);
    let rows = rows.zip(Arc::make_mut(&mut weights).chunks_mut(BLOCK * width));
    for (k, (welded, (joints, weights))) in welded.chunks(BLOCK).zip(rows).enumerate() {
        if k.is_multiple_of(STRIDE / BLOCK) {
            cx.check()?;
        }
        if !welded.iter().fold(false, |any, &vertex| any | asked(vertex)) {
            continue;
        }
        let of = |vertex| if asked(vertex) { of(vertex) } else { None };
        // Rows of a width known beforehand are written in whole.
        match width {
            4 => write::<4>(welded, joints, weights, of),
            8 => write::<8>(welded, joints, weights, of),
            _ => write_any(width, welded, joints, weights, of),
        }
    }
    Ok(Skin { width, joints, weights })
}

fn write<const W: usize>(
    welded: &[u32],
    joints: &mut [u16],
    weights: &mut [f32],
    of: impl Fn(u32) -> Option<Influences>,
) {
    let rows = joints.as_chunks_mut::<W>().0.iter_mut().zip(weights.as_chunks_mut::<W>().0);
    for (&vertex, (joints, weights)) in welded.iter().zip(rows) {
        if let Some(found) = of(vertex) {
            let ([own, other], [most, rest]) = (found.joints, found.weights);
            *joints = std::array::from_fn(|k| if k == 0 { own } else { u16::from(k == 1) * other });
            *weights = std::array::from_fn(|k| match k {
                0 => most,
                1 => rest,
                _ => 0.0,
            });
        }
    }
}

fn write_any(
    width: usize,
    welded: &[u32],
    joints: &mut [u16],
    weights: &mut [f32],
    of: impl Fn(u32) -> Option<Influences>,
) {
    let both = WIDTH.min(width);
    let rows = joints.chunks_exact_mut(width).zip(weights.chunks_exact_mut(width));
    for (&vertex, (joints, weights)) in welded.iter().zip(rows) {
        if let Some(found) = of(vertex) {
            joints.fill(0);
            weights.fill(0.0);
            joints[..both].copy_from_slice(&found.joints[..both]);
            weights[..both].copy_from_slice(&found.weights[..both]);
        }
    }
}

/// A copy that shares nothing, with at least `room` influences per vertex.
fn copy(skin: &Skin, room: usize) -> Skin {
    fn widen<T: Copy + Default>(values: &[T], from: usize, to: usize) -> Arc<[T]> {
        let rows = values.chunks_exact(from.max(1));
        rows.flat_map(|row| row.iter().copied().chain(std::iter::repeat_n(T::default(), to - from))).collect()
    }
    if skin.width >= room {
        return Skin { width: skin.width, joints: Arc::from(&*skin.joints), weights: Arc::from(&*skin.weights) };
    }
    Skin { width: room, joints: widen(&skin.joints, skin.width, room), weights: widen(&skin.weights, skin.width, room) }
}
