//! `value.toggle`.

use sinew_graph::basic::Toggle;
use sinew_graph::node;

/// A switch that is on or off, for driving several parameters at once.
#[node(id = "value.toggle", revision = 1)]
pub fn toggle(
    /// On or off.
    #[param(default = false)]
    value: bool,
) -> Toggle {
    Toggle(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_gives_what_was_set() {
        assert_eq!(toggle(true), Toggle(true));
    }
}
