//! Motions of a 2D puppet: curves over time on the parameters of a model.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sinew_graph::Data;
use sinew_graph::column::{Column, ColumnError, Columns};
use sinew_graph::value::{DataType, DataTypeId};

/// Motions, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Motions2D {
    /// The motions.
    pub motions: Vec<Motion2D>,
}

/// A motion.
#[derive(Clone, Debug, PartialEq)]
pub struct Motion2D {
    /// Its name.
    pub name: Arc<str>,
    /// Seconds.
    pub duration: f64,
    /// The rate that it was made at; players close loops with one frame of it.
    pub fps: f64,
    /// Whether it is made to be played as a loop.
    pub looped: bool,
    /// Whether Bezier segments run evenly in time, whatever the times of their handles say.
    pub restricted: bool,
    /// Seconds of fading in and out; without, a player takes one second.
    pub fades: Fades,
    /// Its curves.
    pub curves: Vec<ParameterCurve>,
    /// What it tells the program that plays it, and when.
    pub events: Vec<Event2D>,
}

/// Seconds of fading in and out, where they are set.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Fades {
    /// At the start.
    pub fade_in: Option<f64>,
    /// At the end.
    pub fade_out: Option<f64>,
}

/// A message at a time.
#[derive(Clone, Debug, PartialEq)]
pub struct Event2D {
    /// Seconds.
    pub time: f64,
    /// The message.
    pub value: Arc<str>,
}

/// A curve over time. After its last point its last value holds.
#[derive(Clone, Debug, PartialEq)]
pub struct ParameterCurve {
    /// What kind of thing it moves.
    pub target: CurveTarget,
    /// What it moves: the id of a parameter or part; for the model `Opacity`, `EyeBlink` or `LipSync`.
    pub id: Arc<str>,
    /// Fades of its own, in place of the motion's.
    pub fades: Fades,
    /// Its segments, one after the other.
    pub segments: Arc<[Segment]>,
    /// Time and value: where it starts, then the points of each segment.
    pub points: Arc<[[f64; 2]]>,
}

/// What kind of thing a curve moves, in the order in which files hold them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum CurveTarget {
    /// The model as a whole.
    Model,
    /// A parameter.
    Parameter,
    /// The opacity of a part.
    PartOpacity,
}

/// How a curve gets from one point to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Segment {
    /// Straight.
    Linear,
    /// A cubic Bezier: two handles and the end.
    Bezier,
    /// The left value holds.
    Stepped,
    /// The right value holds.
    InverseStepped,
}

impl Segment {
    /// Its number in files.
    pub fn number(self) -> u8 {
        self as u8
    }

    /// The segment of a number in a file.
    pub fn of(number: u8) -> Option<Self> {
        [Self::Linear, Self::Bezier, Self::Stepped, Self::InverseStepped].get(usize::from(number)).copied()
    }

    /// How many points it has, its start not counted.
    pub fn points(self) -> usize {
        if self == Self::Bezier { 3 } else { 1 }
    }
}

impl ParameterCurve {
    /// A curve of straight segments over a parameter.
    pub fn linear(id: impl Into<Arc<str>>, points: Arc<[[f64; 2]]>) -> Self {
        Self {
            target: CurveTarget::Parameter,
            id: id.into(),
            fades: Fades::default(),
            segments: std::iter::repeat_n(Segment::Linear, points.len().saturating_sub(1)).collect(),
            points,
        }
    }

    /// Each segment with its points, its start included.
    pub fn pieces(&self) -> impl Iterator<Item = (Segment, &[[f64; 2]])> {
        self.segments.iter().scan(0, |start, &segment| {
            let points = self.points.get(*start..=*start + segment.points())?;
            *start += segment.points();
            Some((segment, points))
        })
    }
}

#[derive(Serialize, Deserialize)]
struct Head {
    name: Arc<str>,
    looped: bool,
    restricted: bool,
    curves: Vec<(CurveTarget, Arc<str>)>,
    events: Vec<Arc<str>>,
}

impl Data for Motions2D {
    const TYPE: DataType = DataType {
        id: DataTypeId("motions_2d"),
        label: "Motions 2D",
        help: "Motions of a 2D puppet: curves over time on its parameters.",
        colour: [240, 140, 140],
    };

    fn columns(&self) -> Vec<Column> {
        let head = |motion: &Motion2D| Head {
            name: Arc::clone(&motion.name),
            looped: motion.looped,
            restricted: motion.restricted,
            curves: motion.curves.iter().map(|curve| (curve.target, Arc::clone(&curve.id))).collect(),
            events: motion.events.iter().map(|event| Arc::clone(&event.value)).collect(),
        };
        let heads: Vec<Head> = self.motions.iter().map(head).collect();
        let mut columns = vec![Column::json("motions", &heads)];
        for (m, motion) in self.motions.iter().enumerate() {
            let [fade_in, fade_out] = motion.fades.row();
            let timing = Arc::from([motion.duration, motion.fps, fade_in, fade_out]);
            let events: Arc<[f64]> = motion.events.iter().map(|event| event.time).collect();
            columns.push(Column::f64::<f64>(format!("motion{m}.timing"), &timing));
            columns.push(Column::f64(format!("motion{m}.event"), &events));
            for (c, curve) in motion.curves.iter().enumerate() {
                let numbers: Arc<[u8]> = curve.segments.iter().map(|segment| segment.number()).collect();
                columns.push(Column::f64(format!("motion{m}.curve{c}.fade"), &Arc::from([curve.fades.row()])));
                columns.push(Column::u8(format!("motion{m}.curve{c}.segment"), &numbers));
                columns.push(Column::f64(format!("motion{m}.curve{c}.point"), &curve.points));
            }
        }
        columns
    }

    fn from_columns(columns: &Columns) -> Result<Self, ColumnError> {
        let heads: Vec<Head> = columns.get("motions")?.as_json()?;
        let motions = heads.into_iter().enumerate().map(|(m, head)| motion(m, head, columns));
        Ok(Self { motions: motions.collect::<Result<_, _>>()? })
    }
}

fn motion(m: usize, head: Head, columns: &Columns) -> Result<Motion2D, ColumnError> {
    let name = format!("motion{m}.timing");
    let timing = columns.get(&name)?.as_f64::<f64>()?;
    let &[duration, fps, fade_in, fade_out] = &*timing else {
        return Err(ColumnError::Content { name, reason: "a timing is four numbers".into() });
    };
    let curve = |(c, (target, id)): (usize, (CurveTarget, Arc<str>))| {
        let fades = columns.get(&format!("motion{m}.curve{c}.fade"))?.as_f64::<[f64; 2]>()?;
        let name = format!("motion{m}.curve{c}.segment");
        let numbers = columns.get(&name)?.as_u8::<u8>()?;
        let points = columns.get(&format!("motion{m}.curve{c}.point"))?.as_f64::<[f64; 2]>()?;
        let segments: Option<Arc<[Segment]>> = numbers.iter().map(|&number| Segment::of(number)).collect();
        let fits = |segments: &Arc<[Segment]>| 1 + segments.iter().map(|s| s.points()).sum::<usize>() == points.len();
        let segments = segments.filter(fits).ok_or_else(|| ColumnError::Content {
            name,
            reason: "segments are 0 to 3 and have as many points as the curve".into(),
        })?;
        Ok(ParameterCurve { target, id, fades: Fades::of(fades.first()), segments, points })
    };
    let times = columns.get(&format!("motion{m}.event"))?.as_f64::<f64>()?;
    Ok(Motion2D {
        name: head.name,
        duration,
        fps,
        looped: head.looped,
        restricted: head.restricted,
        fades: Fades::of(Some(&[fade_in, fade_out])),
        curves: head.curves.into_iter().enumerate().map(curve).collect::<Result<_, ColumnError>>()?,
        events: head.events.into_iter().zip(times.iter()).map(|(value, &time)| Event2D { time, value }).collect(),
    })
}

impl Fades {
    /// As numbers, NaN for none.
    fn row(self) -> [f64; 2] {
        [self.fade_in, self.fade_out].map(|fade| fade.unwrap_or(f64::NAN))
    }

    fn of(row: Option<&[f64; 2]>) -> Self {
        let [fade_in, fade_out] = row.map_or([None; 2], |row| row.map(|fade| (!fade.is_nan()).then_some(fade)));
        Self { fade_in, fade_out }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn motions_are_the_same_after_their_columns() {
        let curve = ParameterCurve {
            target: CurveTarget::PartOpacity,
            id: "PartTail".into(),
            fades: Fades { fade_in: Some(0.1), fade_out: None },
            segments: [Segment::Bezier, Segment::InverseStepped].into(),
            points: [[0.0, 1.0], [0.1, 0.9], [0.2, 0.7], [0.3, 0.1], [1.0, 0.0]].into(),
        };
        let motion = Motion2D {
            name: "Walk".into(),
            duration: 1.0,
            fps: 30.0,
            looped: false,
            restricted: true,
            fades: Fades { fade_in: None, fade_out: Some(0.0) },
            curves: vec![curve, ParameterCurve::linear("ParamTail1", [[0.0, 1.0], [1.0, 1.0 / 3.0]].into())],
            events: vec![Event2D { time: 0.1, value: "step".into() }],
        };
        let motions = Motions2D { motions: vec![motion] };
        assert_eq!(Motions2D::from_columns(&motions.columns().into_iter().collect()).unwrap(), motions);
    }
}
