//! Values become files.

pub mod gltf;
pub mod motion3;
pub mod picture;
pub mod report;
