//! `live2d.chain_to_parameters`: simulated chains become curves on the parameters of a model (`puppet-2d.md` M6).

use std::sync::Arc;

use glam::Vec3;
use sinew_graph::{Cx, NodeError, Outputs, Result, node};

use super::seen;
use super::view::{Screen, View};
use crate::data::{Fades, Model, Motion, Motion2D, Motions2D, ParameterCurve, Table, Take};

/// What a clip without a length lasts: one frame of 30 per second.
const FRAME: f64 = 1.0 / 30.0;

/// Curves, and what had to be judged on the way.
#[derive(Clone, Debug, PartialEq, Outputs)]
pub struct Converted {
    /// A motion per clip, a curve per link.
    pub motions: Motions2D,
    /// Per clip and parameter: lowest and highest angle, how often and how far its range was left, at how many samples
    /// the link pointed at the viewer, the gap that a loop had, and the least share of its length that was seen.
    pub report: Table,
}

/// Turns simulated chains, seen from one side, into degrees per joint: relative to the joint before and to the rest,
/// clockwise on screen, without jumps at half a turn.
///
/// The first link is relative to what the chain hangs from. Angles beyond a parameter's range are clamped, and the report
/// tells which, how much and how often. Loops are closed: what gap they had is spread over the clip and reported.
#[node(id = "live2d.chain_to_parameters", revision = 1)]
#[allow(clippy::too_many_arguments, reason = "each is a knob")]
pub fn chain_to_parameters(
    /// The simulated chains.
    motion: &Motion,
    /// The model that they shall drive: its ranges count. It has to be baked from the same chains and view.
    model: Option<&Model>,
    /// From where they are seen.
    #[param(default = View::Side)]
    view: View,
    /// Towards the viewer, for the view `direction`: x to the character's left, y up, z forward.
    #[param(default = Vec3::new(1.0, 0.0, 0.0))]
    direction: Vec3,
    /// What the ids of parameters begin with; the chain's name and the number of the link follow: `ParamTail1`.
    #[param(default = String::from("Param"))]
    prefix: String,
    /// The least value of each parameter, without a model.
    #[param(default = -150.0, range = -720.0..=0.0, unit = "degrees")]
    minimum: f64,
    /// The greatest value of each parameter, without a model.
    #[param(default = 150.0, range = 0.0..=720.0, unit = "degrees")]
    maximum: f64,
    cx: &Cx,
) -> Result<Converted> {
    let screen = Screen::new(view, direction)?;
    let rests = seen::rests(motion, &screen, &prefix)?;
    let (mut motions, mut rows) = (Vec::new(), Vec::new());
    for (t, take) in motion.takes.iter().enumerate() {
        cx.progress(t as f32 / motion.takes.len() as f32);
        check(take, motion)?;
        let samples = take.samples();
        let still = samples < 2 || take.duration <= 0.0;
        let duration = if still { FRAME } else { take.duration };
        let intervals = if still { 1 } else { samples - 1 };
        let (mut curves, mut looped) = (Vec::new(), take.looped);
        for ((chain, rest), track) in motion.chains.iter().zip(&rests).zip(&take.tracks) {
            let whose = format!("the chain {} in the clip {}", chain.name, take.clip);
            if track.roots.len() != samples {
                return Err(unfit(format!("{whose} has another number of samples than the first chain")));
            }
            let seen = seen::track(chain, track, rest, &screen, &whose)?;
            for (link, (id, mut angles)) in rest.parameters.iter().zip(seen.angles).enumerate() {
                cx.check()?;
                let range = range(model, id, [minimum, maximum])?;
                let gap = if take.looped { close(&mut angles) } else { 0.0 };
                looped &= !went_round(gap);
                let row = Row {
                    motion: Arc::clone(&take.clip),
                    parameter: Arc::clone(id),
                    range,
                    extremes: extremes(&angles),
                    clamped: angles.iter().filter(|&&angle| angle < range[0] || angle > range[1]).count(),
                    samples,
                    end_on: seen.end_on[link],
                    gap,
                    least: seen.least[link],
                };
                row.warn(cx);
                let clamped = angles.iter().map(|angle| angle.clamp(range[0], range[1]));
                let points: Arc<[[f64; 2]]> = if still {
                    let held = clamped.take(1).collect::<Vec<_>>()[0];
                    [[0.0, held], [duration, held]].into()
                } else {
                    let time =
                        |k: usize| if k == intervals { duration } else { duration * k as f64 / intervals as f64 };
                    clamped.enumerate().map(|(k, angle)| [time(k), angle]).collect()
                };
                curves.push(ParameterCurve::linear(Arc::clone(id), points));
                rows.push(row);
            }
        }
        if still {
            cx.warn_at("motion", format!("the clip {} has no length: its pose is held for one frame", take.clip));
        }
        motions.push(Motion2D {
            name: Arc::clone(&take.clip),
            duration,
            fps: intervals as f64 / duration,
            looped,
            restricted: true,
            fades: Fades::default(),
            curves,
            events: Vec::new(),
        });
    }
    Ok(Converted { motions: Motions2D { motions }, report: report(&rows) })
}

fn unfit(what: String) -> NodeError {
    NodeError::new(what).at("motion").help("look at the node that made the motion")
}

fn check(take: &Take, motion: &Motion) -> Result<()> {
    if take.tracks.len() != motion.chains.len() {
        return Err(unfit(format!("the clip {} has not a track for every chain", take.clip)));
    }
    if !take.duration.is_finite() || take.duration < 0.0 {
        return Err(unfit(format!("the clip {} lasts {} seconds", take.clip, take.duration)));
    }
    Ok(())
}

/// The range of a parameter: the model's, or the one of the knobs.
fn range(model: Option<&Model>, id: &str, knobs: [f64; 2]) -> Result<[f64; 2]> {
    let Some(model) = model else {
        return if knobs[0] <= knobs[1] {
            Ok(knobs)
        } else {
            Err(NodeError::new("the minimum is above the maximum").at("minimum").help("give a smaller minimum"))
        };
    };
    let found = model.parameter(id).filter(|(_, parameter)| parameter.min <= parameter.max);
    found.map(|(_, parameter)| [parameter.min, parameter.max]).ok_or_else(|| {
        NodeError::new(format!("the model has no parameter {id} with a range"))
            .at("model")
            .help("bake it from the same chains with the same prefix")
    })
}

/// Makes the last angle the first by spreading the gap over all samples, and tells the gap. An angle that went round is
/// left as it is: no curve can come back from there without a jump.
fn close(angles: &mut [f64]) -> f64 {
    let (Some(&first), Some(&last)) = (angles.first(), angles.last()) else { return 0.0 };
    let gap = last - first;
    if went_round(gap) {
        return gap;
    }
    let intervals = (angles.len() - 1).max(1) as f64;
    for (k, angle) in angles.iter_mut().enumerate() {
        *angle -= gap * k as f64 / intervals;
    }
    if let Some(end) = angles.last_mut() {
        *end = first;
    }
    gap
}

fn went_round(gap: f64) -> bool {
    gap.abs() > 180.0
}

fn extremes(angles: &[f64]) -> [f64; 2] {
    angles.iter().fold([f64::INFINITY, f64::NEG_INFINITY], |[lo, hi], &angle| [lo.min(angle), hi.max(angle)])
}

/// What is told of a curve.
struct Row {
    motion: Arc<str>,
    parameter: Arc<str>,
    range: [f64; 2],
    extremes: [f64; 2],
    clamped: usize,
    samples: usize,
    end_on: usize,
    gap: f64,
    least: f64,
}

/// A gap of a loop from which on its spreading is told as a warning, degrees.
const WIDE_GAP: f64 = 1.0;

impl Row {
    /// How far the range was left.
    fn excess(&self) -> f64 {
        (self.range[0] - self.extremes[0]).max(self.extremes[1] - self.range[1]).max(0.0)
    }

    fn warn(&self, cx: &Cx) {
        let Self { motion, parameter, samples, .. } = self;
        if self.clamped > 0 {
            let (excess, [min, max]) = (self.excess(), self.range);
            cx.warn_at(
                "motion",
                format!(
                    "{motion}: {parameter} was clamped to {min} to {max} at {} of {samples} samples, by up to {excess:.2} \
                     degrees; give it a wider range",
                    self.clamped
                ),
            );
        }
        if self.end_on > 0 {
            cx.warn_at(
                "view",
                format!(
                    "{motion}: the link of {parameter} points at the viewer at {} of {samples} samples",
                    self.end_on
                ),
            );
        }
        let gap = self.gap;
        if went_round(gap) {
            cx.warn_at(
                "motion",
                format!("{motion}: {parameter} ends {gap:.0} degrees from its start: the motion is no loop any more"),
            );
        } else if gap.abs() >= WIDE_GAP {
            cx.warn_at(
                "motion",
                format!("{motion}: the loop of {parameter} had a gap of {gap:.2} degrees; it is closed"),
            );
        }
    }
}

fn report(rows: &[Row]) -> Table {
    Table::new("parameters")
        .texts("motion", rows.iter().map(|row| Arc::clone(&row.motion)))
        .texts("parameter", rows.iter().map(|row| Arc::clone(&row.parameter)))
        .numbers("lowest", "degrees", rows.iter().map(|row| row.extremes[0]))
        .numbers("highest", "degrees", rows.iter().map(|row| row.extremes[1]))
        .numbers("minimum", "degrees", rows.iter().map(|row| row.range[0]))
        .numbers("maximum", "degrees", rows.iter().map(|row| row.range[1]))
        .integers("samples", rows.iter().map(|row| row.samples as i32))
        .integers("clamped samples", rows.iter().map(|row| row.clamped as i32))
        .numbers("clamped by", "degrees", rows.iter().map(Row::excess))
        .integers("end-on samples", rows.iter().map(|row| row.end_on as i32))
        .numbers("least seen length", "of length", rows.iter().map(|row| row.least))
        .numbers("loop gap", "degrees", rows.iter().map(|row| row.gap))
}

#[cfg(test)]
mod tests;
