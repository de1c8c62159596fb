//! Geometry of the skin.

pub mod edges;
pub mod info;
pub mod weld;
