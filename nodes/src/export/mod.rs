//! Values become files.

pub mod picture;
pub mod report;
