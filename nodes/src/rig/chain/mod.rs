//! The geometry behind bone chains: a region as a graph of its own, distance along it, joints through it.
//!
//! Everything is relative to lengths of the mesh itself: a character in other units gives the same chain.

pub(super) mod bridge;
pub(super) mod centreline;
pub mod geodesic;
mod heap;
mod nearest;
pub mod patch;
