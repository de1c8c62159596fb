//! Values become files.

pub mod gltf;
