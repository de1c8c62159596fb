//! The joints that count as skeleton, and the segments between them (`tail-3d.md` A1).

use std::collections::BTreeSet;

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

/// How far a control rig's root is from all that hangs from it, at least, as a share of the skeleton's size.
const CONTROL_ROOT: f32 = 0.12;

/// The least weight that counts as use.
const USE: f32 = 1e-4;

impl Bones {
    /// Reads which joints are used, and joins loose parts.
    pub fn of(skeleton: &Skeleton, skin: &Skin) -> Self {
        let count = skeleton.joints.len();
        let mut used = used(count, skin);
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
        while let Some(root) = control_root(&used, &parents, &position, size) {
            used[root] = false;
            parents.iter_mut().filter(|parent| **parent == Some(root as u16)).for_each(|parent| *parent = None);
        }

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

/// A root that is no bone although vertices use it: everything that hangs from it is far from it, and at least two of its
/// joints, the feet, are about as near to the ends of other limbs. So control rigs are built, and stray vertices make their
/// root count.
fn control_root(used: &[bool], parents: &[Option<u16>], position: &[Vec3], size: f32) -> Option<usize> {
    let joints = || (0..used.len()).filter(|&k| used[k]);
    let parent = |k: usize| parents[k].map(usize::from);
    let has_child = |k: usize| joints().any(|j| parent(j) == Some(k));
    let distance = |a: usize, b: usize| position[a].distance(position[b]);
    joints().filter(|&root| parent(root).is_none()).find(|&root| {
        let hanging: Vec<usize> = joints().filter(|&k| parent(k) == Some(root)).collect();
        if hanging.iter().any(|&k| distance(k, root) <= CONTROL_ROOT * size) {
            return false;
        }
        // The ends of limbs of several joints below it.
        let ends: Vec<usize> = joints().filter(|&k| !has_child(k) && !hanging.contains(&k) && k != root).collect();
        let continued = |&foot: &usize| {
            let end = ends.iter().copied().min_by(|&a, &b| distance(foot, a).total_cmp(&distance(foot, b)))?;
            (distance(foot, end) < (2.0 * distance(foot, root)).min(ADOPTION * size)).then_some(end)
        };
        let continued: BTreeSet<usize> = hanging.iter().filter(|&&k| !has_child(k)).filter_map(continued).collect();
        continued.len() >= 2
    })
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use glam::Mat4;

    use super::*;
    use crate::data::{Joint, Transform};

    /// Joints by parent and place, each used by one vertex.
    fn bones(joints: &[(Option<u16>, [f32; 3])]) -> Bones {
        let joint = |parent| Joint { name: "".into(), parent, node: None, has_bind: true };
        let skeleton = Skeleton {
            joints: joints.iter().map(|(parent, _)| joint(*parent)).collect(),
            binds: joints.iter().map(|(_, at)| Mat4::from_translation(Vec3::from(*at)).to_cols_array()).collect(),
            node_parents: Arc::from([]),
            node_names: Arc::from([]),
            node_locals: Arc::from([] as [Transform; 0]),
            to_world: Mat4::IDENTITY.to_cols_array(),
        };
        let weights = vec![1.0f32; joints.len()];
        let skin = Skin { width: 1, joints: (0..joints.len() as u16).collect(), weights: weights.into() };
        Bones::of(&skeleton, &skin)
    }

    const ROOT: (Option<u16>, [f32; 3]) = (None, [0.0, 0.0, 0.0]);
    const BODY: [(Option<u16>, [f32; 3]); 6] = [
        (Some(0), [0.0, 1.0, 0.0]),
        (Some(1), [0.0, 1.5, 0.0]),
        (Some(1), [0.1, 0.9, 0.0]),
        (Some(3), [0.1, 0.4, 0.0]),
        (Some(1), [-0.1, 0.9, 0.0]),
        (Some(5), [-0.1, 0.4, 0.0]),
    ];

    #[test]
    fn feet_on_the_root_of_a_control_rig_continue_their_shins() {
        let feet = [(Some(0), [0.1, 0.1, -0.2]), (Some(0), [-0.1, 0.1, -0.2])];
        let bones = bones(&[&[ROOT][..], &BODY, &feet].concat());
        assert!(!bones.used[0], "the root is no bone, though a vertex uses it");
        assert_eq!((bones.parents[7], bones.parents[8], bones.root), (Some(4), Some(6), Some(1)));
    }

    #[test]
    fn a_pelvis_with_limbs_is_a_bone_however_far_they_are() {
        let feet = [(Some(4), [0.1, 0.1, -0.2]), (Some(6), [-0.1, 0.1, -0.2])];
        let bones = bones(&[&[ROOT][..], &BODY, &feet].concat());
        assert_eq!((bones.used[0], bones.root), (true, Some(0)));
        assert_eq!(bones.parents[1], Some(0));
    }
}
