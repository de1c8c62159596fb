//! A motion as text: tabs, whole numbers without `.0`, numbers as the 32-bit floats that players read.

use serde::Serialize;
use serde_json::{Error, Map, Number, Value, ser::PrettyFormatter};

use crate::data::{CurveTarget, Fades, Motion2D, ParameterCurve};

/// A 32-bit number in its shortest form.
fn number(value: f64) -> Result<Value, Error> {
    // Without the sign of a negative zero.
    let short = value as f32 + 0.0;
    serde_json::from_str::<Number>(&short.to_string()).map(Value::Number)
}

pub fn write(motion: &Motion2D) -> Result<Vec<u8>, Error> {
    let mut meta = Map::new();
    meta.insert("Duration".into(), number(motion.duration)?);
    meta.insert("Fps".into(), number(motion.fps)?);
    meta.insert("Loop".into(), motion.looped.into());
    meta.insert("AreBeziersRestricted".into(), motion.restricted.into());
    fades(&mut meta, motion.fades)?;
    let segments: usize = motion.curves.iter().map(|curve| curve.segments.len()).sum();
    let points: usize = motion.curves.iter().map(|curve| curve.points.len()).sum();
    let bytes: usize = motion.events.iter().map(|event| event.value.len()).sum();
    for (name, count) in [
        ("CurveCount", motion.curves.len()),
        ("TotalSegmentCount", segments),
        ("TotalPointCount", points),
        ("UserDataCount", motion.events.len()),
        ("TotalUserDataSize", bytes),
    ] {
        meta.insert(name.into(), count.into());
    }
    let mut root = Map::new();
    root.insert("Version".into(), 3.into());
    root.insert("Meta".into(), meta.into());
    root.insert("Curves".into(), motion.curves.iter().map(curve).collect::<Result<Value, Error>>()?);
    if !motion.events.is_empty() {
        let event = |event: &crate::data::Event2D| {
            Ok(serde_json::json!({ "Time": number(event.time)?, "Value": &*event.value }))
        };
        root.insert("UserData".into(), motion.events.iter().map(event).collect::<Result<Value, Error>>()?);
    }
    let mut bytes = Vec::new();
    let mut out = serde_json::Serializer::with_formatter(&mut bytes, PrettyFormatter::with_indent(b"\t"));
    root.serialize(&mut out)?;
    bytes.push(b'\n');
    Ok(bytes)
}

fn fades(object: &mut Map<String, Value>, fades: Fades) -> Result<(), Error> {
    for (name, fade) in [("FadeInTime", fades.fade_in), ("FadeOutTime", fades.fade_out)] {
        if let Some(fade) = fade {
            object.insert(name.into(), number(fade)?);
        }
    }
    Ok(())
}

fn curve(curve: &ParameterCurve) -> Result<Value, Error> {
    let target = match curve.target {
        CurveTarget::Model => "Model",
        CurveTarget::Parameter => "Parameter",
        CurveTarget::PartOpacity => "PartOpacity",
    };
    let mut numbers = Vec::new();
    for point in curve.points.iter().take(1).flatten() {
        numbers.push(number(*point)?);
    }
    for (segment, points) in curve.pieces() {
        numbers.push(segment.number().into());
        for point in points[1..].iter().flatten() {
            numbers.push(number(*point)?);
        }
    }
    let mut object = Map::new();
    object.insert("Target".into(), target.into());
    object.insert("Id".into(), (*curve.id).into());
    fades(&mut object, curve.fades)?;
    object.insert("Segments".into(), numbers.into());
    Ok(object.into())
}
