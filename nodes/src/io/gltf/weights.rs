//! Reads joints and weights of a primitive, and mends what real files have: NaN, negative and missing weights, one joint
//! twice in a vertex, sums other than 1. What was mended is counted and told; rounding and quantisation are no defects.

use std::fmt;

use glam::Vec3;
use sinew_graph::{Cx, NodeError, Result};

use super::accessor::{Accessors, Component, bad};
use super::document::Primitive;

/// Influences that a vertex may have in a file: JOINTS_0 to JOINTS_7.
const SETS: usize = 8;

/// Weights of a primitive over the joints of its skin: falling, summing to 1.
#[derive(Debug, Default)]
pub struct Influences {
    /// Influences per vertex.
    pub width: usize,
    /// Joints, by their number in the skin.
    pub joints: Vec<u16>,
    /// Weights.
    pub weights: Vec<f32>,
}

impl Influences {
    /// The most influences that any vertex has.
    pub fn needed(&self) -> usize {
        let used = |row: &[f32]| row.iter().take_while(|&&weight| weight > 0.0).count();
        self.weights.chunks_exact(self.width.max(1)).map(used).max().unwrap_or(0)
    }
}

/// How many vertices had which defect, and the first of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Defects {
    /// Vertices with weights that are not numbers.
    pub not_finite: usize,
    /// Vertices with negative weights.
    pub negative: usize,
    /// Vertices with a joint twice.
    pub twice: usize,
    /// Vertices whose weights do not sum to 1.
    pub sum: usize,
    /// Vertices without any weight.
    pub empty: usize,
    /// The first vertex with any.
    pub first: Option<usize>,
}

impl Defects {
    /// Whether there is none.
    pub fn none(&self) -> bool {
        self.first.is_none()
    }
}

impl fmt::Display for Defects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            (self.not_finite, "weights that are not numbers (taken as 0)"),
            (self.negative, "negative weights (taken as 0)"),
            (self.twice, "a joint twice (merged)"),
            (self.sum, "weights that do not sum to 1 (scaled)"),
            (self.empty, "no weight (taken from the nearest vertex)"),
        ];
        let told = parts.iter().filter(|(count, _)| *count > 0);
        let told: Vec<String> = told.map(|(count, what)| format!("{count} with {what}")).collect();
        f.write_str(&told.join(", "))
    }
}

/// Reads the weights of a primitive with this many vertices over a skin with this many joints; `None` if it has none.
pub fn read(
    accessors: &Accessors,
    primitive: &Primitive,
    positions: &[Vec3],
    (skin, skin_joints): (usize, usize),
    path: &str,
    cx: &Cx,
) -> Result<Option<(Influences, Defects)>> {
    let mut sets = Vec::new();
    let mut tolerance = 1e-3f32;
    for set in 0.. {
        let (joints, weights) = (format!("JOINTS_{set}"), format!("WEIGHTS_{set}"));
        let at = |name: &str| format!("{path}.attributes.{name}");
        match (primitive.attributes.get(&joints), primitive.attributes.get(&weights)) {
            (None, None) => break,
            (Some(_), None) => return Err(bad(&at(&joints), format!("there is no {weights} to it"))),
            (None, Some(_)) => return Err(bad(&at(&weights), format!("there is no {joints} to it"))),
            _ if set == SETS => {
                return Err(bad(&at(&joints), format!("more than {} influences are not read", 4 * SETS)));
            }
            (Some(&j), Some(&w)) => {
                let kind = Component::from_gl(accessors.accessor(w, &at(&weights))?.component_type);
                if matches!(kind, Some(Component::U8 | Component::I8)) {
                    // Each of the weights is rounded to a 255th on its own.
                    tolerance = (set + 1) as f32 * 4.0 / 255.0;
                }
                let j = accessors.integers::<4>(j, &at(&joints))?;
                let w = accessors.floats::<4>(w, &at(&weights))?;
                for (name, length) in [(&joints, j.len()), (&weights, w.len())] {
                    if length != positions.len() {
                        let what = format!("{length} entries, but POSITION has {}", positions.len());
                        return Err(bad(&at(name), what));
                    }
                }
                sets.push((j, w));
            }
        }
    }
    if sets.is_empty() {
        return Ok(None);
    }
    let width = 4 * sets.len();
    let count = positions.len();
    let mut out = Influences { width, joints: vec![0; count * width], weights: vec![0.0; count * width] };
    let mut defects = Defects::default();
    let mut empty = Vec::new();
    let mut row: Vec<(u16, f32)> = Vec::with_capacity(width);
    for v in 0..count {
        if v % 4096 == 0 {
            cx.check()?;
        }
        row.clear();
        let (mut not_finite, mut negative, mut twice) = (false, false, false);
        for (set, (joints, weights)) in sets.iter().enumerate() {
            for (&joint, &weight) in joints[v].iter().zip(&weights[v]) {
                not_finite |= !weight.is_finite();
                negative |= weight < 0.0;
                if !(weight.is_finite() && weight > 0.0) {
                    continue;
                }
                let Some(joint) = u16::try_from(joint).ok().filter(|&j| usize::from(j) < skin_joints) else {
                    let path = format!("{path}.attributes.JOINTS_{set}");
                    return Err(bad(
                        &path,
                        format!("vertex {v} names joint {joint}, but skins[{skin}] has {skin_joints}"),
                    ));
                };
                match row.iter_mut().find(|(j, _)| *j == joint) {
                    Some((_, sum)) => {
                        // Two huge weights stay a number.
                        *sum = (*sum + weight).min(f32::MAX);
                        twice = true;
                    }
                    None => row.push((joint, weight)),
                }
            }
        }
        let sum: f32 = row.iter().map(|(_, weight)| weight).sum();
        let off = !row.is_empty() && ((sum - 1.0).abs() > tolerance || !sum.is_finite());
        defects.not_finite += usize::from(not_finite);
        defects.negative += usize::from(negative);
        defects.twice += usize::from(twice);
        defects.sum += usize::from(off && !not_finite && !negative);
        defects.empty += usize::from(row.is_empty());
        if (not_finite || negative || twice || off || row.is_empty()) && defects.first.is_none() {
            defects.first = Some(v);
        }
        if row.is_empty() {
            empty.push(v);
            continue;
        }
        row.sort_by(|a, b| b.1.total_cmp(&a.1));
        // Scaled by the largest first, so that no sum overflows.
        let largest = if sum.is_finite() && sum > f32::MIN_POSITIVE { 1.0 } else { row[0].1 };
        let sum: f32 = row.iter().map(|(_, weight)| weight / largest).sum();
        let exact = (sum - 1.0).abs() < 1e-6;
        for (k, &(joint, weight)) in row.iter().enumerate() {
            out.joints[v * width + k] = joint;
            out.weights[v * width + k] = if exact { weight / largest } else { weight / largest / sum };
        }
    }
    fill(&mut out, &empty, positions, &sets[0].0, skin_joints, cx)?;
    Ok(Some((out, defects)))
}

/// Gives vertices without weights those of the nearest vertex that has some; where none has, all goes to the first joint
/// that the vertex names (as renderers do), or to the first of the skin.
fn fill(
    out: &mut Influences,
    empty: &[usize],
    positions: &[Vec3],
    named: &[[u32; 4]],
    skin_joints: usize,
    cx: &Cx,
) -> Result<()> {
    if empty.is_empty() {
        return Ok(());
    }
    if skin_joints == 0 {
        return Err(NodeError::new("the skin has no joints").help("rig the model again"));
    }
    let width = out.width;
    let mut donors: Vec<usize> = (0..positions.len()).filter(|&v| out.weights[v * width] > 0.0).collect();
    donors.sort_by(|&a, &b| positions[a].x.total_cmp(&positions[b].x).then(a.cmp(&b)));
    for (n, &v) in empty.iter().enumerate() {
        if n % 64 == 0 {
            cx.check()?;
        }
        match nearest(&donors, positions, positions[v]) {
            Some(donor) => {
                out.joints.copy_within(donor * width..(donor + 1) * width, v * width);
                out.weights.copy_within(donor * width..(donor + 1) * width, v * width);
            }
            None => {
                let first = u16::try_from(named[v][0]).ok().filter(|&j| usize::from(j) < skin_joints);
                out.joints[v * width] = first.unwrap_or(0);
                out.weights[v * width] = 1.0;
            }
        }
    }
    Ok(())
}

/// The donor nearest to a point; donors are sorted along x, and equals go to the lower number.
fn nearest(donors: &[usize], positions: &[Vec3], point: Vec3) -> Option<usize> {
    let start = donors.partition_point(|&d| positions[d].x < point.x);
    let mut best: Option<(f32, usize)> = None;
    let (mut up, mut down) = (start, start);
    loop {
        let reach = best.map_or(f32::INFINITY, |(d, _)| d);
        let mut moved = false;
        let look = |donor: usize, best: &mut Option<(f32, usize)>| {
            let candidate = (positions[donor].distance_squared(point), donor);
            if best.is_none_or(|b| candidate.0 < b.0 || (candidate.0 == b.0 && candidate.1 < b.1)) {
                *best = Some(candidate);
            }
        };
        if let Some(&donor) = donors.get(up).filter(|&&d| (positions[d].x - point.x).powi(2) <= reach) {
            look(donor, &mut best);
            up += 1;
            moved = true;
        }
        if let Some(&donor) =
            down.checked_sub(1).and_then(|k| donors.get(k)).filter(|&&d| (positions[d].x - point.x).powi(2) <= reach)
        {
            look(donor, &mut best);
            down -= 1;
            moved = true;
        }
        if !moved {
            return best.map(|(_, donor)| donor);
        }
    }
}
