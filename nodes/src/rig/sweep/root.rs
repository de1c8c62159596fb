//! Follows an appendage along its skin from the tip to where it widens into the body.
//!
//! A threshold on the skeleton distance cuts an appendage off well before its root, because the root is near the body's bones.
//! The circles of equal distance from the tip do not: along a tail they are as long as the tail is round, and where it meets
//! the body they grow by several times their step. That is the root.

use glam::Vec3;
use sinew_graph::{Cx, Result};

use super::graph::{Graph, marked};
use super::profile::cut;

/// By how much the circle grows per step of distance where the body begins. A circle on a plane grows by 6.3, one on a cone of
/// half the angle of a pencil's tip by 0.6. Over a dozen animals this is where the riggers' own tails begin, or just after.
const WIDENS: f64 = 2.3;

/// Circles that are measured.
const STEPS: usize = 160;

/// How much further than the core reaches the root may be.
const FURTHER: f32 = 1.3;

/// The region from the tip to the root, rising; `None` if it nowhere widens into a body within reach.
///
/// `core` is part of the appendage (rising), `spill` all of the branch at its lowest threshold, which may lie on the body in
/// part (rising).
pub fn grow(graph: &Graph, places: &[Vec3], core: &[u32], spill: &[u32], cx: &Cx) -> Result<Option<Vec<u32>>> {
    let positions = |v: u32| places[v as usize];
    let members = marked(places.len(), core);
    let inside = |v: u32| members[v as usize];
    let mut ring: Vec<u32> =
        core.iter().flat_map(|&v| graph.neighbours(v).iter().copied()).filter(|&v| !inside(v)).collect();
    ring.sort_unstable();
    ring.dedup();
    if ring.is_empty() {
        return Ok(None);
    }
    let from_ring = graph.distances(positions, &ring, f32::INFINITY, inside, cx)?;
    let Some(tip) = core
        .iter()
        .copied()
        .filter(|&v| from_ring[v as usize].is_finite())
        .max_by(|&a, &b| from_ring[a as usize].total_cmp(&from_ring[b as usize]).then(b.cmp(&a)))
    else {
        return Ok(None);
    };
    let spilt = marked(places.len(), spill);
    let nearby = graph.distances(positions, &[tip], f32::INFINITY, |v| spilt[v as usize], cx)?;
    let reach = |of: &[u32]| of.iter().map(|&v| nearby[v as usize]).filter(|d| d.is_finite()).fold(0.0, f32::max);
    let core_reach = reach(core);
    let limit = (core_reach * FURTHER).max(reach(spill));
    let distance = graph.distances(positions, &[tip], limit * BEYOND, |_| true, cx)?;
    let within: Vec<u32> = (0..distance.len() as u32).filter(|&v| distance[v as usize].is_finite()).collect();
    let circles = Circles::of(graph, &distance, &within, positions, limit);
    let Some(root) = circles.root(core_reach) else { return Ok(None) };
    Ok(Some(within.into_iter().filter(|&v| distance[v as usize] <= root).collect()))
}

/// How far beyond the last circle distances are measured, so that the triangles it crosses are whole.
const BEYOND: f32 = 1.25;

/// Lengths of the circles around the tip, and the areas within.
struct Circles {
    step: f64,
    length: Vec<f64>,
    area: Vec<f64>,
}

impl Circles {
    fn of(graph: &Graph, distance: &[f32], within: &[u32], positions: impl Fn(u32) -> Vec3, limit: f32) -> Self {
        let step = f64::from(limit) / STEPS as f64;
        let (mut length, mut area) = (vec![0.0; STEPS + 2], vec![0.0; STEPS + 2]);
        let key = |v: u32| (distance[v as usize].to_bits(), v);
        for &v in within {
            for [a, b] in graph.fans(v) {
                // Each triangle once, from its corner nearest to the tip.
                if key(v) > key(a) || key(v) > key(b) {
                    continue;
                }
                let mut corners = [v, a, b].map(|v| (distance[v as usize], v));
                corners.sort_by(|a, b| b.0.total_cmp(&a.0));
                if corners[2].0 > limit || !corners[0].0.is_finite() {
                    continue;
                }
                let value = corners.map(|c| f64::from(c.0));
                let p = corners.map(|c| positions(c.1).as_dvec3());
                let whole = 0.5 * (p[1] - p[0]).cross(p[2] - p[0]).length();
                let first = (value[2] / step).ceil() as usize;
                let last = (value[0] / step).ceil() as usize;
                for k in first..last.min(STEPS + 1) {
                    let (line, above) = cut(value, p, k as f64 * step);
                    length[k] += line;
                    area[k] += whole * (1.0 - above);
                }
                if last <= STEPS {
                    area[last] += whole;
                    // Whole from here on: added up below.
                    for cell in &mut area[last + 1..=STEPS] {
                        *cell += whole;
                    }
                }
            }
        }
        Self { step, length, area }
    }

    /// The distance from the tip at which the body begins.
    fn root(&self, core_reach: f32) -> Option<f32> {
        let neck = |k: usize| if self.area[k] > 0.0 { self.length[k] / self.area[k].sqrt() } else { f64::INFINITY };
        let upto = ((f64::from(core_reach) / self.step) as usize).clamp(1, STEPS);
        // Near the tip the circles widen too: the search begins where the border is least for the area.
        let start = (1..=upto).min_by(|&a, &b| neck(a).total_cmp(&neck(b)))?;
        // The slope over a few steps: a single row of vertices does not decide.
        let span = 3;
        let slope = |k: usize| (self.length[k + span] - self.length[k]) / (span as f64 * self.step);
        let at = (start..=STEPS - span).find(|&k| slope(k) > WIDENS)?;
        Some(((at + 1) as f64 * self.step) as f32)
    }
}
