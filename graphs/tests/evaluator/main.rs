//! Promises of the evaluator.

mod kit;
mod promises;
