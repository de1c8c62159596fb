//! Which branches of a merge tree are candidates, and at which threshold each is taken.

use glam::Vec3;

use crate::rig::measures::NECK;

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

/// The least distance of the centroid, as a share of the mean distance of the skin. What wraps around its bones has its
/// centroid near them.
const ASIDE: f64 = 0.5;

/// The largest share of the whole skin that one appendage may be. What is more is a body, however thick.
pub const LARGEST: f64 = 0.4;

/// The least area of a patch worth a line in the report, in square heights.
const PATCH: f64 = 2e-3;

/// Picks the uppermost branches that stick out, and the leaves beside them. `distance` is that of a point to the skeleton, in
/// the unit of the values; `skin` is the area of all skin.
pub fn select(tree: &MergeTree, profile: &Profile, skin: f64, distance: impl Fn(Vec3) -> f32) -> Vec<Candidate> {
    let children = tree.children();
    let sticks_out = |sample: &Sample| {
        sample.area <= LARGEST * skin
            && sample.neck() <= f64::from(NECK)
            && sample.centroid().is_some_and(|c| f64::from(distance(c)) >= ASIDE * sample.mean())
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
