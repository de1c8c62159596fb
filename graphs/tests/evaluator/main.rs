//! Promises of the evaluator.

#![expect(clippy::unwrap_used, reason = "a test ends at the first thing that is not as it should be")]

mod kit;
mod promises;
mod random;
mod storage;
mod structure;
mod threads;
