//! `motion.colliders`: capsules in the legs.

use std::sync::Arc;

use glam::Vec3;
use sinew_graph::{Cx, NodeError, Outputs, Result, node};

use crate::data::{Character, Collider, Colliders, Table};
use crate::rig::anatomy::{Anatomy, Limb};

/// What [`colliders`] gives.
#[derive(Debug, Outputs)]
pub struct Found {
    /// A capsule for each part of a limb.
    pub colliders: Colliders,
    /// A row per capsule: its joint, length and radius.
    pub table: Table,
}

/// Parts of a limb shorter than this share of it are no capsules: toes, twist joints.
const LEAST: f32 = 0.08;

/// Puts capsules into the legs of a character, so that a tail does not go through them.
///
/// Legs are told by the skeleton, whatever its joints are called. Each of their long parts, thigh and shin, gets a capsule
/// from joint to joint that is as thick as the skin is there: the median distance of the vertices that follow the joint
/// most and lie beside it.
#[node(id = "motion.colliders", revision = 1)]
pub fn colliders(
    /// The character.
    character: &Character,
    /// How thick the capsules are, as a share of the skin.
    #[param(default = 1.0, range = 0.05..=4.0)]
    thickness: f32,
    /// Also the front legs or arms.
    #[param(default = false)]
    front: bool,
    cx: &Cx,
) -> Result<Found> {
    let anatomy = Anatomy::of(&character.mesh, &character.skeleton, &character.skin);
    let mut found: Vec<(Collider, f32)> = Vec::new();
    for limb in anatomy.limbs.iter().filter(|limb| limb.is_leg() || front) {
        for path in &limb.paths {
            found.extend(parts(character, &anatomy, limb, path));
        }
    }
    if found.is_empty() {
        cx.warn_at("character", "no legs were found: nothing holds a chain off");
    }
    let mut near: Vec<Vec<f32>> = vec![Vec::new(); found.len()];
    let width = character.skin.width.max(1);
    let rows = character.skin.joints.chunks_exact(width).zip(character.skin.weights.chunks_exact(width));
    let mut of_joint = vec![None; character.skeleton.joints.len()];
    found.iter().enumerate().for_each(|(k, (collider, _))| of_joint[usize::from(collider.joint)] = Some(k));
    for (k, (&p, (joints, weights))) in character.mesh.positions.iter().zip(rows).enumerate() {
        if k % (1 << 16) == 0 {
            cx.check()?;
        }
        // The joint that a vertex follows most, if it follows one more than all others together.
        let most = joints.iter().zip(weights).max_by(|a, b| a.1.total_cmp(b.1)).filter(|(_, weight)| **weight > 0.5);
        if let Some(k) = most.and_then(|(&joint, _)| of_joint.get(usize::from(joint)).copied().flatten()) {
            // A tail that hangs on a shin is not the shin: no leg is thicker than long.
            near[k].extend(beside(p, found[k].0.ends).filter(|&distance| distance < 0.5 * found[k].1));
        }
    }
    for ((collider, length), near) in found.iter_mut().zip(&mut near) {
        // Without skin of its own, a limb is an eighth as thick as it is long.
        let middle = near.len() / 2;
        let median =
            if near.is_empty() { *length / 8.0 } else { *near.select_nth_unstable_by(middle, f32::total_cmp).1 };
        collider.radius = median * thickness;
    }
    if let Some((bad, _)) = found.iter().find(|(collider, _)| !collider.radius.is_finite()) {
        return Err(NodeError::new(format!("the skin of joint {:?} is at no finite distance", bad.name))
            .at("character")
            .help("check the positions of the mesh"));
    }
    let all = || found.iter().map(|(collider, _)| collider);
    let table = Table::new("colliders")
        .texts("joint", all().map(|collider| Arc::clone(&collider.name)))
        .numbers("length", "file units", found.iter().map(|(_, length)| f64::from(*length)))
        .numbers("radius", "file units", all().map(|collider| f64::from(collider.radius)));
    Ok(Found { colliders: Colliders { colliders: all().cloned().collect() }, table })
}

/// The long parts of one side of a limb.
fn parts(character: &Character, anatomy: &Anatomy, limb: &Limb, path: &[u16]) -> Vec<(Collider, f32)> {
    let skeleton = &character.skeleton;
    let at = |joint: u16| skeleton.position(usize::from(joint));
    let hip = anatomy.mirror.as_ref().map_or(0, |mirror| limb.hip(skeleton, mirror, path));
    let path = &path[hip..];
    let whole: f32 = path.windows(2).map(|pair| at(pair[0]).distance(at(pair[1]))).sum();
    let part = |pair: &[u16]| {
        let ends = [at(pair[0]), at(pair[1])];
        let length = ends[0].distance(ends[1]);
        let name = Arc::clone(&skeleton.joints[usize::from(pair[0])].name);
        (length > LEAST * whole).then_some((Collider { name, joint: pair[0], ends, radius: 0.0 }, length))
    };
    path.windows(2).filter_map(part).collect()
}

/// How far a point is from a segment that it lies beside, not beyond its ends.
fn beside(p: Vec3, [a, b]: [Vec3; 2]) -> Option<f32> {
    let along = b - a;
    let t = (p - a).dot(along) / along.length_squared();
    (0.0..=1.0).contains(&t).then(|| p.distance(a + along * t))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::sample_character::{Sample, sample_character};

    #[test]
    fn the_legs_of_the_samples_get_a_capsule_for_thigh_and_shin_as_thick_as_their_skin() {
        let cx = Cx::detached();
        for kind in [Sample::Fox, Sample::Rat, Sample::Biped] {
            let character = sample_character(kind, 0.4, &cx).unwrap();
            let found = colliders(&character, 1.0, false, &cx).unwrap().colliders.colliders;
            let height = Anatomy::of(&character.mesh, &character.skeleton, &character.skin).stance.height;
            assert!((4..=8).contains(&found.len()) && found.len().is_multiple_of(2), "{kind:?}: {found:#?}");
            for collider in &found {
                assert!((0.01..0.12).contains(&(collider.radius / height)), "{kind:?}: {collider:?} of {height}");
            }
            let half = found.len() / 2;
            for (left, right) in found[..half].iter().zip(&found[half..]) {
                assert!((left.radius / right.radius - 1.0).abs() < 0.35, "{kind:?}: {left:?} and {right:?}");
            }
            let thick = colliders(&character, 2.0, true, &cx).unwrap().colliders.colliders;
            assert!(thick.len() > found.len() && thick[0].radius == 2.0 * found[0].radius);
        }
    }
}
