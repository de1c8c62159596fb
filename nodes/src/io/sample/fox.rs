//! An anthropomorphic fox of 1.91 m. Its tail is two shells, skin and the fur over it, welded neither to each other nor
//! to the body, and it hangs on the left shin and the thighs: no bone of the skeleton is a tail, so an auto-rigger gives
//! it to what it finds near.

use glam::{DVec3, dvec3};
use sinew_graph::{Cx, Result};

use super::figure::{Body, Detail, Figure, button, egg, eyes, limb};
use super::loft::Tube;
use super::maths::{about, ease, mix};
use super::rig::*;
use super::shell::{Material, Shell};

const ORANGE: [f64; 3] = [0.87, 0.45, 0.15];
const RUST: [f64; 3] = [0.70, 0.31, 0.10];
const CREAM: [f64; 3] = [0.97, 0.91, 0.81];
const DARK: [f64; 3] = [0.19, 0.13, 0.11];

/// The head is drawn life-sized, then grown from the nape.
const CRANE: DVec3 = dvec3(0.0, 1.50, -0.01);
const GROWTH: f64 = 1.2;

/// Where the tail runs: out of the pelvis, back and down between the legs.
const TAIL: [[f64; 3]; 6] = [
    [0.0, 0.955, -0.085],
    [0.0, 0.930, -0.205],
    [0.0, 0.820, -0.335],
    [0.0, 0.655, -0.410],
    [0.0, 0.485, -0.440],
    [0.0, 0.285, -0.480],
];

/// The fox.
pub fn fox(detail: Detail, cx: &Cx) -> Result<Figure> {
    let joints = joints(
        [
            [0.0, 0.95, 0.0],
            [0.0, 1.05, 0.0],
            [0.0, 1.16, 0.0],
            [0.0, 1.27, -0.005],
            [0.0, 1.40, -0.015],
            [0.0, 1.49, 0.005],
        ],
        [[0.05, 1.36, -0.01], [0.155, 1.35, -0.01], [0.315, 1.145, -0.02], [0.455, 0.955, 0.015]],
        [[0.095, 0.90, 0.0], [0.108, 0.50, 0.015], [0.118, 0.10, -0.03], [0.125, 0.035, 0.085]],
    );
    let mut fur = body().shell(&joints, 0.0138, 0.10, paint, detail, cx)?;
    fur.append(tail_fur(detail));
    let on_head = |p: [f64; 3]| (CRANE + (DVec3::from_array(p) - CRANE) * GROWTH).to_array();
    let mut gloss = eyes(on_head([0.060, 1.588, 0.100]), 0.040, [0.85, 0.52, 0.10], detail);
    gloss.append(button(on_head([0.0, 1.535, 0.270]), [0.028, 0.022, 0.022], [0.07, 0.05, 0.05], detail));
    Ok(Figure { name: "Fox", joints, shells: vec![fur, tail_skin(detail), gloss] })
}

fn body() -> Body {
    let mut body = Body::default();
    body.egg(HIPS, [0.0, 0.94, -0.01], [0.155, 0.12, 0.122], 0.05);
    body.egg(SPINE, [0.0, 1.07, 0.0], [0.132, 0.12, 0.105], 0.09);
    body.egg(SPINE1, [0.0, 1.18, 0.0], [0.142, 0.11, 0.11], 0.08);
    body.egg(SPINE2, [0.0, 1.285, -0.005], [0.155, 0.10, 0.112], 0.08);
    body.limb(NECK, [0.0, 1.36, -0.02], [0.0, 1.48, 0.0], [0.082, 0.075], 0.07);
    // The ruff, drawn down into a point.
    body.egg(SPINE2, [0.0, 1.385, 0.04], [0.098, 0.075, 0.080], 0.05);
    body.limb(SPINE2, [0.0, 1.360, 0.075], [0.0, 1.255, 0.112], [0.055, 0.012], 0.05);
    let first = body.0.len();
    head(&mut body);
    body.scale_from(first, CRANE, GROWTH);
    body.both(LEFT_SHOULDER, limb([0.05, 1.355, -0.01], [0.15, 1.345, -0.01], [0.055, 0.066], 1.0), 0.06);
    body.both(LEFT_ARM, limb([0.155, 1.345, -0.01], [0.315, 1.145, -0.02], [0.064, 0.049], 1.0), 0.045);
    body.both(LEFT_FORE_ARM, limb([0.315, 1.145, -0.02], [0.445, 0.97, 0.01], [0.050, 0.041], 1.0), 0.03);
    body.both(LEFT_FORE_ARM, egg([0.348, 1.10, -0.015], [0.052, 0.085, 0.055], about(DVec3::Z, 37.0)), 0.04);
    hand(&mut body);
    body.both(LEFT_UP_LEG, limb([0.092, 0.89, 0.0], [0.108, 0.50, 0.018], [0.112, 0.071], 1.0), 0.04);
    body.both(LEFT_LEG, limb([0.108, 0.50, 0.015], [0.118, 0.11, -0.03], [0.070, 0.046], 1.0), 0.04);
    body.both(LEFT_LEG, egg([0.112, 0.375, -0.022], [0.060, 0.13, 0.064], about(DVec3::X, 6.0)), 0.05);
    body.both(LEFT_FOOT, limb([0.119, 0.059, -0.045], [0.125, 0.053, 0.07], [0.051, 0.046], 1.0), 0.05);
    for (x, z) in [(0.095, 0.135), (0.128, 0.150), (0.160, 0.130)] {
        body.both(
            LEFT_TOE_BASE,
            limb([0.125 + (x - 0.125) * 0.6, 0.048, 0.085], [x, 0.035, z], [0.042, 0.032], 1.0),
            0.02,
        );
    }
    body
}

fn head(body: &mut Body) {
    body.egg(HEAD, [0.0, 1.585, 0.015], [0.124, 0.113, 0.122], 0.05);
    body.limb(HEAD, [0.0, 1.555, 0.09], [0.0, 1.530, 0.245], [0.068, 0.030], 0.045);
    body.limb(HEAD, [0.0, 1.505, 0.07], [0.0, 1.503, 0.195], [0.046, 0.020], 0.02);
    // Cheeks, drawn out into tufts.
    body.both(HEAD, egg([0.075, 1.535, 0.05], [0.070, 0.058, 0.062], about(DVec3::Z, -14.0)), 0.05);
    body.both(HEAD, limb([0.095, 1.535, 0.035], [0.185, 1.480, 0.005], [0.050, 0.008], 0.7), 0.035);
    body.both(HEAD, limb([0.095, 1.565, 0.025], [0.178, 1.530, -0.005], [0.045, 0.008], 0.7), 0.03);
    // Brows shade the eyes.
    body.both(HEAD, limb([0.022, 1.628, 0.112], [0.085, 1.640, 0.085], [0.020, 0.016], 1.0), 0.03);
    body.both(HEAD, limb([0.074, 1.650, 0.0], [0.128, 1.839, -0.012], [0.070, 0.010], 0.5), 0.025);
    body.carve_both(HEAD, limb([0.079, 1.672, 0.040], [0.119, 1.790, 0.020], [0.042, 0.010], 0.5), 0.015);
    body.egg(HEAD, [0.0, 1.690, 0.03], [0.040, 0.030, 0.045], 0.04);
}

fn hand(body: &mut Body) {
    body.both(LEFT_HAND, egg([0.478, 0.918, 0.022], [0.034, 0.055, 0.044], about(DVec3::Z, 34.0)), 0.03);
    for (z, length) in [(-0.012, 0.060), (0.020, 0.072), (0.050, 0.060)] {
        let from = [0.492, 0.895, z];
        let to = [0.492 + 0.50 * length, 0.895 - 0.86 * length, z * 1.15];
        body.both(LEFT_HAND, limb(from, to, [0.021, 0.0165], 1.0), 0.012);
    }
    body.both(LEFT_HAND, limb([0.462, 0.930, 0.052], [0.470, 0.890, 0.088], [0.022, 0.0165], 1.0), 0.018);
}

/// The colours of the body: cream in front and under the muzzle, dark gloves, socks and ears.
fn paint(p: DVec3, n: DVec3) -> [f64; 3] {
    let x = p.x.abs();
    let mut colour = mix(ORANGE, RUST, ease(0.2, -0.9, n.z) * 0.7);
    if p.y < 1.44 {
        let width = 0.075 + 0.045 * ease(1.10, 1.32, p.y) - 0.035 * ease(1.02, 0.86, p.y);
        let front = ease(0.02, 0.06, p.z) * ease(width + 0.012, width - 0.012, x) * ease(0.80, 0.84, p.y);
        colour = mix(colour, CREAM, front);
        let glove = ease(1.045, 1.01, p.y + 0.012 * n.z) * ease(0.28, 0.30, x);
        let sock = ease(0.30, 0.26, p.y + 0.02 * n.x);
        return mix(colour, DARK, glove.max(sock));
    }
    let p = CRANE + (p - CRANE) / GROWTH;
    let x = p.x.abs();
    // A mask: the muzzle's underside, the cheeks and throat.
    let line = 1.545 + 0.018 * ease(0.06, 0.03, x) * ease(0.12, 0.2, p.z) + 0.03 * ease(0.10, 0.17, x);
    let mask = ease(line + 0.008, line - 0.008, p.y) * ease(-0.03, 0.0, p.z);
    colour = mix(colour, CREAM, mask);
    let spot = dvec3((x - 0.045) / 0.018, (p.y - 1.642) / 0.012, (p.z - 0.115) / 0.03).length();
    colour = mix(colour, CREAM, ease(1.3, 0.8, spot));
    // The hollow of an ear narrows towards its tip.
    let aside = (x - 0.079 - (p.y - 1.672) * 0.34).abs();
    let width = 0.040 - (p.y - 1.672) * 0.24;
    let inner = ease(1.660, 1.68, p.y) * ease(0.2, 0.5, n.z) * ease(width, width - 0.012, aside);
    colour = mix(colour, [0.95, 0.82, 0.72], inner);
    mix(colour, DARK, ease(1.765, 1.795, p.y) * (1.0 - inner))
}

/// Which bones an auto-rigger gives the tail to: the left shin, and where its fur comes nearer to a thigh, that thigh.
fn tail_weights(t: f64, p: DVec3) -> Vec<(usize, f64)> {
    let right = ease(0.035, -0.135, p.x) * 0.62;
    let thigh = 0.20 - 0.10 * t;
    vec![(LEFT_LEG, (1.0 - right) * (1.0 - thigh)), (LEFT_UP_LEG, (1.0 - right) * thigh), (RIGHT_UP_LEG, right)]
}

fn tail_skin(detail: Detail) -> Shell {
    // It begins deeper in the body and ends before the fur's tip: the two shells share no place.
    let mut through = TAIL.map(DVec3::from_array);
    through[0].z += 0.02;
    Tube {
        material: Material::Skin,
        through: &through[..5],
        radius: &|t, _| 0.032 - 0.014 * t,
        paint: &|_, _| [0.80, 0.55, 0.45],
        weights: &tail_weights,
        rings: detail.count(32),
        sides: detail.count(14),
    }
    .shell()
}

fn tail_fur(detail: Detail) -> Shell {
    Tube {
        material: Material::Fur,
        through: &TAIL.map(DVec3::from_array),
        radius: &|t, around| {
            let brush = 0.048 + 0.094 * ease(0.02, 0.50, t);
            let taper = (1.0 - ease(0.55, 1.08, t)).max(0.0);
            let (wave, _) = super::maths::turn(around * 7.0 + t * 1.2);
            brush * taper * (1.0 + 0.045 * wave * ease(0.1, 0.4, t))
        },
        paint: &|t, p| {
            let (wave, _) = super::maths::turn(p.x * 9.0 + p.z * 4.0);
            let back = mix(ORANGE, RUST, 0.55 * ease(0.05, 0.5, t));
            mix(back, CREAM, ease(0.66, 0.74, t + 0.03 * wave))
        },
        weights: &tail_weights,
        rings: detail.count(44),
        sides: detail.count(30),
    }
    .shell()
}
