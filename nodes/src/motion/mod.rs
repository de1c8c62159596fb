//! Moving chains: the spring solver, and the nodes around it.

pub mod bake;
mod driver;
pub mod playback;
pub mod rest_arc;
pub mod scene;
pub mod settings;
pub mod solver;
pub mod spring;
#[cfg(test)]
mod test_support;
