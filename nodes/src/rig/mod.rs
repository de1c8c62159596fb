//! Finding appendages and giving them bones.

pub mod apply;
mod chain;
pub mod chain_weights;
pub mod dijkstra_chain;
mod influence;
pub mod limit_influences;
pub mod rigid_attach;
#[cfg(test)]
mod test_support;
