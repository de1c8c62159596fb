//! Promises of the evaluator.

mod kit;
mod promises;
mod random;
mod storage;
mod structure;
mod threads;
