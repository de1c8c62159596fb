//! Live2D: simulated chains become models and motions of 2D puppets, and both are evaluated as a player does.

pub mod chain_to_parameters;
pub mod deformer_bake;
pub mod evaluate;
pub mod play;
pub mod reduce_curves;
mod seen;
#[cfg(test)]
pub(crate) mod test_support;
pub mod view;
