//! Files and generated samples become characters.

pub(crate) mod sample;
pub mod sample_character;
