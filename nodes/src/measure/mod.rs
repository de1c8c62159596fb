//! What can be measured of a rig, before and after.
