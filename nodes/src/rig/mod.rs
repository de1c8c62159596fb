//! Finding appendages and giving them bones.

pub mod anatomy;
pub mod collar;
pub mod eigen;
pub mod flood_regions;
pub mod measures;
pub mod merge_regions;
pub mod pca_classify;
pub mod pick_regions;
pub mod skeleton_distance;
pub mod sweep;
