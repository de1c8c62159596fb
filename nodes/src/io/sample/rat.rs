//! An anthropomorphic rat. Its tail is one shell, long and thin; it trails to the floor, is modelled curled to one side,
//! and its tip lies a little under the soles. What the file saves is not the bind pose: a joint is turned by 28 degrees.

use glam::{DVec3, dvec3};
use sinew_graph::{Cx, Result};

use super::figure::{Body, Detail, Figure, button, egg, eyes, limb};
use super::loft::{Curve, Tube};
use super::maths::{about, ease, mix, turn};
use super::rig::*;
use super::shell::{Material, Shell};

const GREY: [f64; 3] = [0.50, 0.44, 0.40];
const BACK: [f64; 3] = [0.33, 0.28, 0.26];
const CREAM: [f64; 3] = [0.88, 0.83, 0.76];
const PINK: [f64; 3] = [0.91, 0.63, 0.58];

/// Bones of the chain of [`rigged`].
const BONES: usize = 8;

/// How far a joint is saved turned, degrees.
pub const SAVED: f64 = 28.0;

/// Where the tail runs: back and down to the floor, then curled to the left.
const TAIL: [[f64; 3]; 9] = [
    [0.0, 0.64, -0.10],
    [0.0, 0.56, -0.25],
    [0.0, 0.37, -0.43],
    [0.015, 0.165, -0.585],
    [0.10, 0.045, -0.715],
    [0.25, 0.020, -0.765],
    [0.385, 0.012, -0.715],
    [0.445, -0.002, -0.595],
    [0.405, -0.016, -0.495],
];

/// The rat without tail bones; its right hand is saved turned.
pub fn rat(detail: Detail, cx: &Cx) -> Result<Figure> {
    let mut joints = body_joints();
    joints[RIGHT_HAND].saved = about(DVec3::Z, SAVED);
    figure(joints, &tail_weights, detail, cx)
}

/// The rat with a chain of tail bones; the last is saved turned.
pub fn rigged(detail: Detail, cx: &Cx) -> Result<Figure> {
    let mut joints = body_joints();
    let (curve, first) = (Curve::through(&TAIL.map(DVec3::from_array)), joints.len());
    for k in 0..BONES {
        joints.push(Joint {
            name: format!("Tail_{}", k + 1),
            parent: Some(if k == 0 { HIPS } else { first + k - 1 }),
            at: curve.at(k as f64 / BONES as f64).0,
            saved: if k + 1 == BONES { about(DVec3::Y, SAVED) } else { glam::DQuat::IDENTITY },
        });
    }
    figure(joints, &|t, _| chain_weights(t, first), detail, cx)
}

fn body_joints() -> Vec<Joint> {
    joints(
        [
            [0.0, 0.67, 0.0],
            [0.0, 0.76, 0.0],
            [0.0, 0.86, 0.005],
            [0.0, 0.95, 0.01],
            [0.0, 1.05, 0.025],
            [0.0, 1.11, 0.05],
        ],
        [[0.045, 1.01, 0.015], [0.130, 0.995, 0.015], [0.245, 0.825, 0.02], [0.340, 0.680, 0.05]],
        [[0.085, 0.625, 0.0], [0.100, 0.350, 0.03], [0.108, 0.080, -0.03], [0.118, 0.030, 0.085]],
    )
}

fn figure(
    joints: Vec<Joint>,
    weights: &dyn Fn(f64, DVec3) -> Vec<(usize, f64)>,
    detail: Detail,
    cx: &Cx,
) -> Result<Figure> {
    let fur = body().shell(&joints, 0.0113, 0.08, paint, detail, cx)?;
    let mut gloss = eyes([0.054, 1.212, 0.152], 0.026, [0.16, 0.07, 0.05], detail);
    gloss.append(button([0.0, 1.147, 0.327], [0.021, 0.017, 0.017], [0.86, 0.50, 0.50], detail));
    for x in [-0.0085, 0.0085] {
        gloss.append(button([x, 1.106, 0.286], [0.008, 0.018, 0.006], [0.97, 0.94, 0.82], detail));
    }
    Ok(Figure { name: "Rat", joints, shells: vec![fur, tail(weights, detail), gloss] })
}

fn body() -> Body {
    let mut body = Body::default();
    body.egg(HIPS, [0.0, 0.675, -0.005], [0.150, 0.125, 0.135], 0.05);
    body.egg(SPINE, [0.0, 0.770, 0.020], [0.148, 0.125, 0.140], 0.08);
    body.egg(SPINE1, [0.0, 0.865, 0.020], [0.132, 0.105, 0.122], 0.08);
    body.egg(SPINE2, [0.0, 0.955, 0.010], [0.122, 0.095, 0.105], 0.08);
    body.limb(NECK, [0.0, 1.01, 0.015], [0.0, 1.11, 0.05], [0.076, 0.072], 0.06);
    body.egg(HEAD, [0.0, 1.195, 0.075], [0.104, 0.096, 0.118], 0.05);
    body.limb(HEAD, [0.0, 1.175, 0.150], [0.0, 1.145, 0.305], [0.066, 0.025], 0.05);
    body.limb(HEAD, [0.0, 1.125, 0.120], [0.0, 1.115, 0.262], [0.040, 0.016], 0.02);
    body.both(HEAD, egg([0.070, 1.150, 0.105], [0.048, 0.045, 0.058], about(DVec3::Z, 0.0)), 0.05);
    let ear = about(DVec3::Y, 18.0) * about(DVec3::Z, -22.0);
    body.both(HEAD, egg([0.108, 1.320, 0.030], [0.082, 0.098, 0.024], ear), 0.015);
    body.carve_both(HEAD, egg([0.114, 1.325, 0.052], [0.063, 0.077, 0.020], ear), 0.008);
    body.both(LEFT_SHOULDER, limb([0.045, 1.005, 0.015], [0.125, 0.992, 0.015], [0.050, 0.056], 1.0), 0.05);
    body.both(LEFT_ARM, limb([0.130, 0.992, 0.015], [0.245, 0.825, 0.02], [0.055, 0.042], 1.0), 0.04);
    body.both(LEFT_FORE_ARM, limb([0.245, 0.825, 0.02], [0.335, 0.690, 0.045], [0.043, 0.031], 1.0), 0.03);
    body.both(LEFT_HAND, egg([0.357, 0.652, 0.056], [0.026, 0.042, 0.034], about(DVec3::Z, 34.0)), 0.02);
    for (z, length) in [(0.030, 0.055), (0.052, 0.068), (0.074, 0.068), (0.092, 0.052)] {
        let from = [0.365, 0.635, 0.056 + (z - 0.06) * 0.8];
        let to = [0.365 + 0.50 * length, 0.635 - 0.85 * length, z];
        body.both(LEFT_HAND, limb(from, to, [0.0145, 0.0105], 1.0), 0.008);
    }
    body.both(LEFT_UP_LEG, limb([0.085, 0.615, 0.005], [0.102, 0.355, 0.035], [0.108, 0.066], 1.0), 0.04);
    body.both(LEFT_LEG, limb([0.100, 0.350, 0.030], [0.108, 0.090, -0.025], [0.064, 0.036], 1.0), 0.04);
    body.both(LEFT_LEG, egg([0.104, 0.265, -0.005], [0.050, 0.090, 0.055], about(DVec3::X, 10.0)), 0.05);
    body.both(LEFT_FOOT, limb([0.109, 0.040, -0.045], [0.116, 0.034, 0.085], [0.039, 0.036], 1.0), 0.04);
    for (x, z) in [(0.086, 0.160), (0.108, 0.180), (0.132, 0.182), (0.154, 0.162)] {
        body.both(
            LEFT_TOE_BASE,
            limb([0.118 + (x - 0.12) * 0.6, 0.030, 0.090], [x, 0.018, z], [0.026, 0.016], 1.0),
            0.012,
        );
    }
    body
}

/// Grey-brown fur, a pale belly, pink hands, feet and ears.
fn paint(p: DVec3, n: DVec3) -> [f64; 3] {
    let x = p.x.abs();
    let mut colour = mix(GREY, BACK, ease(0.3, -0.8, n.z) * 0.8);
    if p.y > 1.07 {
        let under = ease(1.142, 1.120, p.y + 0.03 * ease(0.15, 0.3, p.z)) * ease(-0.02, 0.06, p.z);
        let snout = ease(0.270, 0.315, p.z) * 0.6;
        colour = mix(mix(colour, CREAM, under), PINK, snout);
        let ear = (dvec3(x - 0.112, p.y - 1.322, 0.0) / dvec3(0.066, 0.080, 1.0)).length();
        return mix(colour, PINK, ease(1.05, 0.92, ear) * ease(0.0, 0.4, n.z) * ease(1.235, 1.26, p.y));
    }
    let belly = ease(0.03, 0.07, p.z) * ease(0.115, 0.085, x) * ease(0.55, 0.60, p.y);
    colour = mix(colour, CREAM, belly);
    let hand = ease(0.715, 0.690, p.y) * ease(0.22, 0.24, x);
    let foot = ease(0.12, 0.085, p.y);
    mix(colour, PINK, hand.max(foot))
}

/// Which bones an auto-rigger gives the tail to: the left shin and foot, near the root also the thighs.
fn tail_weights(t: f64, p: DVec3) -> Vec<(usize, f64)> {
    let right = ease(0.045, -0.055, p.x) * ease(0.60, 0.10, t) * 0.55;
    let (thigh, foot) = (0.35 * ease(0.5, 0.0, t), 0.45 * ease(0.35, 0.75, t));
    let left = 1.0 - right;
    vec![
        (LEFT_LEG, left * (1.0 - thigh - foot)),
        (LEFT_UP_LEG, left * thigh),
        (LEFT_FOOT, left * foot),
        (RIGHT_UP_LEG, right),
    ]
}

/// Weights of a chain from joint `first` on (`tail-3d.md` B4); before the first bone stand the hips.
fn chain_weights(t: f64, first: usize) -> Vec<(usize, f64)> {
    let s = t * BONES as f64;
    let k = (s as usize).min(BONES - 1);
    let f = s - k as f64;
    let before = (0.5 - 2.0 * f).clamp(0.0, 0.5);
    let after = if k + 1 < BONES { (2.0 * f - 1.5).clamp(0.0, 0.5) } else { 0.0 };
    let own = first + k;
    vec![(own, 1.0 - before - after), (if k == 0 { HIPS } else { own - 1 }, before), (own + 1, after)]
}

fn tail(weights: &dyn Fn(f64, DVec3) -> Vec<(usize, f64)>, detail: Detail) -> Shell {
    Tube {
        material: Material::Skin,
        through: &TAIL.map(DVec3::from_array),
        radius: &|t, _| 0.009 + 0.027 * (1.0 - t) * (1.0 - t) + 0.007 * (1.0 - t) + 0.014 * ease(0.12, 0.0, t),
        paint: &|t, _| {
            // Rings of scales.
            let (wave, _) = turn(t * 34.0);
            let scales = mix(PINK, [0.78, 0.50, 0.47], 0.5 + 0.5 * wave);
            mix(GREY, scales, ease(0.03, 0.10, t))
        },
        weights,
        rings: detail.count(140),
        sides: detail.count(14),
    }
    .shell()
}
