//! Reads `motion3.json`. Counts are not believed: what is there is counted by whoever asks. Rules are the validator's.

use std::sync::Arc;

use serde::Deserialize;

use crate::data::{CurveTarget, Event2D, Fades, Motion2D, ParameterCurve, Segment};

/// Why bytes are no motion.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// No JSON, or a field is missing or of another type.
    #[error("this is no motion3.json: {0}; export it again")]
    Shape(#[from] serde_json::Error),
    /// The segments of a curve break off or are of an unknown kind.
    #[error("the curve of {id}: {fault}; export the motion again")]
    Segments {
        /// What the curve moves.
        id: String,
        /// What is wrong.
        fault: String,
    },
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Root {
    meta: Meta,
    curves: Vec<Curve>,
    #[serde(default)]
    user_data: Vec<Event>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Meta {
    duration: f64,
    fps: f64,
    #[serde(default)]
    r#loop: bool,
    #[serde(default)]
    are_beziers_restricted: bool,
    fade_in_time: Option<f64>,
    fade_out_time: Option<f64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Curve {
    target: CurveTarget,
    id: Arc<str>,
    fade_in_time: Option<f64>,
    fade_out_time: Option<f64>,
    segments: Vec<f64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Event {
    time: f64,
    value: Arc<str>,
}

/// The motion of a file; `name` is the file's without its ending.
pub fn read(name: &str, bytes: &[u8]) -> Result<Motion2D, ReadError> {
    let root: Root = serde_json::from_slice(bytes)?;
    let curve = |curve: Curve| {
        let (segments, points) =
            segments(&curve.segments).map_err(|fault| ReadError::Segments { id: curve.id.to_string(), fault })?;
        Ok(ParameterCurve {
            target: curve.target,
            id: curve.id,
            fades: Fades { fade_in: curve.fade_in_time, fade_out: curve.fade_out_time },
            segments: segments.into(),
            points: points.into(),
        })
    };
    Ok(Motion2D {
        name: name.into(),
        duration: root.meta.duration,
        fps: root.meta.fps,
        looped: root.meta.r#loop,
        restricted: root.meta.are_beziers_restricted,
        fades: Fades { fade_in: root.meta.fade_in_time, fade_out: root.meta.fade_out_time },
        curves: root.curves.into_iter().map(curve).collect::<Result<_, ReadError>>()?,
        events: root.user_data.into_iter().map(|event| Event2D { time: event.time, value: event.value }).collect(),
    })
}

/// Segments and points of a curve from its flat numbers, or what is wrong with them.
pub fn segments(numbers: &[f64]) -> Result<(Vec<Segment>, Vec<[f64; 2]>), String> {
    if numbers.len() < 2 {
        return Err(format!("it has {} numbers, so not even a first point", numbers.len()));
    }
    let (mut segments, mut points) = (Vec::new(), vec![[numbers[0], numbers[1]]]);
    let mut at = 2;
    while let Some(&kind) = numbers.get(at) {
        let whole = (0.0..=3.0).contains(&kind) && kind.fract() == 0.0;
        let Some(segment) = Segment::of(kind as u8).filter(|_| whole) else {
            return Err(format!("number {at} of its segments is {kind}, and no kind of segment (0 to 3)"));
        };
        let end = at + 1 + 2 * segment.points();
        let Some(rest) = numbers.get(at + 1..end) else {
            return Err(format!("its segments break off after number {at}"));
        };
        points.extend(rest.chunks_exact(2).map(|pair| [pair[0], pair[1]]));
        segments.push(segment);
        at = end;
    }
    Ok((segments, points))
}
