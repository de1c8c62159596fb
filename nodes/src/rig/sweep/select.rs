//! Which branches of a merge tree are candidates, and at which threshold each is taken.

use glam::Vec3;

use super::{
    MergeTree,
    profile::{Profile, Sample},
};

/// A branch taken as a region.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// The branch.
    pub node: u32,
    /// The threshold that it is taken at.
    pub threshold: f32,
    /// The lowest threshold at which it exists.
    pub lowest: f32,
    /// Whether it sticks out of the body; the others are patches of it, kept for the report.
    pub sticks_out: bool,
}

/// The widest border of what sticks out, as a share of the square root of its area: a flat patch has 3.5, half a sphere 2.5,
/// a stub as long as it is wide 1.8.
const NECK: f64 = 1.7;

/// The least distance of the centroid, as a share of the mean distance of the skin. What wraps around its bones has its
/// centroid near them.
const ASIDE: f64 = 0.5;

/// The least area of a patch worth a line in the report, in square heights.
const PATCH: f64 = 2e-3;

/// Picks the uppermost branches that stick out, and the leaves beside them. `distance` is that of a point to the skeleton, in
/// the unit of the values.
pub fn select(tree: &MergeTree, profile: &Profile, distance: impl Fn(Vec3) -> f32) -> Vec<Candidate> {
    let children = tree.children();
    let sticks_out = |sample: &Sample| {
        sample.neck() <= NECK && sample.centroid().is_some_and(|c| f64::from(distance(c)) >= ASIDE * sample.mean())
    };
    let mut candidates = Vec::new();
    let mut stack: Vec<u32> =
        (0..tree.nodes.len() as u32).rev().filter(|&k| tree.nodes[k as usize].parent.is_none()).collect();
    while let Some(node) = stack.pop() {
        let life = profile.life(tree, node);
        // Where the border is least for the area; of borders as good as equal, the lowest.
        let best = life.clone().rev().fold(None, |best: Option<(f64, usize)>, level| {
            let neck = profile.sample(node, level).neck();
            if best.is_none_or(|(least, _)| neck < least - 1e-6) { Some((neck, level)) } else { best }
        });
        if let Some((_, level)) = best {
            let sample = profile.sample(node, level);
            let (threshold, lowest) = (profile.levels[level], profile.levels[life.end - 1]);
            if sticks_out(sample) {
                candidates.push(Candidate { node, threshold, lowest, sticks_out: true });
                continue;
            }
            if children[node as usize].is_empty() && sample.area >= PATCH {
                candidates.push(Candidate { node, threshold, lowest, sticks_out: false });
            }
        }
        stack.extend(children[node as usize].iter().rev());
    }
    candidates
}
