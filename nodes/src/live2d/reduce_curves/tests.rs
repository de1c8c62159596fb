use proptest::prelude::*;

use super::*;
use crate::data::{CurveTarget, Fades};
use crate::live2d::play::value_at;

fn motions(curve: ParameterCurve, looped: bool) -> Motions2D {
    let duration = curve.points.last().unwrap()[0];
    let motion = Motion2D {
        name: "Wag".into(),
        duration,
        fps: 60.0,
        looped,
        restricted: true,
        fades: Fades::default(),
        curves: vec![curve],
        events: Vec::new(),
    };
    Motions2D { motions: vec![motion] }
}

fn reduce(curve: &ParameterCurve, tolerance: f64) -> ParameterCurve {
    let out = reduce_curves(&motions(curve.clone(), false), tolerance, &Cx::detached()).unwrap();
    out.motions.motions[0].curves[0].clone()
}

fn sampled(samples: usize, step: f64, value: impl Fn(f64) -> f64) -> ParameterCurve {
    let point = |k| [k as f64 * step, value(k as f64 * step)];
    ParameterCurve::linear("ParamTail1", (0..samples).map(point).collect())
}

/// The greatest difference at 50 times per segment of both, ends included.
fn distance(a: &ParameterCurve, b: &ParameterCurve) -> f64 {
    let mut worst = 0.0f64;
    for (_, points) in a.pieces().chain(b.pieces()) {
        let (start, end) = (points[0][0], points[points.len() - 1][0]);
        for k in 0..50 {
            let time = start + (end - start) * k as f64 / 50.0;
            worst = worst.max((value_at(a, true, time) - value_at(b, true, time)).abs());
        }
    }
    worst
}

/// Fewest segments by trying every border from every border.
fn exhaustive(curve: &ParameterCurve, tolerance: f64) -> usize {
    let pieces: Vec<Piece> = curve.pieces().filter_map(|(segment, points)| Piece::of(segment, points)).collect();
    let mut fewest = vec![usize::MAX; pieces.len() + 1];
    fewest[0] = 0;
    for to in 1..=pieces.len() {
        let ways = (0..to).filter(|&from| fit::fit(&pieces[from..to], tolerance).is_some());
        fewest[to] = ways.map(|from| fewest[from] + 1).min().unwrap();
    }
    fewest[pieces.len()]
}

#[test]
fn a_cubic_that_was_sampled_is_one_segment_again() {
    let cubic = |t: f64| 40.0 * t * t * t - 50.0 * t * t + 9.0 * t + 3.0;
    let curve = sampled(121, 1.0 / 120.0, cubic);
    let out = reduce(&curve, 0.01);
    assert_eq!(&*out.segments, [Segment::Bezier]);
    assert!(distance(&curve, &out) <= 0.01);
}

#[test]
fn a_held_value_is_one_straight_segment() {
    let out = reduce(&sampled(100, 0.1, |_| 7.25), 0.05);
    assert_eq!((&*out.segments, &*out.points), (&[Segment::Linear][..], &[[0.0, 7.25], [99.0 * 0.1, 7.25]][..]));
}

#[test]
fn steps_stay_and_free_handles_are_refused() {
    let stepped = ParameterCurve {
        segments: [Segment::Linear, Segment::Linear, Segment::Stepped, Segment::InverseStepped, Segment::Bezier].into(),
        points: [[0.0, 0.0], [1.0, 1.0], [2.0, 2.0], [3.0, 9.0], [4.0, 1.0], [4.5, 1.0], [5.0, 3.0], [5.5, 3.0]].into(),
        ..sampled(2, 1.0, |t| t)
    };
    let out = reduce(&stepped, 0.05);
    assert_eq!(&*out.segments, [Segment::Linear, Segment::Stepped, Segment::InverseStepped, Segment::Bezier]);
    assert!(distance(&stepped, &out) < 1e-12);
    let mut free = motions(stepped, false);
    free.motions[0].restricted = false;
    assert!(reduce_curves(&free, 0.05, &Cx::detached()).unwrap_err().what.contains("free handles"));
}

#[test]
fn what_is_no_curve_is_an_error_that_names_it() {
    for points in [&[][..], &[[0.0, f64::NAN], [1.0, 0.0]], &[[0.0, 0.0], [1.0, 1.0], [1.0, 2.0]]] {
        let curve = ParameterCurve::linear("ParamTail1", points.into());
        let motion = Motion2D { curves: vec![curve], ..motions(sampled(2, 1.0, |t| t), false).motions.remove(0) };
        let error = reduce_curves(&Motions2D { motions: vec![motion] }, 0.1, &Cx::detached()).unwrap_err();
        assert!(error.what.starts_with("ParamTail1 in Wag has no points"), "{error}");
    }
    assert!(reduce_curves(&motions(sampled(2, 1.0, |t| t), false), f64::NAN, &Cx::detached()).is_err());
}

#[test]
fn a_minute_at_sixty_frames_is_reduced_within_the_tolerance() {
    let curve = sampled(60 * 60 + 1, 1.0 / 60.0, |t| 20.0 * (1.3 * t).sin() + 5.0 * (7.1 * t).cos());
    let out = reduce(&curve, 0.5);
    assert!(out.segments.len() < curve.segments.len() / 15, "{}", out.segments.len());
    assert!(distance(&curve, &out) <= 0.5 + 1e-9);
}

fn wandering() -> impl Strategy<Value = ParameterCurve> {
    let part = (0.5f64..40.0, 0.2f64..9.0, 0.0f64..6.3);
    (prop::collection::vec(part, 1..4), 2usize..40, 0.0f64..0.5, any::<u64>()).prop_map(
        |(parts, samples, noise, seed)| {
            let mut state = seed | 1;
            let mut random = move || {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                state as f64 / u64::MAX as f64 - 0.5
            };
            let mut time = 0.0;
            let points = (0..samples).map(|_| {
                let value: f64 = parts.iter().map(|(size, rate, phase)| size * (rate * time + phase).sin()).sum();
                let point = [time, value + noise * random()];
                time += 0.05 + 0.02 * random();
                point
            });
            ParameterCurve::linear("ParamTail1", points.collect())
        },
    )
}

proptest! {
    #[test]
    fn the_error_never_exceeds_the_tolerance_at_any_time(curve in wandering(), tolerance in 0.0f64..2.0) {
        let out = reduce(&curve, tolerance);
        prop_assert!(distance(&curve, &out) <= tolerance + 1e-9, "{}", distance(&curve, &out));
        prop_assert!(out.segments.len() <= curve.segments.len());
    }

    #[test]
    fn ends_stay_exact_and_handles_are_at_thirds(curve in wandering(), tolerance in 0.01f64..2.0) {
        let out = reduce(&curve, tolerance);
        prop_assert_eq!(out.points.first(), curve.points.first());
        prop_assert_eq!(out.points.last(), curve.points.last());
        for (segment, points) in out.pieces().filter(|(segment, _)| *segment == Segment::Bezier) {
            let third = (points[3][0] - points[0][0]) / 3.0;
            prop_assert!((points[1][0] - points[0][0] - third).abs() < 1e-12, "{:?}", segment);
            prop_assert!((points[3][0] - points[2][0] - third).abs() < 1e-12);
        }
    }

    #[test]
    fn no_choice_of_borders_needs_fewer_segments(curve in wandering(), tolerance in 0.01f64..2.0) {
        prop_assert_eq!(reduce(&curve, tolerance).segments.len(), exhaustive(&curve, tolerance));
    }

    #[test]
    fn loops_stay_closed_and_their_targets_and_ids_stay(curve in wandering(), tolerance in 0.0f64..2.0) {
        let mut points = curve.points.to_vec();
        points.last_mut().unwrap()[1] = points[0][1];
        let curve = ParameterCurve {
            target: CurveTarget::PartOpacity,
            ..ParameterCurve::linear("PartTail", points.into())
        };
        let out = reduce_curves(&motions(curve, true), tolerance, &Cx::detached()).unwrap();
        let out = &out.motions.motions[0];
        let points = &out.curves[0].points;
        prop_assert_eq!(points[0][1].to_bits(), points[points.len() - 1][1].to_bits());
        prop_assert!(out.looped);
        prop_assert_eq!((out.curves[0].target, &*out.curves[0].id), (CurveTarget::PartOpacity, "PartTail"));
    }
}
