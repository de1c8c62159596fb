//! Geometry of the skin.
