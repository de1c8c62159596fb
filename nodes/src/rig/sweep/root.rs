//! Follows an appendage along its skin from the tip to where it widens into the body.
//!
//! A threshold on the skeleton distance cuts an appendage off well before its root, because the root is near the body's bones.
//! The circles of equal distance from the tip do not: along a tail they are as long as the tail is round, and where it meets
//! the body they grow by several times their step. That is the root.

use glam::Vec3;
use sinew_graph::{Cx, Result};

use super::graph::{Graph, marked};
use super::profile::{cut, in_order};
use crate::rig::chain::geodesic::spread;

/// By how much the circle grows per step of distance where the body begins. A circle on a plane grows by 6.3, one on a cone of
/// half the angle of a pencil's tip by 0.6.
const WIDENS: f64 = 2.0;

/// Circles that are measured.
const STEPS: usize = 160;

/// How much further than the core reaches the root may be.
const FURTHER: f32 = 1.3;

/// The region from the tip to the root, rising; `None` if it nowhere widens into a body within reach.
///
/// `core` is part of the appendage (rising), `spill` all of the branch at its lowest threshold, which may lie on the body in
/// part (rising).
pub fn grow(graph: &Graph, places: &[Vec3], core: &[u32], spill: &[u32], cx: &Cx) -> Result<Option<Vec<u32>>> {
    let place = |v: u32| places[v as usize];
    let members = marked(places.len(), core);
    let inside = |v: u32| members[v as usize];
    let mut ring: Vec<u32> =
        core.iter().flat_map(|&v| graph.neighbours(v).iter().copied()).filter(|&v| !inside(v)).collect();
    ring.sort_unstable();
    ring.dedup();
    if ring.is_empty() {
        return Ok(None);
    }
    let mut distance = vec![f32::INFINITY; places.len()];
    ring.iter().for_each(|&v| distance[v as usize] = 0.0);
    spread(graph, place, &mut distance, ring.iter().copied(), f32::INFINITY, inside, cx)?;
    let Some(tip) = core
        .iter()
        .copied()
        .filter(|&v| distance[v as usize].is_finite())
        .max_by(|&a, &b| distance[a as usize].total_cmp(&distance[b as usize]).then(b.cmp(&a)))
    else {
        return Ok(None);
    };
    ring.iter().chain(core).for_each(|&v| distance[v as usize] = f32::INFINITY);
    drop(members);
    // First within the branch, for how far it reaches; then on from its border over all skin.
    let spilt = marked(places.len(), spill);
    distance[tip as usize] = 0.0;
    let start = std::iter::once(tip);
    spread(graph, place, &mut distance, start.clone(), f32::INFINITY, |v| spilt[v as usize], cx)?;
    let reach = |of: &[u32]| of.iter().map(|&v| distance[v as usize]).filter(|d| d.is_finite()).fold(0.0, f32::max);
    let core_reach = reach(core);
    let limit = (core_reach * FURTHER).max(reach(spill));
    let border = |&v: &u32| distance[v as usize].is_finite() && graph.neighbours(v).iter().any(|&u| !spilt[u as usize]);
    let border: Vec<u32> = spill.iter().copied().filter(border).collect();
    drop(spilt);
    // A root is seldom far beyond the core: only where it is, distances are measured all the way.
    let mut sources: Vec<u32> = start.chain(border).collect();
    for bound in [core_reach * NEAR, limit * BEYOND] {
        spread(graph, place, &mut distance, sources.into_iter(), bound, |_| true, cx)?;
        let within: Vec<u32> = (0..distance.len() as u32).filter(|&v| distance[v as usize] <= bound).collect();
        let circles = Circles::of(graph, &distance, &within, places, limit, bound);
        match circles.root(core_reach) {
            Some((root, known)) if known || bound >= limit => {
                return Ok(Some(within.into_iter().filter(|&v| distance[v as usize] <= root).collect()));
            }
            _ => sources = (0..).zip(&distance).filter(|(_, d)| d.is_finite()).map(|(v, _)| v).collect(),
        }
    }
    Ok(None)
}

/// How far beyond the last circle distances are measured, so that the triangles it crosses are whole.
const BEYOND: f32 = 1.25;

/// How far, in reaches of the core, distances are measured first.
const NEAR: f32 = 1.15;

/// Lengths of the circles around the tip, and the areas within.
struct Circles {
    step: f64,
    length: [f64; STEPS + 2],
    area: [f64; STEPS + 2],
    /// The distance up to which all triangles are in them.
    known: f64,
}

impl Circles {
    /// Circles up to `limit`, of the triangles whose corners are `within` the bound up to which distances were measured.
    fn of(graph: &Graph, distance: &[f32], within: &[u32], places: &[Vec3], limit: f32, bound: f32) -> Self {
        let step = f64::from(limit) / STEPS as f64;
        let (mut length, mut area, mut whole) = ([0.0; STEPS + 2], [0.0; STEPS + 2], [0.0; STEPS + 2]);
        let mut known = f32::INFINITY;
        let key = |v: u32| (distance[v as usize].to_bits(), v);
        for &v in within {
            for &[a, b] in graph.fans(v) {
                // Each triangle once, from its corner nearest to the tip.
                if key(v) > key(a) || key(v) > key(b) {
                    continue;
                }
                let corner = |v: u32| (distance[v as usize], v);
                let [high, middle, low] = in_order([corner(v), corner(a), corner(b)], |a, b| a.0 >= b.0);
                if low.0 > limit {
                    continue;
                }
                if high.0 > bound {
                    known = known.min(low.0);
                    continue;
                }
                let value = [f64::from(high.0), f64::from(middle.0), f64::from(low.0)];
                let place = |v: u32| places[v as usize].as_dvec3();
                let p = [place(high.1), place(middle.1), place(low.1)];
                let size = 0.5 * (p[1] - p[0]).cross(p[2] - p[0]).length();
                let first = (value[2] / step).ceil() as usize;
                let last = (value[0] / step).ceil() as usize;
                for k in first..last.min(STEPS + 1) {
                    let (line, above) = cut(value, p, k as f64 * step);
                    length[k] += line;
                    area[k] += size * (1.0 - above);
                }
                if last <= STEPS {
                    whole[last] += size;
                }
            }
        }
        // A triangle is whole from its last circle on.
        let mut sum = 0.0;
        for (area, whole) in area.iter_mut().zip(whole) {
            sum += whole;
            *area += sum;
        }
        Self { step, length, area, known: f64::from(known) }
    }

    /// The distance from the tip at which the body begins, and whether all that tells it is known.
    fn root(&self, core_reach: f32) -> Option<(f32, bool)> {
        let neck = |k: usize| if self.area[k] > 0.0 { self.length[k] / self.area[k].sqrt() } else { f64::INFINITY };
        let upto = ((f64::from(core_reach) / self.step) as usize).clamp(1, STEPS);
        // Near the tip the circles widen too: the search begins where the border is least for the area.
        let start = (1..=upto).min_by(|&a, &b| neck(a).total_cmp(&neck(b)))?;
        // The slope over a few steps: a single row of vertices does not decide.
        let span = 3;
        let slope = |k: usize| (self.length[k + span] - self.length[k]) / (span as f64 * self.step);
        let at = (start..=STEPS - span).find(|&k| slope(k) > WIDENS)?;
        let known = (at + span).max(upto) as f64 * self.step < self.known;
        Some((((at + 1) as f64 * self.step) as f32, known))
    }
}
