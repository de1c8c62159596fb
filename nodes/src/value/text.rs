//! `value.text`.

use sinew_graph::basic::Text;
use sinew_graph::node;

/// A text, for driving several parameters at once.
#[node(id = "value.text", revision = 1)]
pub fn text(
    /// The text.
    #[param(default = String::new())]
    value: String,
) -> Text {
    Text(value.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_gives_what_was_set() {
        assert_eq!(text("Tail".into()), Text("Tail".into()));
    }
}
