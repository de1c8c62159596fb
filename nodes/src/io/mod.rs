//! Files and generated samples become characters.

mod sample;
pub mod sample_character;
