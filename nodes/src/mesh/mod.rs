//! Geometry of the skin.

pub mod weld;
