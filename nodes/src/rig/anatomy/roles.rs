//! What each joint is: pelvis, spine, head, thigh …

use glam::Vec3;

use super::limbs::{Limb, Place};
use super::names::hint;
use super::{Bones, Mirror};
use crate::data::Skeleton;

/// What a joint is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Carries no skin.
    Unused,
    /// The trunk between and behind the hips.
    Pelvis,
    /// The trunk from the pelvis to the shoulders, and what is rigged to it.
    Spine,
    /// Neck and head, and what is rigged to them.
    Head,
    /// The hind limb down to the joint it turns about.
    Thigh,
    /// The rest of a hind limb.
    Leg,
    /// A fore limb.
    Arm,
    /// A tail, wing or other appendage that has bones already.
    Appendage,
}

impl Role {
    /// Whether it is part of the trunk.
    pub fn is_torso(self) -> bool {
        matches!(self, Self::Pelvis | Self::Spine)
    }

    /// The name for people.
    pub fn label(self) -> &'static str {
        match self {
            Self::Unused => "unused",
            Self::Pelvis => "pelvis",
            Self::Spine => "spine",
            Self::Head => "head",
            Self::Thigh => "thigh",
            Self::Leg => "leg",
            Self::Arm => "arm",
            Self::Appendage => "appendage",
        }
    }
}

/// Joints in a row from which on a branch of the trunk counts as an appendage with bones.
const CHAIN: usize = 3;

/// Tells the role of every joint.
pub fn tell(
    skeleton: &Skeleton,
    bones: &Bones,
    mirror: Option<&Mirror>,
    limbs: &[Limb],
    pelvis: Option<u16>,
) -> Vec<Role> {
    let count = bones.used.len() as u16;
    let at = |joint: u16| skeleton.position(usize::from(joint));
    let mut roles: Vec<Role> = bones.used.iter().map(|&used| if used { Role::Spine } else { Role::Unused }).collect();
    let set = |roles: &mut Vec<Role>, top: u16, role: Role| {
        for joint in (0..count).filter(|&j| bones.used[usize::from(j)] && bones.hangs_from(j, top)) {
            roles[usize::from(joint)] = role;
        }
    };
    let (hind, fore) =
        (limbs.iter().find(|limb| limb.place == Place::Hind), limbs.iter().find(|limb| limb.place == Place::Fore));
    let named = |what: fn(super::names::Hint) -> bool| {
        (0..count).find(|&j| bones.used[usize::from(j)] && what(hint(&skeleton.joints[usize::from(j)].name)))
    };
    let main = pelvis.or(hind.map(|limb| limb.attach)).or_else(|| named(|h| h.pelvis));
    let Some(main) = main else {
        // Neither legs nor a name: the head may still be told, by name.
        if let Some(head) = named(|h| h.head) {
            set(&mut roles, head, Role::Head);
        }
        return roles;
    };

    for limb in limbs {
        for path in &limb.paths {
            set(
                &mut roles,
                path[0],
                if limb.place == Place::Hind {
                    Role::Leg
                } else if limb.place == Place::Fore {
                    Role::Arm
                } else {
                    Role::Appendage
                },
            );
        }
    }
    let hips = match (hind, mirror) {
        (Some(hind), Some(mirror)) => hind.root(skeleton, mirror),
        _ => at(main),
    };
    let trunk = |roles: &[Role], joint: u16| roles[usize::from(joint)] == Role::Spine;
    let chest = match (fore, mirror) {
        (Some(fore), Some(mirror)) => Some((fore.attach, fore.root(skeleton, mirror))),
        _ => None,
    };
    // How far along the trunk a joint is: 0 at the hips, 1 at the shoulders.
    let far = chest.map(|(_, at)| at).or_else(|| {
        let end = (0..count).filter(|&j| trunk(&roles, j)).max_by(|&a, &b| {
            let key = |j: u16| (u8::from(hint(&skeleton.joints[usize::from(j)].name).head), at(j).distance(hips));
            key(a).0.cmp(&key(b).0).then(key(a).1.total_cmp(&key(b).1)).then(b.cmp(&a))
        })?;
        Some(hips + (at(end) - hips) * 0.6)
    });
    let axis = far.map_or(Vec3::ZERO, |far| far - hips);
    let along =
        |joint: u16| if axis == Vec3::ZERO { 0.0 } else { (at(joint) - hips).dot(axis) / axis.length_squared() };

    // The head is the branch beyond the shoulders that goes furthest.
    let beyond = chest.map_or(main, |(attach, _)| attach);
    let reach = |top: u16| {
        (0..count).filter(|&j| trunk(&roles, j) && bones.hangs_from(j, top)).map(along).fold(f32::MIN, f32::max)
    };
    let branches: Vec<u16> =
        bones.children[usize::from(beyond)].iter().copied().filter(|&j| trunk(&roles, j)).collect();
    let head = branches.iter().copied().max_by(|&a, &b| reach(a).total_cmp(&reach(b)).then(b.cmp(&a)));
    let limb_of_head: Vec<u16> = limbs
        .iter()
        .filter(|limb| limb.place == Place::Other)
        .flat_map(|limb| limb.paths.iter().map(|path| path[0]))
        .collect();
    if let Some(top) = head {
        for joint in (0..count).filter(|&j| bones.used[usize::from(j)] && bones.hangs_from(j, top)) {
            let carried = limb_of_head.iter().any(|&root| bones.hangs_from(joint, root));
            if (trunk(&roles, joint) && along(joint) >= 0.95) || carried {
                roles[usize::from(joint)] = Role::Head;
            }
        }
        // What hangs off the head is on the head, however far down it reaches.
        for joint in 0..count {
            let above = bones.ancestors(joint).skip(1).any(|a| roles[usize::from(a)] == Role::Head);
            if above && trunk(&roles, joint) {
                roles[usize::from(joint)] = Role::Head;
            }
        }
    }

    let spine: Vec<u16> = head.map_or_else(Vec::new, |top| bones.ancestors(top).collect());
    let limit = along(main).clamp(0.0, 0.3);
    for joint in 0..count {
        if !trunk(&roles, joint) {
            continue;
        }
        // Counted from where the branch leaves the spine.
        let branch: Vec<u16> = bones.ancestors(joint).take_while(|j| !spine.contains(j) && *j != main).collect();
        let longest = branch.last().map_or(0, |&top| bones.longest(skeleton, top).0.len());
        if longest >= CHAIN {
            roles[usize::from(joint)] = Role::Appendage;
        } else if along(joint) <= limit + 1e-3 {
            roles[usize::from(joint)] = Role::Pelvis;
        }
    }
    if pelvis.is_some() || along(main) <= 0.5 || !roles.contains(&Role::Pelvis) {
        roles[usize::from(main)] = Role::Pelvis;
    }
    if let (Some(hind), Some(mirror)) = (hind, mirror) {
        for path in &hind.paths {
            for &joint in &path[..=hind.hip(skeleton, mirror, path)] {
                roles[usize::from(joint)] = Role::Thigh;
            }
        }
    }
    roles
}
