//! Values become files.

pub mod report;
