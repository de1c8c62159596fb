//! `value.number`.

use sinew_graph::basic::Number;
use sinew_graph::node;

/// A number, for driving several parameters at once.
#[node(id = "value.number", revision = 1)]
pub fn number(
    /// The number.
    #[param(default = 0.0)]
    value: f64,
) -> Number {
    Number(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_gives_what_was_set() {
        assert_eq!(number(-0.25), Number(-0.25));
    }
}
