//! Geometry of the skin.

pub mod edges;
pub mod weld;
