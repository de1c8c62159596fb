//! What the tests and benches of the whole program share: a stopwatch that tells ratios, and large characters.

pub mod large;
pub mod stopwatch;
