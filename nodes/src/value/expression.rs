//! `value.expression`, over a small language of its own: the crates for this are either unmaintained or under licences
//! that would bind the program.

mod parse;

use sinew_graph::basic::Number;
use sinew_graph::{NodeError, Result, node};

/// Where and why an expression is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("column {column}: {what}")]
pub struct ExpressionError {
    /// The character, counted from 1.
    pub column: usize,
    /// What is wrong with it.
    pub what: String,
}

/// Computes an expression over up to four numbers: `clamp(a * 1.5, 0, b)`.
///
/// - Numbers: `0.5`, `1e-3`, `pi`, `tau`, `e`; inputs `a`, `b`, `c`, `d`.
/// - Operators, binding from loose to tight: `x ? y : z`, `||`, `&&`, `== !=`, `< <= > >=`, `+ -`, `* / %`, signs and `!`,
///   `^` (power, from the right). What compares gives 1 or 0; anything but 0 is true.
/// - Functions: `sin cos tan asin acos atan atan2` (in degrees), `sqrt exp ln log2 log10 pow hypot`, `abs sign floor ceil
///   round fract mod`, `min max` (of any count), `clamp(x, least, greatest)`, `lerp(from, to, t)`,
///   `smoothstep(from, to, x)`, `radians degrees`.
///
/// `%` and `mod` have the sign of the divisor. Only the chosen side of `? :`, `||` and `&&` is computed.
#[node(id = "value.expression", revision = 1)]
pub fn expression(
    /// What to compute.
    #[param(default = String::from("a"))]
    expression: String,
    /// The number called a.
    #[param(default = 0.0)]
    a: f64,
    /// The number called b.
    #[param(default = 0.0)]
    b: f64,
    /// The number called c.
    #[param(default = 0.0)]
    c: f64,
    /// The number called d.
    #[param(default = 0.0)]
    d: f64,
) -> Result<Number> {
    let value = parse::parse(&expression).and_then(|parsed| parsed.value(&[a, b, c, d]));
    value.map(Number).map_err(|error| {
        NodeError::new(format!("{error}, in {expression:?}"))
            .at("expression")
            .help("mend the expression at that column; the help of this node lists what it may hold")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> f64 {
        expression(text.into(), 2.0, 3.0, -1.0, 0.0).unwrap().0
    }

    fn wrong(text: &str) -> ExpressionError {
        parse::parse(text).and_then(|parsed| parsed.value(&[2.0, 3.0, -1.0, 0.0])).unwrap_err()
    }

    #[test]
    fn operators_bind_as_in_mathematics() {
        for (text, expected) in [
            ("1 + 2 * 3", 7.0),
            ("(1 + 2) * 3", 9.0),
            ("10 - 4 - 3", 3.0),
            ("2 ^ 3 ^ 2", 512.0),
            ("-2 ^ 2", -4.0),
            ("2 ^ -1", 0.5),
            ("- -a", 2.0),
            ("7 % 3 + -1 % 3", 3.0),
            ("8 / 4 / 2", 1.0),
            (".5 + 1e-1 + 2.E1", 20.6),
            ("a*b+c", 5.0),
            ("1 < 2 == 1", 1.0),
            ("a > b || c <= -1 && !d", 1.0),
            ("a > b ? 10 : a == 2 ? 20 : 30", 20.0),
            ("pi * 2 - tau", 0.0),
            ("ln(e)", 1.0),
        ] {
            assert!((value(text) - expected).abs() < 1e-12, "{text} = {}", value(text));
        }
    }

    #[test]
    fn functions_give_known_values() {
        for (text, expected) in [
            ("sin(30) + cos(60) + tan(45)", 2.0),
            ("asin(0.5) + acos(0.5) + atan(1)", 135.0),
            ("atan2(1, -1)", 135.0),
            ("sqrt(16) + exp(0) + log2(8) + log10(100)", 10.0),
            ("pow(2, 5) + hypot(3, 4)", 37.0),
            ("abs(c) + sign(c) + floor(1.5) + ceil(1.5) + round(2.5) + fract(-0.25)", 6.75),
            ("mod(-1, 3)", 2.0),
            ("min(3, 1, 2) + max(4) + max(1, 5)", 10.0),
            ("clamp(5, 0, 1) + clamp(-5, 0, 1) + clamp(0.5, 0, 1)", 1.5),
            ("lerp(10, 20, 0.25)", 12.5),
            ("smoothstep(0, 2, 0.5)", 0.15625),
            ("degrees(radians(90))", 90.0),
        ] {
            assert!((value(text) - expected).abs() < 1e-12, "{text} = {}", value(text));
        }
    }

    #[test]
    fn errors_name_the_column() {
        for (text, column, what) in [
            ("", 1, "a number, a name or ( is expected"),
            ("1 +", 4, "a number, a name or ( is expected"),
            ("1 + * 2", 5, "a number, a name or ( is expected"),
            ("1 2", 3, "an operator is expected before \"2\""),
            ("(1 + 2", 7, ") is expected"),
            ("a + q", 5, "\"q\" is not known"),
            ("foo(1)", 1, "there is no function \"foo\""),
            ("clamp(1, 2)", 1, "clamp takes 3 arguments, not 2"),
            ("min()", 1, "min takes 1 argument or more, not 0"),
            ("1 / d", 3, "division by 0"),
            ("1 + a % (b - 3)", 7, "division by 0"),
            ("1 + sqrt(c)", 5, "the result is not a finite number"),
            ("10 ^ 1000", 4, "the result is not a finite number"),
            ("1 ? 2", 6, ": is expected"),
            ("1.2.3", 1, "\"1.2.3\" is not a number"),
            ("ä", 1, "\"ä\" is not known"),
            ("ab + 1", 1, "\"ab\" is not known"),
            ("1 = 2", 3, "an operator is expected before \"=\""),
        ] {
            let error = wrong(text);
            assert_eq!((error.column, &*error.what), (column, what), "{text}");
        }
        let error = expression("1 / 0".into(), 0.0, 0.0, 0.0, 0.0).unwrap_err().to_string();
        assert!(error.starts_with("expression: column 3: division by 0, in \"1 / 0\"; mend"), "{error}");
    }

    #[test]
    fn only_the_chosen_side_is_computed() {
        assert_eq!(value("d == 0 ? 5 : 1 / d"), 5.0);
        assert_eq!(value("d == 0 || 1 / d > 2"), 1.0);
        assert_eq!(value("d != 0 && 1 / d > 2"), 0.0);
    }

    #[test]
    fn deep_nesting_is_refused_and_not_followed() {
        for text in ["(".repeat(100_000), "-".repeat(100_000), "1^".repeat(100_000), "1?".repeat(100_000)] {
            assert_eq!(wrong(&text).what, "this is nested too deeply");
        }
        let sum = format!("0{}", "+1".repeat(20_000));
        assert_eq!(value(&sum), 20_000.0);
    }
}
