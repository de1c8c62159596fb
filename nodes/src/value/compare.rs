//! `value.compare`.

use sinew_graph::basic::Toggle;
use sinew_graph::{Choice, node};

/// How to compare.
#[derive(Choice, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Relation {
    /// a is less than b.
    #[default]
    Less,
    /// a is less than b, or equal.
    LessOrEqual,
    /// a is greater than b.
    Greater,
    /// a is greater than b, or equal.
    GreaterOrEqual,
    /// a equals b.
    Equal,
    /// a does not equal b.
    NotEqual,
}

/// Compares two numbers; on if the relation holds.
#[node(id = "value.compare", revision = 1)]
pub fn compare(
    /// How to compare.
    #[param(default = Relation::Less)]
    relation: Relation,
    /// The first number.
    #[param(default = 0.0)]
    a: f64,
    /// The second number.
    #[param(default = 0.0)]
    b: f64,
    /// How far two numbers may be apart and still be equal.
    #[param(default = 1e-9, range = 0.0..=1e9)]
    tolerance: f64,
) -> Toggle {
    let equal = a == b || (a - b).abs() <= tolerance;
    Toggle(match relation {
        Relation::Less => a < b && !equal,
        Relation::LessOrEqual => a < b || equal,
        Relation::Greater => a > b && !equal,
        Relation::GreaterOrEqual => a > b || equal,
        Relation::Equal => equal,
        Relation::NotEqual => !equal,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_relation_holds_where_it_should() {
        use Relation::*;
        let holds = |a, b, tolerance| {
            [Less, LessOrEqual, Greater, GreaterOrEqual, Equal, NotEqual].map(|r| compare(r, a, b, tolerance).0)
        };
        assert_eq!(holds(1.0, 2.0, 0.0), [true, true, false, false, false, true]);
        assert_eq!(holds(2.0, 1.0, 0.0), [false, false, true, true, false, true]);
        assert_eq!(holds(0.1 + 0.2, 0.3, 1e-9), [false, true, false, true, true, false]);
        assert_eq!(holds(0.1 + 0.2, 0.3, 0.0), [false, false, true, true, false, true]);
    }
}
