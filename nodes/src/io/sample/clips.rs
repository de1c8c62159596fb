//! Walk, Sprint, Crouch, Idle and Back Flip: joint angles as functions of time, and hips held where the feet find the
//! floor. Sampled at 30 keys a second; first and last key of every clip agree.

use glam::{DQuat, DVec3};

use super::maths::{about, ease, turn};
use super::rig::*;

/// A clip: keys over joints.
pub struct Clip {
    pub name: &'static str,
    pub times: Vec<f64>,
    /// Where the hips are, per key.
    pub hips: Vec<DVec3>,
    /// Joints that turn, with their rotation per key; signs run on.
    pub turns: Vec<(usize, Vec<DQuat>)>,
}

/// A moment of a clip.
struct Moment {
    turns: Vec<(usize, DQuat)>,
    /// How high the lowest foot is over the floor, metres.
    over: f64,
    /// The hips aside and forward, metres.
    drift: DVec3,
    /// Degrees that the whole body has turned over backward in the air.
    flip: f64,
}

/// All clips for a body.
pub fn clips(joints: &[Joint]) -> Vec<Clip> {
    vec![
        clip("Walk", 1.0, joints, walk),
        clip("Sprint", 0.6, joints, sprint),
        clip("Crouch", 2.4, joints, crouch),
        clip("Idle", 3.0, joints, idle),
        clip("Back Flip", 1.93, joints, back_flip),
    ]
}

fn clip(name: &'static str, seconds: f64, joints: &[Joint], moment: fn(f64) -> Moment) -> Clip {
    let steps = (seconds * 30.0).round() as usize;
    let mut out = Clip { name, times: Vec::new(), hips: Vec::new(), turns: Vec::new() };
    for step in 0..=steps {
        let fraction = step as f64 / steps as f64;
        let now = moment(fraction);
        let mut turns = vec![DQuat::IDENTITY; joints.len()];
        now.turns.iter().for_each(|&(joint, turn)| turns[joint] = turn);
        let rise = now.over - lowest_foot(joints, &turns);
        out.times.push(fraction * seconds);
        out.hips.push(joints[HIPS].at + now.drift + DVec3::Y * rise);
        for (k, &(joint, turn)) in now.turns.iter().enumerate() {
            let turn = if joint == HIPS { about(DVec3::X, -now.flip) * turn } else { turn };
            if step == 0 {
                out.turns.push((joint, Vec::new()));
            }
            let keys = &mut out.turns[k].1;
            let flip = keys.last().is_some_and(|last: &DQuat| last.dot(turn) < 0.0);
            keys.push(if flip { -turn } else { turn });
        }
    }
    out
}

/// How far the soles stand above the floor with the hips where they are bound.
fn lowest_foot(joints: &[Joint], turns: &[DQuat]) -> f64 {
    let mut world: Vec<(DQuat, DVec3)> = Vec::with_capacity(joints.len());
    for (k, joint) in joints.iter().enumerate() {
        world.push(match joint.parent {
            None => (turns[k], joint.at),
            Some(parent) => {
                let (turn, at) = world[parent];
                (turn * turns[k], at + turn * (joint.at - joints[parent].at))
            }
        });
    }
    let sole = |foot: usize, ahead: f64| {
        let (turn, at) = world[foot];
        (at + turn * DVec3::new(0.0, -joints[foot].at.y, ahead)).y
    };
    [sole(LEFT_FOOT, -0.05), sole(LEFT_TOE_BASE, 0.0), sole(RIGHT_FOOT, -0.05), sole(RIGHT_TOE_BASE, 0.0)]
        .into_iter()
        .fold(f64::MAX, f64::min)
}

/// Degrees about the side axis: positive swings a hanging limb backward and leans an upright one forward.
fn pitch(joint: usize, degrees: f64) -> (usize, DQuat) {
    (joint, about(DVec3::X, degrees))
}

/// The leg of one side: thigh forward, knee bent, sole level but for a part.
fn leg(side: usize, forward: f64, knee: f64, toes: f64) -> [(usize, DQuat); 3] {
    [pitch(LEFT_UP_LEG + side, -forward), pitch(LEFT_LEG + side, knee), pitch(LEFT_FOOT + side, forward - knee + toes)]
}

/// The arm of one side, brought down from the bind pose by some degrees: forward, elbow bent.
fn arm(side: usize, down: f64, forward: f64, elbow: f64) -> [(usize, DQuat); 2] {
    let sign = if side == 0 { -1.0 } else { 1.0 };
    let hang = about(DVec3::X, -forward) * about(DVec3::Z, sign * down);
    // The elbow's axis stands across the forearm of the bind pose.
    let across = DVec3::new(0.78, -sign * 0.62, 0.0).normalize();
    [(LEFT_ARM + side, hang), (LEFT_FORE_ARM + side, about(across, -elbow))]
}

/// A step cycle: `stride` and `bend` in degrees.
fn steps(phase: f64, stride: f64, bend: f64, knee_rest: f64, lean: f64) -> Vec<(usize, DQuat)> {
    let (sin, cos) = turn(phase);
    let mut turns = vec![
        (HIPS, about(DVec3::Y, -6.0 * cos) * about(DVec3::Z, 2.0 * sin)),
        (SPINE, about(DVec3::X, lean * 0.5)),
        (SPINE1, about(DVec3::Y, 5.0 * cos)),
        (SPINE2, about(DVec3::X, lean * 0.5) * about(DVec3::Y, 6.0 * cos)),
        (NECK, about(DVec3::X, -lean * 0.5)),
        (HEAD, about(DVec3::Y, -5.0 * cos) * about(DVec3::X, -lean * 0.4)),
    ];
    for side in [0, 4] {
        let at = if side == 0 { phase } else { phase + 0.5 };
        let forward = turn(at).1;
        // The knee bends most while its leg swings forward.
        let swing = 0.5 + 0.5 * turn(at + 0.32).1;
        let roll = 0.5 - 0.5 * turn(at + 0.02).1;
        turns.extend(leg(side, 4.0 + stride * forward, knee_rest + bend * swing * swing, 22.0 * roll * roll));
        turns.extend(arm(side, 34.0, -0.85 * stride * forward, 16.0 + bend * 0.35));
    }
    turns
}

fn walk(phase: f64) -> Moment {
    let turns = steps(phase, 27.0, 50.0, 7.0, 4.0);
    Moment { turns, over: 0.0, drift: DVec3::X * (0.018 * turn(phase + 0.75).1), flip: 0.0 }
}

fn sprint(phase: f64) -> Moment {
    let flight = 0.5 + 0.5 * turn(2.0 * phase + 0.05).1;
    Moment { turns: steps(phase, 50.0, 92.0, 18.0, 26.0), over: 0.07 * flight * flight, drift: DVec3::ZERO, flip: 0.0 }
}

fn crouch(phase: f64) -> Moment {
    let (sin, cos) = turn(phase);
    Moment { turns: crouched(1.0 + 0.03 * cos, 2.0 * sin), over: 0.0, drift: DVec3::Z * -0.05, flip: 0.0 }
}

/// Bent down: 0 stands, 1 crouches low.
fn crouched(depth: f64, yaw: f64) -> Vec<(usize, DQuat)> {
    let mut turns = vec![
        (HIPS, about(DVec3::Y, yaw)),
        pitch(SPINE, 14.0 * depth),
        pitch(SPINE1, 12.0 * depth),
        pitch(SPINE2, 10.0 * depth),
        pitch(NECK, -16.0 * depth),
        (HEAD, about(DVec3::Y, -yaw) * about(DVec3::X, -14.0 * depth)),
    ];
    for side in [0, 4] {
        turns.extend(leg(side, 78.0 * depth, 116.0 * depth, 0.0));
        turns.extend(arm(side, 28.0, 34.0 * depth, 12.0 + 48.0 * depth));
    }
    turns
}

fn idle(phase: f64) -> Moment {
    let (sin, cos) = turn(phase);
    let mut turns = vec![
        (HIPS, about(DVec3::Y, 1.5 * sin)),
        pitch(SPINE1, 1.0 + cos),
        pitch(SPINE2, 1.0 + 1.2 * cos),
        (HEAD, about(DVec3::Y, 4.0 * sin) * about(DVec3::X, -1.5 * cos)),
    ];
    for side in [0, 4] {
        turns.extend(leg(side, 3.0, 6.0 + 1.2 * cos, 0.0));
        turns.extend(arm(side, 32.0 - 1.5 * cos, 3.0, 12.0));
    }
    Moment { turns, over: 0.0, drift: DVec3::X * (0.008 * sin), flip: 0.0 }
}

/// Bends down (to 0.22), leaps (0.30), turns over backward, lands (0.72), gets up.
fn back_flip(t: f64) -> Moment {
    const LEAP: f64 = 0.30;
    const LAND: f64 = 0.72;
    let wind = ease(0.0, 0.20, t) * ease(LEAP, 0.21, t);
    let tuck = ease(LEAP, 0.44, t) * ease(LAND, 0.58, t);
    let give = ease(LAND - 0.04, 0.79, t) * ease(1.0, 0.80, t);
    let depth = (0.75 * wind).max(0.95 * tuck).max(0.65 * give);
    let flight = ((t - LEAP) / (LAND - LEAP)).clamp(0.0, 1.0);
    let mut turns = crouched(depth, 0.0);
    let reach = ease(0.18, LEAP, t) * ease(0.46, 0.34, t);
    for side in [0, 4] {
        let [shoulder, elbow] = arm(side, 28.0, 34.0 * depth + 130.0 * reach, 12.0 + 48.0 * depth * (1.0 - reach));
        for turn in &mut turns {
            match turn.0 {
                joint if joint == shoulder.0 => turn.1 = shoulder.1,
                joint if joint == elbow.0 => turn.1 = elbow.1,
                _ => {}
            }
        }
    }
    let flip = 360.0 * (0.35 * flight + 0.65 * ease(0.0, 1.0, flight));
    Moment { turns, over: 0.62 * 4.0 * flight * (1.0 - flight), drift: DVec3::ZERO, flip }
}
