//! `value.curve`.

use sinew_graph::basic::Curve;
use sinew_graph::node;

/// A curve, for driving several parameters at once.
#[node(id = "value.curve", revision = 1)]
pub fn curve(
    /// The curve.
    #[param(default = Curve::line(0.0, 1.0))]
    value: Curve,
) -> Curve {
    value
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_graph::knob::KnobValue;

    #[test]
    fn it_is_a_rising_line_until_it_is_drawn() {
        assert_eq!(node().knobs[0].default, KnobValue::Curve(Curve::line(0.0, 1.0)));
        assert_eq!(curve(Curve::line(2.0, 1.0)).sample(0.5), 1.5);
    }
}
