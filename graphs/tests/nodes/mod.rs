//! Node types for tests of documents: a source, one with many inputs, one with an optional input.

use sinew_graph::Registry;

mod number {
    use sinew_graph::basic::Number;
    use sinew_graph::node;

    /// A number.
    #[node(id = "test.number", revision = 1)]
    pub fn number(
        /// Its value.
        #[param(default = 0.0, range = -100.0..=100.0)]
        value: f64,
    ) -> Number {
        Number(value)
    }
}

mod fold {
    use sinew_graph::basic::Number;
    use sinew_graph::{Choice, node};

    /// How to fold.
    #[derive(Choice, Clone, Copy, Debug, Default, PartialEq)]
    pub enum Rule {
        /// Adds.
        #[default]
        Add,
        /// Multiplies.
        Multiply,
    }

    /// Folds numbers.
    #[node(id = "test.fold", revision = 2)]
    pub fn fold(
        /// The first.
        first: &Number,
        /// The others.
        others: &[&Number],
        /// How.
        #[param(default = Rule::Add)]
        rule: Rule,
    ) -> Number {
        let others = others.iter().map(|n| n.0);
        match rule {
            Rule::Add => Number(first.0 + others.sum::<f64>()),
            Rule::Multiply => Number(first.0 * others.product::<f64>()),
        }
    }
}

mod write {
    use sinew_graph::basic::{Number, Text};
    use sinew_graph::node;

    /// Writes a number as text.
    #[node(id = "test.write", revision = 1)]
    pub fn write(
        /// The number.
        number: Option<&Number>,
        /// Before it.
        #[param(default = String::new())]
        prefix: String,
    ) -> Text {
        Text(format!("{prefix}{:?}", number.map(|n| n.0)).into())
    }
}

/// All of them.
pub fn registry() -> Registry {
    let mut registry = Registry::default();
    for node in [number::node(), fold::node(), write::node()] {
        registry.add(node).expect("the ids differ");
    }
    registry
}
