//! Checks a `motion3.json` by every rule of `live2d-formats.md` 2.1, on its bytes. A rule that is broken is told with its place.

use std::collections::BTreeSet;
use std::fmt;

use serde_json::{Map, Value};

use super::read::segments;
use crate::data::Segment;

/// A rule that a file breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Which rule.
    pub rule: Rule,
    /// Where in the file: `Curves[2].Segments`.
    pub place: String,
    /// What is wrong there.
    pub what: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.what)
    }
}

/// A rule of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// UTF-8 JSON with an object at its root.
    Json,
    /// Version 3.
    Version,
    /// Required fields are there, and all are of their type.
    Field,
    /// Duration and frame rate are above 0.
    Timing,
    /// `CurveCount`.
    CurveCount,
    /// `TotalSegmentCount`.
    SegmentCount,
    /// `TotalPointCount`.
    PointCount,
    /// `UserDataCount`.
    UserDataCount,
    /// `TotalUserDataSize`.
    UserDataSize,
    /// Targets are Model, Parameter or PartOpacity, and the model's ids are known.
    Target,
    /// Model, then Parameter, then PartOpacity.
    Order,
    /// Segments are of known kinds and whole.
    Segments,
    /// A curve has a segment.
    EmptyCurve,
    /// The first time is 0.
    FirstTime,
    /// Times rise, as 32-bit numbers too.
    RisingTimes,
    /// Handles at thirds, and the flag that says so.
    Handles,
    /// Loops end where they begin.
    Loop,
    /// No curve on what physics writes.
    Physics,
}

/// Every rule that a file breaks. `physics`: the parameters that physics writes.
pub fn validate(bytes: &[u8], physics: &BTreeSet<String>) -> Vec<Fault> {
    let mut faults = Faults(Vec::new());
    match serde_json::from_slice::<Value>(bytes) {
        Ok(Value::Object(root)) => check_root(&root, physics, &mut faults),
        Ok(_) => faults.tell(Rule::Json, "file", "its root is no object"),
        Err(error) => faults.tell(Rule::Json, "file", format!("it is no JSON: {error}")),
    }
    faults.0
}

struct Faults(Vec<Fault>);

impl Faults {
    fn tell(&mut self, rule: Rule, place: impl Into<String>, what: impl Into<String>) {
        self.0.push(Fault { rule, place: place.into(), what: what.into() });
    }

    /// A field through `read`; tells one that is missing though required, or of another type.
    fn field<'a, T>(
        &mut self,
        object: &'a Map<String, Value>,
        place: &str,
        (name, kind, required): (&str, &str, bool),
        read: impl Fn(&'a Value) -> Option<T>,
    ) -> Option<T> {
        let value = object.get(name);
        let found = value.and_then(read);
        if found.is_none() && (required || value.is_some()) {
            let what = if value.is_some() { "is no" } else { "is missing; it is a" };
            self.tell(Rule::Field, format!("{place}{name}"), format!("{what} {kind}"));
        }
        found
    }
}

fn finite(value: &Value) -> Option<f64> {
    value.as_f64().filter(|number| number.is_finite())
}

/// What of the head the curves are checked against.
#[derive(Default)]
struct Head {
    looped: bool,
    restricted: bool,
}

fn check_root(root: &Map<String, Value>, physics: &BTreeSet<String>, faults: &mut Faults) {
    if root.get("Version").and_then(Value::as_f64) != Some(3.0) {
        faults.tell(Rule::Version, "Version", "is not 3");
    }
    let curves = faults.field(root, "", ("Curves", "list", true), Value::as_array);
    let events = faults.field(root, "", ("UserData", "list", false), Value::as_array);
    let meta = faults.field(root, "", ("Meta", "object", true), Value::as_object);
    let mut head = Head::default();
    if let Some(meta) = meta {
        for name in ["Duration", "Fps"] {
            let number = faults.field(meta, "Meta.", (name, "number", true), finite);
            if number.is_some_and(|number| number <= 0.0) {
                faults.tell(Rule::Timing, format!("Meta.{name}"), "is not above 0");
            }
        }
        check_fades(meta, "Meta.", faults);
        head.looped = faults.field(meta, "Meta.", ("Loop", "truth value", false), Value::as_bool).unwrap_or(false);
        let flag = faults.field(meta, "Meta.", ("AreBeziersRestricted", "truth value", false), Value::as_bool);
        head.restricted = flag.unwrap_or(false);
    }
    let (mut segments, mut points) = (Some(0), Some(0));
    let mut last = 0;
    for (k, curve) in curves.into_iter().flatten().enumerate() {
        let place = format!("Curves[{k}].");
        let Some(curve) = curve.as_object() else {
            faults.tell(Rule::Field, format!("Curves[{k}]"), "is no object");
            continue;
        };
        let rank = check_target(curve, &place, physics, faults);
        if rank.is_some_and(|rank| rank < last) {
            faults.tell(Rule::Order, format!("{place}Target"), "stands behind a later target; players never reach it");
        }
        last = last.max(rank.unwrap_or(0));
        check_fades(curve, &place, faults);
        let counted = check_curve(curve, &place, &head, faults);
        segments = segments.zip(counted).map(|(sum, (count, _))| sum + count);
        points = points.zip(counted).map(|(sum, (_, count))| sum + count);
    }
    let mut bytes = 0;
    for (k, event) in events.into_iter().flatten().enumerate() {
        let place = format!("UserData[{k}].");
        let empty = Map::new();
        let event = event.as_object().unwrap_or(&empty);
        faults.field(event, &place, ("Time", "number", true), finite);
        bytes += faults.field(event, &place, ("Value", "text", true), Value::as_str).map_or(0, str::len);
    }
    let Some(meta) = meta else { return };
    let event_count = events.map_or(0, Vec::len);
    for (rule, name, required, counted) in [
        (Rule::CurveCount, "CurveCount", true, curves.map(Vec::len)),
        (Rule::SegmentCount, "TotalSegmentCount", true, segments),
        (Rule::PointCount, "TotalPointCount", true, points),
        (Rule::UserDataCount, "UserDataCount", event_count > 0, Some(event_count)),
        (Rule::UserDataSize, "TotalUserDataSize", event_count > 0, Some(bytes)),
    ] {
        let told = faults.field(meta, "Meta.", (name, "whole number", required), Value::as_u64);
        if let (Some(told), Some(counted)) = (told, counted)
            && told != counted as u64
        {
            faults.tell(rule, format!("Meta.{name}"), format!("is {told} but there are {counted}"));
        }
    }
}

fn check_fades(object: &Map<String, Value>, place: &str, faults: &mut Faults) {
    for name in ["FadeInTime", "FadeOutTime"] {
        faults.field(object, place, (name, "number", false), finite);
    }
}

/// Checks what a curve moves; its place in the order of targets.
fn check_target(
    curve: &Map<String, Value>,
    place: &str,
    physics: &BTreeSet<String>,
    faults: &mut Faults,
) -> Option<usize> {
    let target = faults.field(curve, place, ("Target", "text", true), Value::as_str)?;
    let id = faults.field(curve, place, ("Id", "text", true), Value::as_str).unwrap_or_default();
    let rank = ["Model", "Parameter", "PartOpacity"].iter().position(|known| *known == target);
    if rank.is_none() {
        faults.tell(Rule::Target, format!("{place}Target"), format!("{target:?} is no target"));
    }
    if id.is_empty() || (rank == Some(0) && !["Opacity", "EyeBlink", "LipSync"].contains(&id)) {
        faults.tell(Rule::Target, format!("{place}Id"), format!("a {target} has no {id:?}"));
    }
    if rank == Some(1) && physics.contains(id) {
        faults.tell(Rule::Physics, format!("{place}Id"), format!("physics writes {id} after motions"));
    }
    rank
}

/// Checks the segments of a curve and counts them and their points; none if they cannot be told.
fn check_curve(curve: &Map<String, Value>, place: &str, head: &Head, faults: &mut Faults) -> Option<(usize, usize)> {
    let list = faults.field(curve, place, ("Segments", "list", true), Value::as_array)?;
    let place = format!("{place}Segments");
    let Some(numbers) = list.iter().map(finite).collect::<Option<Vec<f64>>>() else {
        faults.tell(Rule::Field, place, "holds something that is no finite number");
        return None;
    };
    if numbers.is_empty() {
        faults.tell(Rule::EmptyCurve, place, "is empty");
        return None;
    }
    let (kinds, points) = match segments(&numbers) {
        Ok(read) => read,
        Err(fault) => {
            faults.tell(Rule::Segments, place, fault);
            return None;
        }
    };
    if kinds.is_empty() {
        faults.tell(Rule::EmptyCurve, place.clone(), "has no segment");
    }
    if points[0][0] != 0.0 {
        faults.tell(Rule::FirstTime, place.clone(), format!("begins at {} and not at 0", points[0][0]));
    }
    let mut at = 0;
    for (k, kind) in kinds.iter().enumerate() {
        let (start, end) = (points[at][0], points[at + kind.points()][0]);
        if end as f32 <= start as f32 {
            faults.tell(Rule::RisingTimes, place.clone(), format!("segment {k} runs from {start} to {end}"));
        }
        if *kind == Segment::Bezier {
            let third = (end - start) / 3.0;
            let off = (points[at + 1][0] - start - third).abs().max((end - third - points[at + 2][0]).abs());
            // Times are 32-bit numbers: late in a long motion thirds are as exact as those.
            let slack = 1e-3 * (end - start).abs() + 2.0 * f64::from(f32::EPSILON) * end.abs();
            if off > slack {
                faults.tell(
                    Rule::Handles,
                    place.clone(),
                    format!("segment {k}: handles are not at thirds of its time"),
                );
            } else if !head.restricted {
                let what = format!("segment {k} has its handles at thirds, but Meta.AreBeziersRestricted is not set");
                faults.tell(Rule::Handles, place.clone(), what);
            }
        }
        at += kind.points();
    }
    let (first, last) = (points[0][1], points[points.len() - 1][1]);
    if head.looped && first as f32 != last as f32 {
        faults.tell(Rule::Loop, place, format!("the loop is open: it begins at {first} and ends at {last}"));
    }
    Some((kinds.len(), points.len()))
}
