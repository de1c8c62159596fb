use std::sync::Arc;

use serde_json::{Value, json};

use super::read::read;
use super::validate::{Rule, validate};
use super::*;
use crate::data::{Event2D, ParameterCurve, Segment};
use crate::live2d::chain_to_parameters::chain_to_parameters;
use crate::live2d::deformer_bake::deformer_bake;
use crate::live2d::evaluate::evaluate;
use crate::live2d::play::value_at;
use crate::live2d::reduce_curves::reduce_curves;
use crate::live2d::test_support::Wave;
use crate::live2d::view::{Screen, View, angle, wrap};

fn motion() -> Motion2D {
    let curve = |target, id: &str, segments: &[Segment], points: &[[f64; 2]]| ParameterCurve {
        target,
        segments: segments.into(),
        ..ParameterCurve::linear(id, points.into())
    };
    let bent = [[0.0, 5.0], [1.0, 20.0], [2.0, -20.0], [3.0, 0.5], [3.5, 5.0]];
    Motion2D {
        name: "Wag".into(),
        duration: 3.5,
        fps: 30.0,
        looped: true,
        restricted: true,
        fades: Fades::default(),
        curves: vec![
            curve(CurveTarget::PartOpacity, "PartTail", &[Segment::Stepped], &[[0.0, 1.0], [3.5, 1.0]]),
            curve(CurveTarget::Parameter, "ParamTail1", &[Segment::Bezier, Segment::InverseStepped], &bent),
            curve(CurveTarget::Model, "Opacity", &[Segment::Linear], &[[0.0, 1.0], [3.5, 1.0]]),
        ],
        events: vec![Event2D { time: 0.5, value: "süß".into() }],
    }
}

fn export(motion: Motion2D) -> Result<Arc<[u8]>> {
    let files = motion3(&Motions2D { motions: vec![motion] }, String::new(), &Cx::detached())?;
    Ok(Arc::clone(&files.files[0].bytes))
}

#[test]
fn what_is_read_back_is_what_was_written_with_curves_in_order_and_loops_without_fades() {
    let back = read("Wag", &export(motion()).unwrap()).unwrap();
    let mut expected = motion();
    expected.curves.reverse();
    expected.fades = Fades { fade_in: Some(0.0), fade_out: Some(0.0) };
    assert_eq!(back, expected);
}

#[test]
fn counts_are_those_of_the_format_and_whole_numbers_have_no_point() {
    let bytes = export(motion()).unwrap();
    let text = std::str::from_utf8(&bytes).unwrap();
    let meta = "{\n\t\t\"Duration\": 3.5,\n\t\t\"Fps\": 30,\n\t\t\"Loop\": true,\n\t\t\"AreBeziersRestricted\": true,\n\t\t\
        \"FadeInTime\": 0,\n\t\t\"FadeOutTime\": 0,\n\t\t\"CurveCount\": 3,\n\t\t\"TotalSegmentCount\": 4,\n\t\t\
        \"TotalPointCount\": 9,\n\t\t\"UserDataCount\": 1,\n\t\t\"TotalUserDataSize\": 5\n\t}";
    assert!(text.starts_with(&format!("{{\n\t\"Version\": 3,\n\t\"Meta\": {meta},")), "{text}");
}

#[test]
fn each_broken_rule_is_found_with_its_place() {
    let good: Value = serde_json::from_slice(&export(motion()).unwrap()).unwrap();
    let physics = BTreeSet::from(["ParamPhysics".to_owned()]);
    assert_eq!(validate(good.to_string().as_bytes(), &physics), []);
    let cases: [(Rule, &str, Value); 29] = [
        (Rule::Version, "/Version", json!(2)),
        (Rule::Field, "/Meta", json!([])),
        (Rule::Field, "/Curves", json!({})),
        (Rule::Field, "/Meta/Duration", json!("3")),
        (Rule::Field, "/Meta/CurveCount", json!(3.5)),
        (Rule::Field, "/Meta/Loop", json!(1)),
        (Rule::Field, "/Meta/AreBeziersRestricted", json!("yes")),
        (Rule::Field, "/Meta/FadeInTime", json!("no")),
        (Rule::Field, "/Curves/0", json!(7)),
        (Rule::Field, "/Curves/1/Id", json!(7)),
        (Rule::Field, "/Curves/1/Segments/3", json!(null)),
        (Rule::Field, "/UserData/0/Time", json!("late")),
        (Rule::Timing, "/Meta/Duration", json!(0)),
        (Rule::Timing, "/Meta/Fps", json!(-30)),
        (Rule::CurveCount, "/Meta/CurveCount", json!(4)),
        (Rule::SegmentCount, "/Meta/TotalSegmentCount", json!(3)),
        (Rule::PointCount, "/Meta/TotalPointCount", json!(8)),
        (Rule::UserDataCount, "/Meta/UserDataCount", json!(0)),
        (Rule::UserDataSize, "/Meta/TotalUserDataSize", json!(3)),
        (Rule::Target, "/Curves/1/Target", json!("Bone")),
        (Rule::Target, "/Curves/0/Id", json!("Colour")),
        (Rule::Order, "/Curves/0/Target", json!("PartOpacity")),
        (Rule::Segments, "/Curves/1/Segments/2", json!(4)),
        (Rule::EmptyCurve, "/Curves/1/Segments", json!([0, 5])),
        (Rule::FirstTime, "/Curves/1/Segments/0", json!(0.0005)),
        (Rule::RisingTimes, "/Curves/1/Segments/10", json!(3)),
        (Rule::Handles, "/Curves/1/Segments/3", json!(1.2)),
        (Rule::Handles, "/Meta/AreBeziersRestricted", json!(false)),
        (Rule::Loop, "/Curves/1/Segments/11", json!(5.25)),
    ];
    for (rule, place, value) in cases {
        let mut bad = good.clone();
        // Moved behind, a target is out of order only for the next one.
        *bad.pointer_mut(place).unwrap() = value;
        let faults = validate(bad.to_string().as_bytes(), &physics);
        assert!(faults.iter().any(|fault| fault.rule == rule), "{place} should break {rule:?}: {faults:?}");
        assert!(faults.iter().all(|fault| !fault.place.is_empty() && !fault.what.is_empty()));
    }
    let mut bad = good.clone();
    *bad.pointer_mut("/Curves/1/Id").unwrap() = json!("ParamPhysics");
    assert_eq!(
        validate(bad.to_string().as_bytes(), &physics)[0].to_string(),
        "Curves[1].Id: physics writes ParamPhysics after motions"
    );
    for bytes in [&b"{"[..], b"[]", b"\xff"] {
        assert_eq!(validate(bytes, &physics)[0].rule, Rule::Json);
    }
    for name in ["Duration", "Fps", "CurveCount", "TotalSegmentCount", "TotalPointCount"] {
        let mut bad = good.clone();
        bad["Meta"].as_object_mut().unwrap().remove(name);
        assert_eq!(validate(bad.to_string().as_bytes(), &physics)[0].place, format!("Meta.{name}"));
    }
}

#[test]
fn an_open_loop_or_a_number_that_is_none_is_never_written() {
    let mut open = motion();
    open.curves.truncate(1);
    open.curves[0].points = [[0.0, 1.0], [3.5, 0.0]].into();
    let error = export(open).unwrap_err().to_string();
    assert!(error.contains("Curves[0].Segments: the loop is open: it begins at 1 and ends at 0"), "{error}");
    assert!(export(Motion2D { duration: f64::NAN, ..motion() }).is_err());
    assert!(export(Motion2D { name: " ".into(), ..motion() }).is_err());
}

#[test]
fn curves_that_physics_overwrites_are_left_out_and_told() {
    let cx = Cx::detached();
    let files = motion3(&Motions2D { motions: vec![motion()] }, "ParamTail1, ParamX".into(), &cx).unwrap();
    assert_eq!(read("Wag", &files.files[0].bytes).unwrap().curves.len(), 2);
    assert_eq!(cx.warnings()[0].what, "Wag: the curve of ParamTail1 is left out: physics writes it");
}

#[test]
fn the_baked_model_driven_by_the_written_curves_follows_the_simulated_chain_within_half_a_degree() {
    use sinew_graph::Data;
    let cx = Cx::detached();
    let direction = glam::Vec3::new(1.0, 0.2, -0.4);
    let mut worst = 0.0f64;
    for links in 2..=8 {
        for view in [View::Side, View::Direction] {
            let wave = Wave { links, swing: 0.5 / links as f64, waves: 2.0, duration: 2.4 };
            let simulated = wave.motion(145, true);
            let model = deformer_bake(&simulated, view, direction, "Param".into(), -150.0, 150.0, 2048, &cx).unwrap();
            let model = crate::data::Model::from_columns(&model.columns().into_iter().collect()).unwrap();
            let converted =
                chain_to_parameters(&simulated, Some(&model), view, direction, "Param".into(), 0.0, 0.0, &cx).unwrap();
            let reduced = reduce_curves(&converted.motions, 0.05, &cx).unwrap().motions;
            let files = motion3(&reduced, String::new(), &cx).unwrap();
            assert_eq!(&*files.files[0].name, "Wag.motion3.json");
            let played = read("Wag", &files.files[0].bytes).unwrap();
            let screen = Screen::new(view, direction).unwrap();
            for k in 0..1000 {
                let time = wave.duration * f64::from(k) / 999.0;
                let value = |parameter: &crate::data::Parameter| {
                    let curve = played.curves.iter().find(|curve| curve.id == parameter.id).unwrap();
                    value_at(curve, played.restricted, time)
                };
                let values: Vec<f64> = model.parameters.iter().map(value).collect();
                let frames = evaluate(&model, &values).unwrap();
                for (link, frame) in frames.iter().enumerate() {
                    assert!(frame.visible);
                    // The whole angle on screen, with what all joints before are off.
                    let truth = angle(screen.see(wave.direction(link, time)));
                    worst = worst.max(wrap(frame.angle - truth).abs());
                }
                // Each head is at the end of the handle before it.
                for (pair, deformer) in frames.windows(2).zip(&model.deformers) {
                    let crate::data::DeformerShape::Rotation(rotation) = &deformer.shape;
                    let tip = pair[0].place(glam::DVec2::new(0.0, -rotation.handle));
                    assert!(tip.distance(pair[1].pivot) < 1e-9);
                }
            }
        }
    }
    assert!(worst <= 0.5, "{worst} degrees");
    assert!(cx.warnings().is_empty(), "{:?}", cx.warnings());
}
