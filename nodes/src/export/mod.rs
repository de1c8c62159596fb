//! Values become files.

pub mod gltf;
pub mod picture;
pub mod report;
