//! Small values for driving knobs, and arithmetic on them.

pub mod compare;
pub mod curve;
pub mod expression;
pub mod file;
pub mod integer;
pub mod list;
pub mod math;
pub mod number;
pub mod switch;
pub mod text;
pub mod toggle;
pub mod vector;
