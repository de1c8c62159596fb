//! Characters made without a file.

use sinew_graph::{Choice, Cx, NodeError, Result, node};

use super::gltf;
use super::sample::{self, Detail};
use crate::data::Character;

/// Which character.
#[derive(Choice, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sample {
    /// A fox whose tail, two shells, hangs on its left shin and its thighs.
    #[default]
    Fox,
    /// A rat with a long thin tail curled to one side, without tail bones; saved with a hand turned by 28 degrees.
    Rat,
    /// The rat with a chain of tail bones, the last of them saved turned by 28 degrees.
    RatRigged,
    /// A human figure without a tail.
    Biped,
}

/// Makes a character without a file: skin, a skeleton of 22 body bones, weights as an auto-rigger predicts them, and the
/// clips Walk, Sprint, Crouch, Idle and Back Flip.
///
/// No bone of the skeleton is a tail, so the tails of fox and rat hang on the legs and tear as they walk. The same
/// numbers make the same character on every machine.
#[node(id = "io.sample_character", revision = 1)]
pub fn sample_character(
    /// Which character.
    #[param(default = Sample::Fox)]
    kind: Sample,
    /// How finely it is meshed; 1 gives some twenty thousand vertices, 2 four times as many.
    #[param(default = 1.0, range = 0.4..=2.0)]
    detail: f32,
    cx: &Cx,
) -> Result<Character> {
    let bytes = sample::glb(kind, Detail(f64::from(detail)), cx)?;
    let name = match kind {
        Sample::Fox => "fox",
        Sample::Rat => "rat",
        Sample::RatRigged => "rat_rigged",
        Sample::Biped => "biped",
    };
    // One way in: what holds for imported files holds for samples.
    let no_file = |uri: &str| Err(NodeError::new(format!("the sample names a file {uri:?}, but it has none")));
    gltf::read(name, &bytes, &mut { no_file }, cx)
}

#[cfg(test)]
mod tests;
