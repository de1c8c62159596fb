//! `value.math`.

use sinew_graph::basic::Number;
use sinew_graph::{Choice, NodeError, Result, node};

/// What to compute.
#[derive(Choice, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Operation {
    /// a + b.
    #[default]
    Add,
    /// a - b.
    Subtract,
    /// a times b.
    Multiply,
    /// a divided by b.
    Divide,
    /// a to the power of b.
    Power,
    /// The smaller of a and b.
    Minimum,
    /// The greater of a and b.
    Maximum,
    /// What remains of a after whole multiples of b; has the sign of b, so that it repeats evenly through zero.
    Modulo,
    /// a to the nearest multiple of b.
    Snap,
    /// The length of the vector (a, b).
    Hypotenuse,
    /// The angle of the vector with height a and width b, in degrees.
    Arctangent2,
    /// The logarithm of a to the base b.
    Logarithm,
    /// The square root of a.
    SquareRoot,
    /// e to the power of a.
    Exponential,
    /// a without its sign.
    Absolute,
    /// -1, 0 or 1.
    Sign,
    /// -a.
    Negate,
    /// The next whole number below.
    Floor,
    /// The next whole number above.
    Ceiling,
    /// The nearest whole number, halves away from zero.
    Round,
    /// a minus the next whole number below.
    Fraction,
    /// The sine of an angle in degrees.
    Sine,
    /// The cosine of an angle in degrees.
    Cosine,
    /// The tangent of an angle in degrees.
    Tangent,
    /// The angle in degrees with this sine.
    Arcsine,
    /// The angle in degrees with this cosine.
    Arccosine,
    /// The angle in degrees with this tangent.
    Arctangent,
    /// From degrees to radians.
    Radians,
    /// From radians to degrees.
    Degrees,
}

/// Computes with numbers. Angles are in degrees, as everywhere in the program.
#[node(id = "value.math", revision = 1)]
pub fn math(
    /// What to compute.
    #[param(default = Operation::Add)]
    operation: Operation,
    /// The first number.
    #[param(default = 0.0)]
    a: f64,
    /// The second number. Operations on one number leave it unused.
    #[param(default = 0.0)]
    b: f64,
) -> Result<Number> {
    let refuse = |at: &str, what: String, help: &str| Err(NodeError::new(what).at(at).help(help));
    match operation {
        Operation::Divide | Operation::Modulo | Operation::Snap if b == 0.0 => {
            return refuse("b", format!("{a} cannot be divided by 0"), "give a number other than 0");
        }
        Operation::SquareRoot if a < 0.0 => {
            return refuse("a", format!("{a} has no square root"), "give 0 or more");
        }
        Operation::Logarithm if a <= 0.0 => {
            return refuse("a", format!("{a} has no logarithm"), "give more than 0");
        }
        Operation::Logarithm if b <= 0.0 || b == 1.0 => {
            return refuse("b", format!("{b} is no base of logarithms"), "give more than 0 and not 1");
        }
        Operation::Power if a < 0.0 && b.fract() != 0.0 => {
            return refuse("b", format!("{a} to the power of {b} is no number"), "give a whole exponent");
        }
        Operation::Power if a == 0.0 && b < 0.0 => {
            return refuse("a", format!("0 to the power of {b} is no number"), "give a number other than 0");
        }
        Operation::Arcsine | Operation::Arccosine if !(-1.0..=1.0).contains(&a) => {
            return refuse("a", format!("no angle has this sine or cosine: {a}"), "give a number from -1 to 1");
        }
        _ => {}
    }
    let result = match operation {
        Operation::Add => a + b,
        Operation::Subtract => a - b,
        Operation::Multiply => a * b,
        Operation::Divide => a / b,
        Operation::Power => a.powf(b),
        Operation::Minimum => a.min(b),
        Operation::Maximum => a.max(b),
        Operation::Modulo => modulo(a, b),
        Operation::Snap => (a / b).round() * b,
        Operation::Hypotenuse => a.hypot(b),
        Operation::Arctangent2 => a.atan2(b).to_degrees(),
        Operation::Logarithm => a.ln() / b.ln(),
        Operation::SquareRoot => a.sqrt(),
        Operation::Exponential => a.exp(),
        Operation::Absolute => a.abs(),
        Operation::Sign => sign(a),
        Operation::Negate => -a,
        Operation::Floor => a.floor(),
        Operation::Ceiling => a.ceil(),
        Operation::Round => a.round(),
        Operation::Fraction => a - a.floor(),
        Operation::Sine => a.to_radians().sin(),
        Operation::Cosine => a.to_radians().cos(),
        Operation::Tangent => a.to_radians().tan(),
        Operation::Arcsine => a.asin().to_degrees(),
        Operation::Arccosine => a.acos().to_degrees(),
        Operation::Arctangent => a.atan().to_degrees(),
        Operation::Radians => a.to_radians(),
        Operation::Degrees => a.to_degrees(),
    };
    if !result.is_finite() {
        return refuse("a", format!("the result for {a} and {b} is too large"), "give smaller numbers");
    }
    Ok(Number(result))
}

/// The remainder with the sign of `b`.
pub(super) fn modulo(a: f64, b: f64) -> f64 {
    let rest = a % b;
    if rest != 0.0 && (rest < 0.0) != (b < 0.0) { rest + b } else { rest }
}

/// -1, 0 or 1.
pub(super) fn sign(a: f64) -> f64 {
    if a == 0.0 { 0.0 } else { a.signum() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_give_what_a_calculator_gives() {
        use Operation::*;
        let table = [
            (Add, 2.0, 3.0, 5.0),
            (Subtract, 2.0, 3.0, -1.0),
            (Multiply, 2.0, 3.0, 6.0),
            (Divide, 3.0, 2.0, 1.5),
            (Power, 2.0, 10.0, 1024.0),
            (Power, -2.0, 3.0, -8.0),
            (Minimum, 2.0, 3.0, 2.0),
            (Maximum, 2.0, 3.0, 3.0),
            (Modulo, 7.0, 3.0, 1.0),
            (Modulo, -1.0, 3.0, 2.0),
            (Modulo, 1.0, -3.0, -2.0),
            (Snap, 7.4, 5.0, 5.0),
            (Hypotenuse, 3.0, 4.0, 5.0),
            (Arctangent2, 1.0, -1.0, 135.0),
            (Logarithm, 8.0, 2.0, 3.0),
            (SquareRoot, 9.0, 0.0, 3.0),
            (Exponential, 0.0, 0.0, 1.0),
            (Absolute, -2.0, 0.0, 2.0),
            (Sign, 0.0, 0.0, 0.0),
            (Sign, -0.5, 0.0, -1.0),
            (Negate, 2.0, 0.0, -2.0),
            (Floor, -1.5, 0.0, -2.0),
            (Ceiling, -1.5, 0.0, -1.0),
            (Round, 2.5, 0.0, 3.0),
            (Fraction, -0.25, 0.0, 0.75),
            (Sine, 30.0, 0.0, 0.5),
            (Cosine, 60.0, 0.0, 0.5),
            (Tangent, 45.0, 0.0, 1.0),
            (Arcsine, 0.5, 0.0, 30.0),
            (Arccosine, 0.5, 0.0, 60.0),
            (Arctangent, 1.0, 0.0, 45.0),
            (Radians, 180.0, 0.0, std::f64::consts::PI),
            (Degrees, std::f64::consts::PI, 0.0, 180.0),
        ];
        for (operation, a, b, expected) in table {
            let Number(found) = math(operation, a, b).unwrap();
            assert!((found - expected).abs() < 1e-12, "{operation:?}({a}, {b}) = {found}");
        }
    }

    #[test]
    fn what_is_no_number_names_its_socket() {
        use Operation::*;
        let at = |operation, a, b| math(operation, a, b).unwrap_err().at.unwrap().as_str().to_owned();
        assert_eq!(at(Divide, 1.0, 0.0), "b");
        assert_eq!(at(Modulo, 1.0, 0.0), "b");
        assert_eq!(at(Power, -1.0, 0.5), "b");
        assert_eq!(at(SquareRoot, -1.0, 0.0), "a");
        assert_eq!(at(Logarithm, 1.0, 1.0), "b");
        assert_eq!(at(Arccosine, 1.1, 0.0), "a");
        assert_eq!(at(Exponential, 1e4, 0.0), "a");
    }
}
