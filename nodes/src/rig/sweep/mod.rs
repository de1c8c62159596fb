//! Regions from a sweep of the threshold on the skeleton distance (`tail-3d.md` A2).
//!
//! One fixed threshold fuses trunk and tail on animals, whose ribs and belly are far too. So all thresholds are looked at: the
//! components above a falling threshold form a merge tree, each branch is taken where its neck is narrowest for its size,
//! and then followed along the skin to where it widens into the body.

pub mod basins;
pub mod excerpt;
pub mod graph;
pub mod merge_tree;
pub mod profile;
pub mod root;
pub mod select;
pub mod shells;

pub use merge_tree::MergeTree;
