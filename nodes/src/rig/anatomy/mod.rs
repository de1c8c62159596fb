//! What a skeleton tells of the body: which joints are pelvis, spine, thigh and head, where up and forward are, how tall the
//! character is. Told by topology and position; names only break ties.
//!
//! All of it is the same for a turned, moved or scaled copy: file axes are only ever used to make an up that the skeleton
//! gives roughly exact.

mod bones;
mod limbs;
mod mirror;
mod names;
mod roles;
mod stance;

use glam::Vec3;

pub use bones::{Bones, Segment};
pub use limbs::Limb;
pub use mirror::Mirror;
pub use roles::Role;

use crate::data::{Character, Mesh, Skeleton, Skin, Stance};

/// What the skeleton tells.
#[derive(Clone, Debug, PartialEq)]
pub struct Anatomy {
    /// The joints that count and how they hang together.
    pub bones: Bones,
    /// The plane that the body is mirrored at, if there is one.
    pub mirror: Option<Mirror>,
    /// What each joint is.
    pub roles: Vec<Role>,
    /// The paired limbs, hind ones first.
    pub limbs: Vec<Limb>,
    /// How the character stands.
    pub stance: Stance,
}

impl Anatomy {
    /// Reads the skeleton of a character. Weights only tell which joints are used at all, and where the soles are.
    pub fn of(mesh: &Mesh, skeleton: &Skeleton, skin: &Skin) -> Self {
        let (bones, mirror, limbs) = frame(skeleton, skin);
        let roles = roles::tell(skeleton, &bones, mirror.as_ref(), &limbs, None);
        let stance = stance::tell(mesh, skeleton, skin, &bones, mirror.as_ref(), &limbs, &roles);
        Self { bones, mirror, roles, limbs, stance }
    }

    /// The same of a character whose stance was told before, so that its mesh need not be looked at again. The pelvis may be
    /// given by hand.
    pub fn standing(stance: Stance, skeleton: &Skeleton, skin: &Skin, pelvis: Option<u16>) -> Self {
        let (bones, mirror, limbs) = frame(skeleton, skin);
        let roles = roles::tell(skeleton, &bones, mirror.as_ref(), &limbs, pelvis);
        Self { bones, mirror, roles, limbs, stance }
    }

    /// The joints with a role.
    pub fn joints(&self, role: Role) -> impl Iterator<Item = u16> + '_ {
        self.roles.iter().enumerate().filter(move |(_, r)| **r == role).map(|(k, _)| k as u16)
    }

    /// To the character's left.
    pub fn left(&self) -> Vec3 {
        self.stance.up.cross(self.stance.forward)
    }
}

/// The joints that count, the plane that they are mirrored at, and the limbs.
fn frame(skeleton: &Skeleton, skin: &Skin) -> (Bones, Option<Mirror>, Vec<Limb>) {
    let mut bones = Bones::of(skeleton, skin);
    let mirror = Mirror::of(skeleton, &bones);
    let mut limbs = limbs::find(skeleton, &bones, mirror.as_ref());
    let attach = limbs.iter().find(|limb| limb.place == limbs::Place::Hind).map(|hind| hind.attach);
    if attach.is_some_and(|attach| bones.drop_far_roots(skeleton, attach)) {
        limbs = limbs::find(skeleton, &bones, mirror.as_ref());
    }
    (bones, mirror, limbs)
}

/// The joints that count as skeleton, where nothing else is asked: the mesh is not looked at.
pub fn bones(skeleton: &Skeleton, skin: &Skin) -> Bones {
    frame(skeleton, skin).0
}

/// How tall a character is: the extent of its mesh along up, in file units.
pub fn height(character: &Character) -> f32 {
    Anatomy::of(&character.mesh, &character.skeleton, &character.skin).stance.height
}
