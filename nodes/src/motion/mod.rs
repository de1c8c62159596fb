//! Moving chains: the spring solver, and the nodes around it.

pub mod solver;
