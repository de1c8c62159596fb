//! Figures of `live2d-formats.md` 7.3 and 7.5.

use super::*;
use crate::data::{Canvas, Parameter};

fn parameter(min: f64, max: f64) -> Parameter {
    Parameter { id: "ParamA".into(), name: "A".into(), min, max, default: 0.0 }
}

fn deformer(parent: Option<u32>, axes: Vec<Axis>, base: f64, forms: Vec<RotationForm>) -> Deformer {
    let shape = DeformerShape::Rotation(Rotation { base, handle: 1.0, forms: forms.into() });
    Deformer { id: "Deform".into(), part: None, parent, axes, shape }
}

fn model(parameters: Vec<Parameter>, deformers: Vec<Deformer>) -> Model {
    let canvas = Canvas { size: DVec2::ONE, origin: DVec2::ZERO, pixels_per_unit: 1.0 };
    Model { name: "test".into(), canvas, parameters, parts: Vec::new(), deformers }
}

fn form(x: f64, y: f64, angle: f64, scale: f64) -> RotationForm {
    RotationForm { scale, ..RotationForm::turned(DVec2::new(x, y), angle) }
}

const UP: DVec2 = DVec2::NEG_Y;

#[test]
fn a_handle_points_up_at_0_and_right_at_90() {
    for (angle, to) in [(0.0, UP), (90.0, DVec2::X), (180.0, DVec2::Y)] {
        let model = model(vec![], vec![deformer(None, vec![], angle, vec![form(3.0, 4.0, 0.0, 1.0)])]);
        let frame = evaluate(&model, &[]).unwrap()[0];
        assert!(frame.place(UP).distance(DVec2::new(3.0, 4.0) + to) < 1e-12);
    }
}

#[test]
fn a_rotation_under_a_rotation_is_where_the_sheet_says() {
    let parent = deformer(None, vec![], 90.0, vec![form(0.0, 0.0, 0.0, 2.0)]);
    let child = deformer(Some(0), vec![], 10.0, vec![form(1.0, 0.0, 30.0, 1.5)]);
    let frames = evaluate(&model(vec![], vec![parent, child]), &[]).unwrap();
    assert!(frames[1].place(UP).distance(DVec2::new(2.298_13, 3.928_36)) < 1e-5);
}

#[test]
fn parents_that_mirror_y_or_have_a_negative_scale_turn_their_children_round() {
    for (reflect, scale, heading) in [
        ([true, false], 1.0, 0.0),
        ([false, true], 1.0, 180.0),
        ([false, false], -1.0, 180.0),
        ([false, true], -1.0, 0.0),
    ] {
        let parent = deformer(None, vec![], 0.0, vec![RotationForm { reflect, ..form(0.0, 0.0, 25.0, scale) }]);
        let child = deformer(Some(0), vec![], 0.0, vec![form(0.0, -1.0, 5.0, 1.0)]);
        let frames = evaluate(&model(vec![], vec![parent, child]), &[]).unwrap();
        assert_eq!(frames[1].angle, 30.0 + heading);
        assert_eq!(frames[1].scale, scale);
    }
}

#[test]
fn between_keys_numbers_are_blended_and_the_first_axis_varies_fastest() {
    let axis = |parameter| Axis { parameter, keys: [0.0, 1.0].into() };
    let forms = [0.0, 10.0, 100.0, 130.0].map(|angle| form(angle, 0.0, angle, 1.0));
    let model = model(vec![parameter(0.0, 1.0); 2], vec![deformer(None, vec![axis(0), axis(1)], 0.0, forms.to_vec())]);
    let angle = |a, b| evaluate(&model, &[a, b]).unwrap()[0].angle;
    assert_eq!([angle(0.0, 0.0), angle(1.0, 0.0), angle(0.0, 1.0), angle(1.0, 1.0)], [0.0, 10.0, 100.0, 130.0]);
    assert_eq!(angle(0.5, 0.25), 0.75 * 5.0 + 0.25 * 115.0);
    // Beyond its range a parameter is at its end; a thousandth from a key it is at the key.
    assert_eq!([angle(7.0, -3.0), angle(0.999_5, 0.0)], [10.0, 10.0]);
}

#[test]
fn outside_of_its_keys_a_deformer_and_its_children_vanish() {
    let axis = Axis { parameter: 0, keys: [0.0, 1.0].into() };
    let turned = vec![form(0.0, 0.0, 0.0, 1.0), form(0.0, 0.0, 40.0, 1.0)];
    let child = deformer(Some(0), vec![], 0.0, vec![form(0.0, 0.0, 0.0, 1.0)]);
    let model = model(vec![parameter(0.0, 2.0)], vec![deformer(None, vec![axis], 0.0, turned), child]);
    let shown = |value| evaluate(&model, &[value]).unwrap().iter().map(|f| (f.visible, f.angle)).collect::<Vec<_>>();
    assert_eq!(shown(1.0005), [(true, 40.0); 2]);
    assert_eq!(shown(1.5), [(false, 40.0); 2]);
}

#[test]
fn what_is_no_model_is_an_error_that_says_what_to_do() {
    let one = || vec![form(0.0, 0.0, 0.0, 1.0)];
    let axis = |keys: &[f64]| vec![Axis { parameter: 0, keys: keys.into() }];
    let errors = [
        evaluate(&model(vec![parameter(0.0, 1.0)], vec![]), &[]),
        evaluate(&model(vec![parameter(0.0, 1.0)], vec![]), &[f64::NAN]),
        evaluate(&model(vec![], vec![deformer(Some(0), vec![], 0.0, one())]), &[]),
        evaluate(&model(vec![parameter(0.0, 1.0)], vec![deformer(None, axis(&[0.0]), 0.0, one())]), &[0.0]),
        evaluate(&model(vec![parameter(0.0, 1.0)], vec![deformer(None, axis(&[0.0, 1.0]), 0.0, one())]), &[0.0]),
    ];
    let starts = [
        "the model has 1 parameters but 0",
        "the value of ParamA",
        "Deform hangs",
        "Deform has an axis",
        "Deform has 1",
    ];
    for (error, start) in errors.into_iter().zip(starts) {
        let text = error.unwrap_err().to_string();
        assert!(text.starts_with(start), "{text}");
    }
}
