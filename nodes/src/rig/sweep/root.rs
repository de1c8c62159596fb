//! Follows an appendage along its skin from the tip to where it widens into the body.
//!
//! A threshold on the skeleton distance cuts an appendage off well before its root, because the root is near the body's bones.
//! The circles of equal distance from the tip do not: along a tail they are as long as the tail is round, and where it meets
//! the body they grow by several times their step. That is the root.

use glam::Vec3;
use sinew_graph::{Cx, Result};

use super::excerpt::Excerpt;
use super::graph::{Graph, marked};
use super::profile::{cut, in_order};
use crate::rig::chain::geodesic::spread;

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
pub fn grow(triangles: &[[u32; 3]], places: &[Vec3], core: &[u32], spill: &[u32], cx: &Cx) -> Result<Option<Vec<u32>>> {
    let branch = Excerpt::of(places.len(), spill.iter().copied(), triangles);
    let Excerpt { number, vertices, own, graph } = &branch;
    let at: Vec<Vec3> = vertices.iter().map(|&v| places[v as usize]).collect();
    let place = |v: u32| at[v as usize];
    let core: Vec<u32> = core.iter().map(|&v| number[v as usize]).collect();
    // The tip is what is furthest from the ring around the core.
    let members = marked(vertices.len(), &core);
    let mut distance = vec![f32::INFINITY; vertices.len()];
    let mut rim = Vec::new();
    for &v in &core {
        let ring = graph.neighbours(v).iter().filter(|&&u| !members[u as usize]);
        let least = ring.map(|&u| place(u).distance(place(v))).fold(f32::INFINITY, f32::min);
        if least.is_finite() {
            distance[v as usize] = least;
            rim.push(v);
        }
    }
    spread(graph, place, &mut distance, rim.into_iter(), f32::INFINITY, |v| members[v as usize], cx)?;
    let reached = core.iter().copied().filter(|&v| distance[v as usize].is_finite());
    let farther = |&a: &u32, &b: &u32| distance[a as usize].total_cmp(&distance[b as usize]).then(b.cmp(&a));
    let Some(tip) = reached.max_by(farther) else { return Ok(None) };
    drop(members);
    // First within the branch, for how far it reaches; then on from its border over all skin.
    distance.fill(f32::INFINITY);
    distance[tip as usize] = 0.0;
    spread(graph, place, &mut distance, [tip].into_iter(), f32::INFINITY, |v| v < *own, cx)?;
    let reach = |of: &mut dyn Iterator<Item = u32>| {
        of.map(|v| distance[v as usize]).filter(|d| d.is_finite()).fold(0.0, f32::max)
    };
    let core_reach = reach(&mut core.iter().copied());
    let limit = (core_reach * FURTHER).max(reach(&mut (0..*own)));
    let known = || (0..*own).filter(|&v| distance[v as usize].is_finite());
    let border = known().filter(|&v| v == tip || graph.neighbours(v).iter().any(|u| u >= own));
    let border: Vec<u32> = border.map(|v| vertices[v as usize]).collect();
    let known: Vec<(u32, f32)> = known().map(|v| (vertices[v as usize], distance[v as usize])).collect();
    let tip = place(tip);
    drop((branch, at, distance));
    // A root is seldom far beyond the core: only where it is, distances are measured all the way.
    for bound in [core_reach * NEAR, limit * BEYOND] {
        // No way is shorter than the straight one.
        let radius = bound * ROUNDING;
        let near = |v: &u32| places[*v as usize].distance_squared(tip) <= radius * radius;
        let disc = Excerpt::of(places.len(), (0..places.len() as u32).filter(near), triangles);
        let Excerpt { number, vertices, own, graph } = &disc;
        let at: Vec<Vec3> = vertices.iter().map(|&v| places[v as usize]).collect();
        let place = |v: u32| at[v as usize];
        let mut distance = vec![f32::INFINITY; vertices.len()];
        for &(v, d) in known.iter().filter(|(v, _)| number[*v as usize] < *own) {
            distance[number[v as usize] as usize] = d;
        }
        let border = border.iter().map(|&v| number[v as usize]).filter(|v| v < own);
        spread(graph, place, &mut distance, border, bound, |v| v < *own, cx)?;
        let within: Vec<u32> = (0..*own).filter(|&v| distance[v as usize] <= bound).collect();
        let circles = Circles::of(graph, &distance, &within, place, limit, bound);
        if let Some((root, known)) = circles.root(core_reach)
            && (known || bound >= limit)
        {
            let inside = within.into_iter().filter(|&v| distance[v as usize] <= root);
            return Ok(Some(inside.map(|v| vertices[v as usize]).collect()));
        }
    }
    Ok(None)
}

/// How much shorter than the straight way the sum of the lengths of a way may come out.
const ROUNDING: f32 = 1.01;

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
    fn of(
        graph: &Graph,
        distance: &[f32],
        within: &[u32],
        place: impl Fn(u32) -> Vec3,
        limit: f32,
        bound: f32,
    ) -> Self {
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
                let p = [place(high.1).as_dvec3(), place(middle.1).as_dvec3(), place(low.1).as_dvec3()];
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
