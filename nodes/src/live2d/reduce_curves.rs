//! `live2d.reduce_curves`: as few cubic segments as a tolerance allows (`puppet-2d.md` M4 and M6).

mod fit;
mod search;

use std::sync::Arc;

use rayon::prelude::*;
use sinew_graph::{Cx, NodeError, Outputs, Result, node};

use self::fit::Piece;
use crate::data::{Motion2D, Motions2D, ParameterCurve, Segment, Table};

/// Reduced curves, and how much was saved.
#[derive(Clone, Debug, PartialEq, Outputs)]
pub struct Reduced {
    /// The same motions with fewer segments.
    pub motions: Motions2D,
    /// Per motion: segments and points before and after.
    pub report: Table,
}

/// Replaces the segments of curves by as few cubic Bezier segments as stay within a tolerance of them at every time.
///
/// Segments end at points of the curve, and their handles are at thirds of their time, so that all players agree. First and
/// last values stay exact: loops stay closed. Steps stay steps.
#[node(id = "live2d.reduce_curves", revision = 1)]
pub fn reduce_curves(
    /// The motions.
    motions: &Motions2D,
    /// How far a curve may be from what it was, at any time.
    #[param(default = 0.05, range = 0.0..=30.0, unit = "degrees")]
    tolerance: f64,
    cx: &Cx,
) -> Result<Reduced> {
    if tolerance.is_nan() || tolerance < 0.0 {
        return Err(NodeError::new(format!("a tolerance of {tolerance} cannot be kept"))
            .at("tolerance")
            .help("give 0 or more degrees"));
    }
    let reduce = |motion: &Motion2D| -> Result<Motion2D> {
        let curves = motion.curves.par_iter().map(|curve| {
            let whose = || format!("{} in {}", curve.id, motion.name);
            let bent = curve.segments.contains(&Segment::Bezier);
            if bent && !motion.restricted {
                return Err(NodeError::new(format!("{} has Bezier segments with free handles", whose()))
                    .at("motions")
                    .help("set the motion to restricted Beziers where it is made"));
            }
            reduced(curve, tolerance, cx)?.ok_or_else(|| {
                NodeError::new(format!("{} has no points, times that do not rise, or no finite values", whose()))
                    .at("motions")
                    .help("look at the node that made the motions")
            })
        });
        Ok(Motion2D { restricted: true, curves: curves.collect::<Result<_>>()?, ..motion.clone() })
    };
    let out: Vec<Motion2D> = motions.motions.iter().map(reduce).collect::<Result<_>>()?;
    let count = |motions: &[Motion2D], of: fn(&ParameterCurve) -> usize| -> Vec<i32> {
        motions.iter().map(|motion| motion.curves.iter().map(of).sum::<usize>() as i32).collect()
    };
    let report = Table::new("reduced")
        .texts("motion", out.iter().map(|motion| Arc::clone(&motion.name)))
        .integers("segments before", count(&motions.motions, |curve| curve.segments.len()))
        .integers("segments after", count(&out, |curve| curve.segments.len()))
        .integers("points before", count(&motions.motions, |curve| curve.points.len()))
        .integers("points after", count(&out, |curve| curve.points.len()));
    Ok(Reduced { motions: Motions2D { motions: out }, report })
}

/// The curve with fewer segments; none if it is no curve.
fn reduced(curve: &ParameterCurve, tolerance: f64, cx: &Cx) -> Result<Option<ParameterCurve>> {
    let finite = curve.points.iter().flatten().all(|number| number.is_finite());
    let whole = curve.points.len() == 1 + curve.segments.iter().map(|segment| segment.points()).sum::<usize>();
    let rising = curve.pieces().all(|(_, points)| points[points.len() - 1][0] > points[0][0]);
    if !(finite && whole && rising) {
        return Ok(None);
    }
    let (mut segments, mut points) = (Vec::new(), vec![curve.points[0]]);
    let mut run: Vec<Piece> = Vec::new();
    let flush = |run: &mut Vec<Piece>, segments: &mut Vec<Segment>, points: &mut Vec<[f64; 2]>| -> Result<()> {
        for piece in search::fewest(run, tolerance, cx)? {
            if piece.is_straight() {
                segments.push(Segment::Linear);
            } else {
                segments.push(Segment::Bezier);
                let third = (piece.end - piece.start) / 3.0;
                points.push([piece.start + third, piece.values[1]]);
                points.push([piece.end - third, piece.values[2]]);
            }
            points.push([piece.end, piece.values[3]]);
        }
        run.clear();
        Ok(())
    };
    for (segment, from) in curve.pieces() {
        match Piece::of(segment, from) {
            Some(piece) => run.push(piece),
            None => {
                flush(&mut run, &mut segments, &mut points)?;
                segments.push(segment);
                points.extend(&from[1..]);
            }
        }
    }
    flush(&mut run, &mut segments, &mut points)?;
    Ok(Some(ParameterCurve { segments: segments.into(), points: points.into(), ..curve.clone() }))
}

#[cfg(test)]
mod tests;
