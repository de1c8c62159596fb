//! A copy of a skin with room for what a node writes into it.

use std::sync::Arc;

use sinew_graph::{NodeError, Result};

use crate::data::{Body, Skin};

/// Weights being rewritten. All vertices start with the bits they had.
pub struct Rewrite {
    width: usize,
    joints: Arc<[u16]>,
    weights: Arc<[f32]>,
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

impl Rewrite {
    /// A copy with at least `room` influences per vertex.
    pub fn of(skin: &Skin, room: usize) -> Self {
        if skin.width >= room {
            let (joints, weights) = (Arc::from(&*skin.joints), Arc::from(&*skin.weights));
            return Self { width: skin.width, joints, weights };
        }
        fn widen<T: Copy + Default>(values: &[T], from: usize, to: usize) -> Arc<[T]> {
            let rows = values.chunks_exact(from.max(1));
            rows.flat_map(|row| row.iter().copied().chain(std::iter::repeat_n(T::default(), to - from))).collect()
        }
        Self {
            width: room,
            joints: widen(&skin.joints, skin.width, room),
            weights: widen(&skin.weights, skin.width, room),
        }
    }

    /// Joints and weights, with the width of their rows. This copy is nobody else's.
    pub fn parts(&mut self) -> (usize, &mut [u16], &mut [f32]) {
        (self.width, Arc::make_mut(&mut self.joints), Arc::make_mut(&mut self.weights))
    }

    /// The skin as it is now.
    pub fn finish(self) -> Skin {
        Skin { width: self.width, joints: self.joints, weights: self.weights }
    }
}
