//! Geometry of the skin.

pub mod edges;
