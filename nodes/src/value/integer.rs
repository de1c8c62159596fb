//! `value.integer`.

use sinew_graph::basic::Integer;
use sinew_graph::node;

/// A whole number, for driving several parameters at once.
#[node(id = "value.integer", revision = 1)]
pub fn integer(
    /// The whole number.
    #[param(default = 0)]
    value: i64,
) -> Integer {
    Integer(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_gives_what_was_set() {
        assert_eq!(integer(i64::MAX), Integer(i64::MAX));
    }
}
