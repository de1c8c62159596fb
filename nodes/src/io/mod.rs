//! Files and generated samples become characters.

pub mod gltf;
pub mod import_gltf;
mod sample;
pub mod sample_character;
