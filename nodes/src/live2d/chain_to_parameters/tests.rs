use super::*;
use crate::data::{Cells, Track};
use crate::live2d::deformer_bake::deformer_bake;
use crate::live2d::test_support::Wave;
use glam::{DQuat, DVec3};

fn convert(motion: &Motion, view: View, range: f64) -> Result<(Converted, Vec<String>)> {
    let cx = Cx::detached();
    let out = chain_to_parameters(motion, None, view, Vec3::X, "Param".into(), -range, range, &cx)?;
    Ok((out, cx.warnings().into_iter().map(|warning| warning.what).collect()))
}

/// A flat chain of two links that hangs down at rest; `angles` are those of its links in degrees, clockwise on screen
/// as seen from the front, per sample.
fn flat(angles: &[[f64; 2]], looped: bool) -> Motion {
    let mut motion = Wave { links: 2, swing: 0.0, waves: 1.0, duration: 1.0 }.motion(angles.len(), looped);
    let down: Arc<[DVec3]> = [DVec3::NEG_Y; 2].into();
    motion.chains[0].rest = Arc::clone(&down);
    motion.chains[0].lengths = [1.0, 2.0].into();
    // Clockwise for the viewer is negative about the axis that points at the viewer.
    let points = angles.iter().flat_map(|&[first, second]| {
        let way = |degrees: f64| DQuat::from_rotation_z(-degrees.to_radians()) * DVec3::NEG_Y;
        [way(first), way(first) + 2.0 * way(first + second)]
    });
    motion.takes[0].tracks[0] = Track {
        roots: vec![DVec3::ZERO; angles.len()].into(),
        turns: vec![DQuat::IDENTITY.to_array(); angles.len()].into(),
        points: points.collect(),
        rotations: [[0.0; 4]; 0].into(),
    };
    motion
}

fn values(out: &Converted, curve: usize) -> Vec<f64> {
    out.motions.motions[0].curves[curve].points.iter().map(|point| point[1]).collect()
}

fn assert_near(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (a, b) in found.iter().zip(expected) {
        assert!((a - b).abs() < 1e-9, "{found:?}, not {expected:?}");
    }
}

fn cell(out: &Converted, column: &str, row: usize) -> f64 {
    match &out.report.column(column).unwrap().cells {
        Cells::Number(v) => v[row],
        Cells::Integer(v) => v[row].into(),
        Cells::Text(_) => panic!("{column} is text"),
    }
}

#[test]
fn angles_are_relative_to_the_parent_and_run_on_beyond_half_a_turn() {
    let (out, warnings) = convert(
        &flat(&[[0.0, 0.0], [90.0, -30.0], [170.0, -60.0], [200.0, 20.0], [250.0, 0.0]], false),
        View::Front,
        700.0,
    )
    .unwrap();
    assert_near(&values(&out, 0), &[0.0, 90.0, 170.0, 200.0, 250.0]);
    assert_near(&values(&out, 1), &[0.0, -30.0, -60.0, 20.0, 0.0]);
    let ids: Vec<&str> = out.motions.motions[0].curves.iter().map(|curve| &*curve.id).collect();
    assert_eq!(ids, ["ParamTail1", "ParamTail2"]);
    assert_eq!(out.motions.motions[0].fps, 4.0);
    assert!(warnings.is_empty(), "{warnings:?}");
}

#[test]
fn what_leaves_the_range_is_clamped_and_told_which_how_often_and_how_much() {
    let (out, warnings) = convert(&flat(&[[0.0, 0.0], [25.0, -5.0], [-34.0, 0.0]], false), View::Front, 20.0).unwrap();
    assert_near(&values(&out, 0), &[0.0, 20.0, -20.0]);
    assert_near(&values(&out, 1), &[0.0, -5.0, 0.0]);
    assert_eq!((cell(&out, "clamped samples", 0), cell(&out, "clamped samples", 1)), (2.0, 0.0));
    assert!((cell(&out, "clamped by", 0) - 14.0).abs() < 1e-9);
    assert_eq!(cell(&out, "clamped by", 1), 0.0);
    let told =
        "Wag: ParamTail1 was clamped to -20 to 20 at 2 of 3 samples, by up to 14.00 degrees; give it a wider range";
    assert_eq!(warnings, [told]);
}

#[test]
fn the_ranges_of_a_model_count() {
    let motion = flat(&[[0.0, 0.0], [25.0, -5.0]], false);
    let cx = Cx::detached();
    let mut model = deformer_bake(&motion, View::Front, Vec3::X, "Param".into(), -10.0, 15.0, 512, &cx).unwrap();
    let convert = |model: &Model| {
        chain_to_parameters(&motion, Some(model), View::Front, Vec3::X, "Param".into(), -99.0, 99.0, &cx)
    };
    assert_near(&values(&convert(&model).unwrap(), 0), &[0.0, 15.0]);
    model.parameters.remove(1);
    let error = convert(&model).unwrap_err().to_string();
    assert!(error.starts_with("model: the model has no parameter ParamTail2"), "{error}");
}

#[test]
fn the_gap_of_a_loop_is_spread_and_the_last_value_is_the_first_to_the_bit() {
    let (out, warnings) = convert(&flat(&[[1.0, 3.0], [5.0, 3.0], [3.0, 3.5]], true), View::Front, 90.0).unwrap();
    assert_near(&values(&out, 0), &[1.0, 4.0, 1.0]);
    assert_eq!(values(&out, 0)[0].to_bits(), values(&out, 0)[2].to_bits());
    assert!((cell(&out, "loop gap", 0) - 2.0).abs() < 1e-9);
    assert_eq!(warnings, ["Wag: the loop of ParamTail1 had a gap of 2.00 degrees; it is closed"]);
    // Round and round is no loop.
    let round: Vec<[f64; 2]> = (0..=6).map(|k| [60.0 * k as f64, 0.0]).collect();
    let (out, warnings) = convert(&flat(&round, true), View::Front, 720.0).unwrap();
    assert!(!out.motions.motions[0].looped);
    assert_near(&values(&out, 0), &[0.0, 60.0, 120.0, 180.0, 240.0, 300.0, 360.0]);
    assert_eq!(warnings, ["Wag: ParamTail1 ends 360 degrees from its start: the motion is no loop any more"]);
}

#[test]
fn a_link_that_points_at_the_viewer_keeps_its_bend_and_is_told() {
    let mut motion = flat(&[[10.0, 20.0], [10.0, 20.0], [10.0, 20.0]], false);
    let mut points = motion.takes[0].tracks[0].points.to_vec();
    points[3] = points[2] + 2.0 * DVec3::Z;
    motion.takes[0].tracks[0].points = points.into();
    let (out, warnings) = convert(&motion, View::Front, 90.0).unwrap();
    assert_near(&values(&out, 1), &[20.0; 3]);
    assert_eq!(cell(&out, "end-on samples", 1), 1.0);
    assert_eq!(warnings, ["Wag: the link of ParamTail2 points at the viewer at 1 of 3 samples"]);
    let resting = Motion { takes: Vec::new(), ..flat(&[[0.0, 0.0]], false) };
    let error = convert(&resting, View::Top, 90.0).unwrap_err().to_string();
    assert!(error.starts_with("view: link 1 of Tail points at the viewer while it rests"), "{error}");
}

#[test]
fn one_sample_is_a_pose_that_holds_and_what_is_no_motion_is_an_error() {
    let (out, warnings) = convert(&flat(&[[10.0, 20.0]], false), View::Front, 90.0).unwrap();
    assert_near(&values(&out, 0), &[10.0, 10.0]);
    assert_eq!(out.motions.motions[0].duration, FRAME);
    assert_eq!(warnings, ["the clip Wag has no length: its pose is held for one frame"]);

    let mut motion = flat(&[[0.0, 0.0], [1.0, 1.0]], false);
    motion.takes[0].tracks[0].points = vec![DVec3::NAN; 4].into();
    let error = convert(&motion, View::Front, 90.0).unwrap_err().to_string();
    assert!(error.starts_with("motion: the chain Tail in the clip Wag: link 1 is nowhere at sample 0"), "{error}");
    motion.takes[0].tracks[0].points = vec![DVec3::ZERO; 3].into();
    assert!(convert(&motion, View::Front, 90.0).is_err());
    motion.takes[0].tracks.clear();
    assert!(convert(&motion, View::Front, 90.0).is_err());
    let mut twice = flat(&[[0.0, 0.0]], false);
    twice.chains.push(twice.chains[0].clone());
    let error = convert(&twice, View::Front, 90.0).err().unwrap().to_string();
    assert!(error.contains("two chains give a parameter the id ParamTail1"), "{error}");
}
