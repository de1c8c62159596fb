//! What a curve is worth at a time (`live2d-formats.md` 2.1), as a player evaluates it.

use crate::data::{ParameterCurve, Segment};

/// The value of a cubic Bezier with these values at a share of its way.
pub fn bezier(values: [f64; 4], share: f64) -> f64 {
    let [a, b, c, d] = values;
    let mix = |a: f64, b: f64| a + (b - a) * share;
    let [ab, bc, cd] = [mix(a, b), mix(b, c), mix(c, d)];
    mix(mix(ab, bc), mix(bc, cd))
}

/// The value of a curve at a time, seconds. `restricted`: Beziers run evenly in time. NaN for a curve without points.
pub fn value_at(curve: &ParameterCurve, restricted: bool, time: f64) -> f64 {
    let after = curve.pieces().find(|(_, points)| points.last().is_some_and(|end| end[0] > time));
    match after {
        Some((segment, points)) => within(segment, points, restricted, time.max(points[0][0])),
        None => curve.points.last().map_or(f64::NAN, |point| point[1]),
    }
}

fn within(segment: Segment, points: &[[f64; 2]], restricted: bool, time: f64) -> f64 {
    let (start, end) = (points[0], points[points.len() - 1]);
    let share = (time - start[0]) / (end[0] - start[0]);
    match (segment, points) {
        (Segment::Bezier, &[a, b, c, d]) => {
            let share = if restricted { share } else { solve([a[0], b[0], c[0], d[0]], time) };
            bezier([a[1], b[1], c[1], d[1]], share)
        }
        (Segment::Stepped, _) => start[1],
        (Segment::InverseStepped, _) => end[1],
        _ => start[1] + (end[1] - start[1]) * share,
    }
}

/// Where a Bezier in time has come to `time`; its handles may not run backwards.
fn solve(times: [f64; 4], time: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..52 {
        let middle = 0.5 * (low + high);
        if bezier(times, middle) < time { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(segments: &[Segment], points: &[[f64; 2]]) -> ParameterCurve {
        ParameterCurve {
            segments: segments.into(),
            points: points.into(),
            ..ParameterCurve::linear("ParamA", std::sync::Arc::from([]))
        }
    }

    #[test]
    fn both_kinds_of_beziers_are_worth_what_was_measured() {
        let curve = curve(&[Segment::Bezier], &[[0.0, 0.0], [0.2, 0.0], [3.8, 1.0], [4.0, 1.0]]);
        let restricted = [0.0, 0.042_97, 0.156_25, 0.316_41, 0.5];
        let free = [0.0, 0.110_57, 0.238_13, 0.368_57, 0.5];
        for k in 0..5 {
            let time = 0.5 * k as f64;
            assert!((value_at(&curve, true, time) - restricted[k]).abs() < 5.1e-6, "{time}");
            assert!((value_at(&curve, false, time) - free[k]).abs() < 5.1e-6, "{time}");
        }
    }

    #[test]
    fn steps_hold_their_left_or_right_value_and_the_last_value_holds() {
        let curve = curve(
            &[Segment::Linear, Segment::Stepped, Segment::InverseStepped],
            &[[0.0, 0.0], [1.0, 2.0], [2.0, 5.0], [3.0, 9.0]],
        );
        let values = [-1.0, 0.5, 1.0, 1.9, 2.0, 2.5, 3.0, 8.0].map(|time| value_at(&curve, true, time));
        assert_eq!(values, [0.0, 1.0, 2.0, 2.0, 9.0, 9.0, 9.0, 9.0]);
    }
}
