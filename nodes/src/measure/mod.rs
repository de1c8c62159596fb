//! What can be measured of a rig, before and after.

pub mod bone_distance;
pub mod compare;
pub mod edge_stretch;
pub mod loop_gap;
pub mod region;
pub mod tip_travel;
