//! Files and generated samples become characters.

pub mod gltf;
pub mod import_gltf;
