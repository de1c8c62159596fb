//! The plane that a body is mirrored at, told from pairs of alike bones.

use glam::{DMat3, DVec3, Vec3};

use super::Bones;
use crate::data::Skeleton;
use crate::rig::eigen;

/// A mirror plane, and the joints that mirror each other.
#[derive(Clone, Debug, PartialEq)]
pub struct Mirror {
    /// The side-to-side axis, unit length; which side is told elsewhere.
    pub axis: Vec3,
    /// A point on the plane.
    pub centre: Vec3,
    /// Per joint: its mirror image; itself for joints in the plane; `None` otherwise.
    pub image: Vec<Option<u16>>,
}

/// How unlike the bones of a pair may be, as a share of their length.
const UNLIKE: f32 = 0.12;

/// How far from the plane a joint may be and still lie in it, as a share of the skeleton's size.
const FLAT: f32 = 0.025;

/// How many pairs propose a plane.
const PROPOSALS: usize = 48;

/// How much of the skeleton a plane mirrors: how far off it the joints with an image are, less the same for joints without.
fn agreement(points: &[Vec3], flat: f32, axis: Vec3, centre: Vec3) -> f32 {
    points
        .iter()
        .map(|&p| {
            let off = (p - centre).dot(axis);
            if off.abs() <= flat {
                return 0.0;
            }
            let there = p - axis * (2.0 * off);
            if points.iter().any(|q| q.distance_squared(there) <= (2.0 * flat).powi(2)) {
                off.abs()
            } else {
                -off.abs()
            }
        })
        .sum()
}

impl Mirror {
    /// The plane that most of the skeleton agrees on; `None` for a skeleton without pairs.
    pub fn of(skeleton: &Skeleton, bones: &Bones) -> Option<Self> {
        let at = |k: u16| skeleton.position(usize::from(k));
        let count = bones.used.len() as u16;
        let lengths: Vec<f32> =
            (0..count).map(|k| if bones.used[usize::from(k)] { bones.longest(skeleton, k).1 } else { 0.0 }).collect();
        let alike = |a: f32, b: f32| (a - b).abs() <= UNLIKE * a.max(b) + 0.02 * bones.size;
        let mut pairs: Vec<(f64, DVec3, DVec3)> = Vec::new();
        for parent in 0..count {
            let children = &bones.children[usize::from(parent)];
            for (k, &a) in children.iter().enumerate() {
                for &b in &children[k + 1..] {
                    let (la, lb) = (lengths[usize::from(a)], lengths[usize::from(b)]);
                    let apart = at(b) - at(a);
                    let (pa, pb) = (at(a).distance(at(parent)), at(b).distance(at(parent)));
                    if alike(la, lb) && alike(pa, pb) && apart.length() > 0.01 * bones.size {
                        // Long limbs tell the plane better than fingers: they also end far from each other.
                        let ends = [a, b].map(|j| bones.longest(skeleton, j).0.last().map_or(at(j), |&end| at(end)));
                        let weight = f64::from((la + lb) * 0.5 + apart.length());
                        let reach = (ends[1] - ends[0]).as_dvec3();
                        pairs.push((
                            weight * reach.length(),
                            reach.normalize_or_zero(),
                            (ends[0] + ends[1]).as_dvec3() * 0.5,
                        ));
                        pairs.push((
                            weight * f64::from(apart.length()),
                            apart.as_dvec3().normalize(),
                            (at(a) + at(b)).as_dvec3() * 0.5,
                        ));
                    }
                }
            }
        }
        // Each pair proposes a plane; the one that mirrors most of the skeleton wins. The heaviest pairs propose: a limb's, not
        // a finger's.
        pairs.sort_by(|a, b| b.0.total_cmp(&a.0));
        let points: Vec<Vec3> =
            (0..bones.used.len()).filter(|&k| bones.used[k]).map(|k| skeleton.position(k)).collect();
        let mut best: Option<(f32, Vec3, Vec3)> = None;
        for (_, axis, middle) in pairs.iter().take(PROPOSALS) {
            let (axis, middle) = (axis.as_vec3(), middle.as_vec3());
            let score = agreement(&points, FLAT * bones.size, axis, middle);
            if best.is_none_or(|(s, ..)| score > s * 1.001) {
                best = Some((score, axis, middle));
            }
        }
        let (_, axis, centre) = best.filter(|(score, ..)| *score > 0.0)?;
        // Made exact by all the pairs that agree with it.
        let (mut axis, mut centre) = (axis.as_dvec3(), centre.as_dvec3());
        for _ in 0..2 {
            let flat = 2.0 * f64::from(FLAT * bones.size);
            let agrees =
                |pair: &(f64, DVec3, DVec3)| pair.1.dot(axis).abs() > 0.97 && (pair.2 - centre).dot(axis).abs() < flat;
            if !pairs.iter().any(agrees) {
                break;
            }
            let next = dominant(&pairs, agrees)?;
            let next_centre = middle(&pairs, next, agrees);
            (axis, centre) = (next, next_centre);
        }
        let (axis, centre) = (axis.as_vec3(), centre.as_vec3());
        let flat = FLAT * bones.size;
        let reflect = |p: Vec3| p - axis * (2.0 * (p - centre).dot(axis));
        let image = (0..count)
            .map(|k| {
                if !bones.used[usize::from(k)] {
                    return None;
                }
                if (at(k) - centre).dot(axis).abs() <= flat {
                    return Some(k);
                }
                let there = reflect(at(k));
                (0..count)
                    .filter(|&j| j != k && bones.used[usize::from(j)])
                    .map(|j| (at(j).distance(there), j))
                    .min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)))
                    .filter(|&(d, _)| d <= 3.0 * flat)
                    .map(|(_, j)| j)
            })
            .collect();
        Some(Self { axis, centre, image })
    }

    /// How far a point is off the plane, with a sign.
    pub fn off(&self, p: Vec3) -> f32 {
        (p - self.centre).dot(self.axis)
    }

    /// Whether a joint lies in the plane.
    pub fn is_medial(&self, joint: u16) -> bool {
        self.image[usize::from(joint)] == Some(joint)
    }
}

fn dominant(pairs: &[(f64, DVec3, DVec3)], keep: impl Fn(&(f64, DVec3, DVec3)) -> bool) -> Option<DVec3> {
    let mut sum = DMat3::ZERO;
    for (weight, direction, _) in pairs.iter().filter(|pair| keep(pair)) {
        sum += DMat3::from_cols(*direction * direction.x, *direction * direction.y, *direction * direction.z) * *weight;
    }
    let (values, vectors) = eigen::symmetric(sum);
    (values[0] > 0.0).then_some(vectors[0])
}

fn middle(pairs: &[(f64, DVec3, DVec3)], axis: DVec3, keep: impl Fn(&(f64, DVec3, DVec3)) -> bool) -> DVec3 {
    // The weighted median of the middles along the axis: a third of wrong pairs does not move it.
    let mut along: Vec<(f64, f64, DVec3)> =
        pairs.iter().filter(|pair| keep(pair)).map(|pair| (pair.2.dot(axis), pair.0, pair.2)).collect();
    along.sort_by(|a, b| a.0.total_cmp(&b.0));
    let half = along.iter().map(|entry| entry.1).sum::<f64>() * 0.5;
    let mut sum = 0.0;
    for (_, weight, at) in &along {
        sum += weight;
        if sum >= half {
            return *at;
        }
    }
    along.last().map_or(DVec3::ZERO, |entry| entry.2)
}
