//! Follows an appendage along its skin from the tip to where it widens into the body.
//!
//! A threshold on the skeleton distance cuts an appendage off well before its root, because the root is near the body's bones.
//! The circles of equal distance from the tip do not: along a tail they are as long as the tail is round, and where it meets
//! the body they grow by several times their step. That is the root.

use std::collections::BTreeSet;

use glam::Vec3;
use sinew_graph::{Cx, Result};

use super::graph::Graph;
use super::profile::cut;

/// By how much the circle grows per step of distance where the body begins. A circle on a plane grows by 6.3, one on a cone of
/// half the angle of a pencil's tip by 0.6.
const WIDENS: f64 = 2.0;

/// Circles that are measured.
const STEPS: usize = 160;

/// How much further than the core reaches the root may be.
const FURTHER: f32 = 1.3;

/// The region from the tip to the root, rising; `None` if it nowhere widens into a body within reach.
///
/// `core` is part of the appendage (rising), `reach_from` a larger part of it that may spill onto the body.
pub fn grow(
    graph: &Graph,
    positions: &dyn Fn(u32) -> Vec3,
    triangles: &[[u32; 3]],
    core: &[u32],
    spill: &[u32],
    cx: &Cx,
) -> Result<Option<Vec<u32>>> {
    let inside: BTreeSet<u32> = core.iter().copied().collect();
    let mut ring: Vec<u32> =
        core.iter().flat_map(|&v| graph.neighbours(v).iter().copied()).filter(|v| !inside.contains(v)).collect();
    ring.sort_unstable();
    ring.dedup();
    if ring.is_empty() {
        return Ok(None);
    }
    let from_ring = graph.distances(positions, &ring, f32::INFINITY, |v| inside.contains(&v), cx)?;
    // The tip: the furthest vertex. Among vertices that are as far, the mean decides, not their order.
    let Some(tip) = core
        .iter()
        .copied()
        .filter(|&v| from_ring[v as usize].is_finite())
        .max_by(|&a, &b| from_ring[a as usize].total_cmp(&from_ring[b as usize]).then(b.cmp(&a)))
    else {
        return Ok(None);
    };
    let everywhere = graph.distances(positions, &[tip], f32::INFINITY, |_| true, cx)?;
    let reach = |of: &[u32]| of.iter().map(|&v| everywhere[v as usize]).filter(|d| d.is_finite()).fold(0.0, f32::max);
    let core_reach = reach(core);
    let limit = (core_reach * FURTHER).max(reach(spill));
    let circles = Circles::of(&everywhere, positions, triangles, limit);
    let Some(root) = circles.root(core_reach) else { return Ok(None) };
    let grown = (0..everywhere.len() as u32).filter(|&v| everywhere[v as usize] <= root).collect();
    Ok(Some(grown))
}

/// Lengths of the circles around the tip, and the areas within.
struct Circles {
    step: f64,
    length: Vec<f64>,
    area: Vec<f64>,
}

impl Circles {
    fn of(distance: &[f32], positions: &dyn Fn(u32) -> Vec3, triangles: &[[u32; 3]], limit: f32) -> Self {
        let step = f64::from(limit) / STEPS as f64;
        let (mut length, mut area) = (vec![0.0; STEPS + 2], vec![0.0; STEPS + 2]);
        for t in triangles {
            let mut corners = t.map(|v| (distance[v as usize], v));
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
