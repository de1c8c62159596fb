//! What can be measured of a rig, before and after.

pub mod bone_distance;
pub mod compare;
pub mod edge_stretch;
pub mod region;
