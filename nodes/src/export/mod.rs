//! Values become files.

pub mod picture;
