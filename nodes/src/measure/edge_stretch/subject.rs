//! A character as it is measured: its weights, and where a clip moves its joints.

use sinew_graph::{NodeError, Result};

use super::choose_clip;
use super::tiles::{Tile, not_finite};
use crate::data::{Character, Clip, Skin};
use crate::pose::{QuadMatrices, Rig};

/// A character and the times at which it is measured.
pub(in crate::measure) struct Subject<'a> {
    pub clip: &'a Clip,
    pub samples: usize,
    pub(super) skin: &'a Skin,
    pub(super) matrices: QuadMatrices,
}

impl<'a> Subject<'a> {
    /// A character at evenly spaced times of a clip, the last one step before its end. Everything that cannot be measured
    /// is refused here.
    pub fn new(character: &'a Character, clip: &str, samples: u32) -> Result<Self> {
        let (mesh, skin) = (&character.mesh, &character.skin);
        let clip = choose_clip(&character.clips, clip)?;
        let rig = Rig::new(&character.skeleton).map_err(|error| error.at("character"))?;
        crate::pose::check_skin(mesh.positions.len(), skin, rig.joints()).map_err(|error| error.at("character"))?;
        // In stretches, so that many weights are looked at with one instruction.
        if !skin.weights.chunks(256).all(|weights| weights.iter().fold(true, |all, weight| all & weight.is_finite())) {
            return Err(not_finite());
        }
        let matrices = |sample: u32| {
            let time = f64::from(clip.duration) * (f64::from(sample) / f64::from(samples));
            let pose = rig.sample(clip, time as f32).map_err(|error| error.at("clip"))?;
            let matrices = rig.matrices(&pose);
            match matrices.joints.iter().position(|matrix| !matrix.is_finite()) {
                None => Ok(matrices),
                Some(joint) => Err(NodeError::new(format!(
                    "clip {:?} at {time:.3} s moves joint {joint} ({:?}) to no finite place",
                    clip.name, character.skeleton.joints[joint].name
                ))
                .at("character")),
            }
        };
        let times = (0..samples).map(matrices).collect::<Result<Vec<_>>>()?;
        Ok(Self { clip, samples: times.len(), skin, matrices: QuadMatrices::new(&times) })
    }
}

/// Tells which parts of the skin two characters of one mesh move alike.
pub(super) struct Alike<'a> {
    before: &'a Subject<'a>,
    after: &'a Subject<'a>,
    /// Per joint whether both move it to the same places.
    joints: Vec<bool>,
    resting: bool,
}

impl<'a> Alike<'a> {
    pub fn new(before: &'a Subject<'a>, after: &'a Subject<'a>) -> Self {
        let joints = before.matrices.joints().min(after.matrices.joints());
        Self {
            before,
            after,
            joints: (0..joints).map(|joint| before.matrices.moves_alike(&after.matrices, joint)).collect(),
            resting: before.matrices.rests_alike(&after.matrices),
        }
    }

    /// Whether both move each vertex of a tile to the same places, to the bit.
    pub fn tile(&self, tile: Tile) -> bool {
        self.resting && tile.vertices.iter().all(|&vertex| self.vertex(vertex as usize))
    }

    fn vertex(&self, vertex: usize) -> bool {
        let row = |skin: &Skin| vertex * skin.width..(vertex + 1) * skin.width;
        let (a, b) = (row(self.before.skin), row(self.after.skin));
        let (joints, weights) = (&self.before.skin.joints[a.clone()], &self.before.skin.weights[a]);
        let (other_joints, other_weights) = (&self.after.skin.joints[b.clone()], &self.after.skin.weights[b]);
        // Room that only one of them has must be empty. A joint without weight moves nothing.
        let shared = joints.len().min(other_joints.len());
        weights[shared..].iter().chain(&other_weights[shared..]).all(|&weight| weight == 0.0)
            && (0..shared).all(|k| {
                let same = joints[k] == other_joints[k] && self.joints.get(usize::from(joints[k])) == Some(&true);
                weights[k].to_bits() == other_weights[k].to_bits() && (same || weights[k] == 0.0)
            })
    }
}
