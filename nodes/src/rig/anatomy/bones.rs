//! The joints that count as skeleton, and the segments between them (`tail-3d.md` A1).

use glam::Vec3;

use crate::data::{Skeleton, Skin};

/// The skeleton as far as it carries skin.
///
/// Joints that no vertex uses (targets of inverse kinematics, pole helpers, roots on the floor) do not count; one between
/// used joints passes its parent on. A used joint that hangs off the rest (feet on a control rig's root) continues the
/// nearest end of the rest, as the body does.
#[derive(Clone, Debug, PartialEq)]
pub struct Bones {
    /// Per joint: whether a vertex uses it.
    pub used: Vec<bool>,
    /// Per joint: the used joint it hangs from. `None` for the root and for joints that do not count.
    pub parents: Vec<Option<u16>>,
    /// Per joint: whether its parent was found by place, not by the file.
    pub adopted: Vec<bool>,
    /// Per joint: the used joints that hang from it.
    pub children: Vec<Vec<u16>>,
    /// The root.
    pub root: Option<u16>,
    /// The extent of the used joints: the diagonal of their bounding box.
    pub size: f32,
}

/// A stretch of bone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Segment {
    /// Where it starts.
    pub a: Vec3,
    /// Where it ends.
    pub b: Vec3,
    /// The joint that moves it.
    pub joint: u16,
}

/// How far a loose joint may be from the end that it continues, as a share of the skeleton's size.
const ADOPTION: f32 = 0.35;

/// How far above the pelvis a joint may be and still be body, as a share of the skeleton's size.
const FAR_ROOT: f32 = 0.25;

/// The least weight that counts as use.
const USE: f32 = 1e-4;

impl Bones {
    /// Reads which joints are used, and joins loose parts.
    pub fn of(skeleton: &Skeleton, skin: &Skin) -> Self {
        let count = skeleton.joints.len();
        let used = used(count, skin);
        let mut parents: Vec<Option<u16>> = (0..count)
            .map(|k| {
                let mut at = skeleton.joints[k].parent.filter(|_| used[k]);
                // A broken file may hold a cycle of parents: the walk ends all the same.
                for _ in 0..count {
                    match at {
                        Some(p) if !used[usize::from(p)] => at = skeleton.joints[usize::from(p)].parent,
                        _ => break,
                    }
                }
                at.filter(|&p| used[usize::from(p)])
            })
            .collect();
        let position: Vec<Vec3> = (0..count).map(|k| skeleton.position(k)).collect();
        let mut bounds: Option<(Vec3, Vec3)> = None;
        for k in (0..count).filter(|&k| used[k]) {
            let p = position[k];
            bounds = Some(bounds.map_or((p, p), |(lo, hi)| (lo.min(p), hi.max(p))));
        }
        let size = bounds.map_or(0.0, |(lo, hi)| (hi - lo).length());

        let tops = tops(&used, &parents);
        let mut weight = vec![0usize; count];
        for k in (0..count).filter(|&k| used[k]) {
            weight[usize::from(tops[k])] += 1;
        }
        let root = (0..count).filter(|&k| weight[k] > 0).max_by_key(|&k| (weight[k], count - k)).map(|k| k as u16);
        let mut adopted = vec![false; count];
        if let Some(root) = root {
            let has_child: Vec<bool> = {
                let mut has = vec![false; count];
                parents.iter().flatten().for_each(|&p| has[usize::from(p)] = true);
                has
            };
            for loose in (0..count).filter(|&k| weight[k] > 0 && k != usize::from(root)) {
                // Ends first: a foot continues a shin, not the pelvis that may be as near.
                let nearest = (0..count)
                    .filter(|&k| used[k] && tops[k] == root)
                    .map(|k| {
                        let d = position[k].distance(position[loose]) * if has_child[k] { 1.25 } else { 1.0 };
                        (d, k)
                    })
                    .min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
                if let Some((_, k)) = nearest.filter(|(distance, _)| *distance <= ADOPTION * size) {
                    parents[loose] = Some(k as u16);
                    adopted[loose] = true;
                }
            }
        }
        let mut children = vec![Vec::new(); count];
        for (k, parent) in parents.iter().enumerate() {
            if let Some(parent) = parent {
                children[usize::from(*parent)].push(k as u16);
            }
        }
        Self { used, parents, adopted, children, root, size }
    }

    /// Takes joints above `pelvis` that are far from it out of the skeleton: a root on the floor that a few stray vertices use
    /// is no bone. Tells whether there was any.
    pub(super) fn drop_far_roots(&mut self, skeleton: &Skeleton, pelvis: u16) -> bool {
        let at = |joint: u16| skeleton.position(usize::from(joint));
        let above: Vec<u16> = self.ancestors(pelvis).collect();
        let Some(far) = above.iter().position(|&joint| at(joint).distance(at(pelvis)) > FAR_ROOT * self.size) else {
            return false;
        };
        for &joint in &above[far..] {
            self.used[usize::from(joint)] = false;
            for child in std::mem::take(&mut self.children[usize::from(joint)]) {
                self.parents[usize::from(child)] = None;
            }
            self.parents[usize::from(joint)] = None;
        }
        self.root = Some(above[far - 1]);
        true
    }

    /// The joints from `joint` up to the root, itself first.
    pub fn ancestors(&self, joint: u16) -> impl Iterator<Item = u16> + '_ {
        let mut at = Some(joint);
        let mut left = self.used.len();
        std::iter::from_fn(move || {
            let here = at?;
            at = if left == 0 { None } else { self.parents[usize::from(here)] };
            left = left.saturating_sub(1);
            Some(here)
        })
    }

    /// The lowest joint that two joints both hang from.
    pub fn common(&self, a: u16, b: u16) -> Option<u16> {
        let above: Vec<u16> = self.ancestors(a).collect();
        self.ancestors(b).find(|joint| above.contains(joint))
    }

    /// Whether `joint` is `above` or hangs from it.
    pub fn hangs_from(&self, joint: u16, above: u16) -> bool {
        self.ancestors(joint).any(|a| a == above)
    }

    /// The longest way down from a joint, itself first: the joints to its furthest end, and the length.
    pub fn longest(&self, skeleton: &Skeleton, joint: u16) -> (Vec<u16>, f32) {
        let mut best = (vec![joint], 0.0);
        let mut stack = vec![(joint, 0.0, vec![joint])];
        while let Some((at, length, path)) = stack.pop() {
            if length > best.1 {
                best = (path.clone(), length);
            }
            if path.len() > self.used.len() {
                continue;
            }
            for &child in self.children[usize::from(at)].iter().rev() {
                let step = skeleton.position(usize::from(at)).distance(skeleton.position(usize::from(child)));
                let mut path = path.clone();
                path.push(child);
                stack.push((child, length + step, path));
            }
        }
        best
    }

    /// All segments: one per bone, and beyond each leaf a stub of `stub` times its incoming bone. A used joint without any
    /// bone is a point.
    pub fn segments(&self, skeleton: &Skeleton, stub: f32) -> Vec<Segment> {
        let at = |k: u16| skeleton.position(usize::from(k));
        let mut segments = Vec::new();
        for k in (0..self.used.len() as u16).filter(|&k| self.used[usize::from(k)]) {
            let (b, parent) = (at(k), self.parents[usize::from(k)]);
            if let Some(parent) = parent {
                segments.push(Segment { a: at(parent), b, joint: parent });
            }
            if self.children[usize::from(k)].is_empty() {
                let end = parent.map_or(b, |parent| b + (b - at(parent)) * stub);
                segments.push(Segment { a: b, b: end, joint: k });
            }
        }
        segments
    }
}

/// Per joint: whether a vertex uses it.
fn used(count: usize, skin: &Skin) -> Vec<bool> {
    let mut used = vec![false; count];
    match skin.width {
        4 => use_rows(skin.joints.as_chunks::<4>().0, skin.weights.as_chunks::<4>().0, &mut used),
        8 => use_rows(skin.joints.as_chunks::<8>().0, skin.weights.as_chunks::<8>().0, &mut used),
        _ => use_rows(skin.joints.as_chunks::<1>().0, skin.weights.as_chunks::<1>().0, &mut used),
    }
    used
}

fn use_rows<const W: usize>(joints: &[[u16; W]], weights: &[[f32; W]], used: &mut [bool]) {
    let mut before = [0; W];
    let mut known = false;
    for (joints, weights) in joints.iter().zip(weights) {
        // Neighbours often have the same joints: those are told already.
        if known && *joints == before {
            continue;
        }
        known = true;
        for (&joint, &weight) in joints.iter().zip(weights) {
            let used = &mut used[usize::from(joint)];
            *used |= weight > USE;
            known &= *used;
        }
        before = *joints;
    }
}

/// The uppermost used joint of each joint.
fn tops(used: &[bool], parents: &[Option<u16>]) -> Vec<u16> {
    (0..used.len())
        .map(|k| {
            let mut at = k as u16;
            for _ in 0..used.len() {
                match parents[usize::from(at)] {
                    Some(p) => at = p,
                    None => break,
                }
            }
            at
        })
        .collect()
}
