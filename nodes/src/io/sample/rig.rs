//! The skeleton that humanoid auto-riggers predict: 22 body bones with Mixamo's names. No bone of it is a tail.

use glam::{DQuat, DVec3};

pub const HIPS: usize = 0;
pub const SPINE: usize = 1;
pub const SPINE1: usize = 2;
pub const SPINE2: usize = 3;
pub const NECK: usize = 4;
pub const HEAD: usize = 5;
pub const LEFT_SHOULDER: usize = 6;
pub const LEFT_ARM: usize = 7;
pub const LEFT_FORE_ARM: usize = 8;
pub const LEFT_HAND: usize = 9;
pub const RIGHT_ARM: usize = 11;
pub const RIGHT_FORE_ARM: usize = 12;
pub const RIGHT_HAND: usize = 13;
pub const LEFT_UP_LEG: usize = 14;
pub const LEFT_LEG: usize = 15;
pub const LEFT_FOOT: usize = 16;
pub const LEFT_TOE_BASE: usize = 17;
pub const RIGHT_UP_LEG: usize = 18;
pub const RIGHT_LEG: usize = 19;
pub const RIGHT_FOOT: usize = 20;
pub const RIGHT_TOE_BASE: usize = 21;

const NAMES: [(&str, Option<usize>); 22] = [
    ("Hips", None),
    ("Spine", Some(HIPS)),
    ("Spine1", Some(SPINE)),
    ("Spine2", Some(SPINE1)),
    ("Neck", Some(SPINE2)),
    ("Head", Some(NECK)),
    ("LeftShoulder", Some(SPINE2)),
    ("LeftArm", Some(LEFT_SHOULDER)),
    ("LeftForeArm", Some(LEFT_ARM)),
    ("LeftHand", Some(LEFT_FORE_ARM)),
    ("RightShoulder", Some(SPINE2)),
    ("RightArm", Some(10)),
    ("RightForeArm", Some(RIGHT_ARM)),
    ("RightHand", Some(RIGHT_FORE_ARM)),
    ("LeftUpLeg", Some(HIPS)),
    ("LeftLeg", Some(LEFT_UP_LEG)),
    ("LeftFoot", Some(LEFT_LEG)),
    ("LeftToeBase", Some(LEFT_FOOT)),
    ("RightUpLeg", Some(HIPS)),
    ("RightLeg", Some(RIGHT_UP_LEG)),
    ("RightFoot", Some(RIGHT_LEG)),
    ("RightToeBase", Some(RIGHT_FOOT)),
];

/// A joint. Its bind rotation is none: the file's axes are the model's.
#[derive(Clone, Debug)]
pub struct Joint {
    pub name: String,
    pub parent: Option<usize>,
    /// Where it is bound.
    pub at: DVec3,
    /// How the file saves it turned away from its bind pose.
    pub saved: DQuat,
}

/// The joints of a body: six in the middle from hips to head, then arm (shoulder, arm, forearm, hand) and leg (thigh,
/// shin, foot, toes) of the left side, metres.
pub fn joints(middle: [[f64; 3]; 6], arm: [[f64; 3]; 4], leg: [[f64; 3]; 4]) -> Vec<Joint> {
    let right = |[x, y, z]: [f64; 3]| [-x, y, z];
    let places =
        middle.into_iter().chain(arm).chain(arm.map(right)).chain(leg).chain(leg.map(right)).map(DVec3::from_array);
    let joint = |((name, parent), at): ((&str, Option<usize>), DVec3)| Joint {
        name: name.into(),
        parent,
        at,
        saved: DQuat::IDENTITY,
    };
    NAMES.into_iter().zip(places).map(joint).collect()
}
