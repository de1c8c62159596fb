//! Finding appendages and giving them bones.

pub mod anatomy;
pub mod apply;
pub mod chain;
pub mod chain_weights;
pub mod collar;
pub mod dijkstra_chain;
pub mod eigen;
pub mod flood_regions;
mod influence;
pub mod limit_influences;
pub mod measures;
pub mod merge_regions;
pub mod pca_classify;
pub mod pick_regions;
pub mod rigid_attach;
pub mod skeleton_distance;
mod surface;
pub mod sweep;
#[cfg(test)]
pub(crate) mod test_support;
