//! Moving chains: the spring solver, and the nodes around it.

pub mod bake;
pub mod colliders;
mod driver;
pub mod playback;
pub mod reduce_keys;
pub mod rest_arc;
pub mod scene;
pub mod select_clips;
pub mod settings;
pub mod solver;
pub mod spring;
#[cfg(test)]
mod test_support;
