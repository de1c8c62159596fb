//! Paired limbs, and which of them the body stands on.

use glam::Vec3;

use super::names::hint;
use super::{Bones, Mirror};
use crate::data::Skeleton;

/// A pair of limbs that mirror each other.
#[derive(Clone, Debug, PartialEq)]
pub struct Limb {
    /// The trunk joint that both hang from.
    pub attach: u16,
    /// The joints of both sides from the trunk outwards, along the longest way.
    pub paths: [Vec<u16>; 2],
    /// What it is for.
    pub place: Place,
    /// How long, from the trunk to the end.
    pub length: f32,
}

/// Which end of the body a limb belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// A leg, or a hind leg.
    Hind,
    /// An arm, a front leg, or a wing in place of one.
    Fore,
    /// Another pair: wings beside arms, long ears with bones.
    Other,
}

/// The least length of a limb, as a share of the skeleton's size.
const LEAST: f32 = 0.22;

impl Limb {
    /// The middle between the first joints of both sides that are fully out to the side: the hips, or the shoulders.
    pub fn root(&self, skeleton: &Skeleton, mirror: &Mirror) -> Vec3 {
        let sides =
            self.paths.each_ref().map(|path| skeleton.position(usize::from(path[self.hip(skeleton, mirror, path)])));
        (sides[0] + sides[1]) * 0.5
    }

    /// The place in `path` of the joint that the limb turns about.
    pub fn hip(&self, skeleton: &Skeleton, mirror: &Mirror, path: &[u16]) -> usize {
        if self.place != Place::Hind {
            return 0;
        }
        let off = |joint: u16| mirror.off(skeleton.position(usize::from(joint))).abs();
        let most = path.iter().map(|&joint| off(joint)).fold(0.0, f32::max);
        // Never the last joint: a limb of one bone turns about its start.
        path.iter().position(|&joint| off(joint) >= 0.75 * most).unwrap_or(0).min(path.len().saturating_sub(2))
    }

    /// The length of the limb itself, without the way from the trunk joint to its first joint.
    pub fn own_length(&self, skeleton: &Skeleton) -> f32 {
        let at = |joint: u16| skeleton.position(usize::from(joint));
        let sides = self.paths.each_ref().map(|path| path.windows(2).map(|w| at(w[0]).distance(at(w[1]))).sum::<f32>());
        (sides[0] + sides[1]) * 0.5
    }

    /// Whether the body stands on it, or on its hind ones.
    pub fn is_leg(&self) -> bool {
        self.place == Place::Hind
    }

    /// The middle between both ends.
    pub fn end(&self, skeleton: &Skeleton) -> Vec3 {
        let ends =
            self.paths.each_ref().map(|path| path.last().map_or(Vec3::ZERO, |&j| skeleton.position(usize::from(j))));
        (ends[0] + ends[1]) * 0.5
    }
}

/// All limb pairs of a skeleton: hind, fore, others; the longer first.
pub fn find(skeleton: &Skeleton, bones: &Bones, mirror: Option<&Mirror>) -> Vec<Limb> {
    let Some(mirror) = mirror else { return Vec::new() };
    let mut limbs: Vec<Limb> = Vec::new();
    for a in 0..bones.used.len() as u16 {
        let Some(b) =
            mirror.image[usize::from(a)].filter(|&b| b != a && mirror.off(skeleton.position(usize::from(a))) > 0.0)
        else {
            continue;
        };
        let first = |joint: u16| bones.parents[usize::from(joint)].is_some_and(|parent| mirror.is_medial(parent));
        if !first(a) || !first(b) {
            continue;
        }
        let Some(attach) = bones.common(a, b) else { continue };
        let paths = [a, b].map(|joint| {
            // A clavicle that starts beside the spine is limb already.
            let mut path: Vec<u16> = bones.ancestors(joint).take_while(|&above| above != attach).collect();
            path.reverse();
            path.extend(&bones.longest(skeleton, joint).0[1..]);
            path
        });
        let length = paths
            .iter()
            .map(|path| {
                let at = |joint: u16| skeleton.position(usize::from(joint));
                at(attach).distance(at(path[0])) + path.windows(2).map(|w| at(w[0]).distance(at(w[1]))).sum::<f32>()
            })
            .fold(f32::MAX, f32::min);
        let nested = limbs.iter().any(|limb| limb.paths.iter().any(|path| path.contains(&attach) || path.contains(&a)));
        if length >= LEAST * bones.size && !nested {
            limbs.push(Limb { attach, paths, place: Place::Other, length });
        }
    }
    place(skeleton, bones, mirror, &mut limbs);
    limbs.sort_by(|a, b| a.place.cmp(&b.place).then(b.length.total_cmp(&a.length)).then(a.paths[0].cmp(&b.paths[0])));
    limbs
}

/// Finds which pair is hind and which fore: hind limbs hang nearer to the root. Lengths and names break ties.
fn place(skeleton: &Skeleton, bones: &Bones, mirror: &Mirror, limbs: &mut [Limb]) {
    let depth = |joint: u16| bones.ancestors(joint).count();
    let hints = |limb: &Limb, what: fn(super::names::Hint) -> bool| {
        let all = limb.paths.iter().flatten();
        let (mut yes, mut of) = (0.0f32, 0.0f32);
        for &joint in all {
            of += 1.0;
            yes += f32::from(u8::from(what(hint(&skeleton.joints[usize::from(joint)].name))));
        }
        yes / of.max(1.0)
    };
    let longest = limbs.iter().map(|limb| limb.length).fold(0.0, f32::max).max(f32::MIN_POSITIVE);
    let alone = |limb: &Limb| {
        let (hind, fore, wing) = (hints(limb, |h| h.hind), hints(limb, |h| h.fore), hints(limb, |h| h.wing));
        // Legs end far from the trunk along the plane, arms in a T-pose do not.
        let along = {
            let reach = limb.end(skeleton) - limb.root(skeleton, mirror);
            reach.length() / limb.length.max(f32::MIN_POSITIVE)
        };
        0.5 * (hind - fore) - 1.5 * wing + 0.5 * along + 0.3 * limb.length / longest
    };
    let mut best: Option<(f32, usize, Option<usize>)> = None;
    for hind in 0..limbs.len() {
        let score = alone(&limbs[hind]);
        let mut consider = |score: f32, fore: Option<usize>| {
            if best.is_none_or(|(s, ..)| score > s) {
                best = Some((score, hind, fore));
            }
        };
        consider(score, None);
        for fore in (0..limbs.len()).filter(|&fore| fore != hind) {
            let (h, f) = (&limbs[hind], &limbs[fore]);
            let order = if h.attach == f.attach {
                // One trunk joint for both: neck and head are the longer row of joints.
                0.4 * (row(skeleton, bones, mirror, h, f) as f32 - row(skeleton, bones, mirror, f, h) as f32)
                    .clamp(-1.0, 1.0)
            } else if bones.hangs_from(f.attach, h.attach) || depth(h.attach) < depth(f.attach) {
                1.0
            } else {
                -1.0
            };
            let fore_hints = 0.5 * (hints(f, |h| h.fore) - hints(f, |h| h.hind)) - 0.3 * hints(f, |h| h.head);
            consider(score + order + fore_hints + 0.3 * f.length / longest + 0.1, Some(fore));
        }
    }
    if let Some((_, hind, fore)) = best {
        // A lone pair that is named a wing, or hangs off a head, carries nobody.
        let lone_wing = fore.is_none() && hints(&limbs[hind], |h| h.wing) > 0.5;
        if !lone_wing {
            limbs[hind].place = Place::Hind;
        }
        if let Some(fore) = fore {
            limbs[fore].place = Place::Fore;
        }
    }
}

/// The longest row of trunk joints that ends beyond limb `b`, seen from limb `a`.
fn row(skeleton: &Skeleton, bones: &Bones, mirror: &Mirror, a: &Limb, b: &Limb) -> usize {
    let (from, to) = (a.root(skeleton, mirror), b.root(skeleton, mirror));
    (0..bones.used.len() as u16)
        .filter(|&j| bones.used[usize::from(j)] && mirror.is_medial(j))
        .filter(|&j| (skeleton.position(usize::from(j)) - to).dot(to - from) > 0.0)
        .map(|j| bones.ancestors(j).take_while(|&above| above != b.attach).count())
        .max()
        .unwrap_or(0)
}
