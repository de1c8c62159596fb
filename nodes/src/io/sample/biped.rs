//! A plain human figure of 1.75 m in shirt and trousers. It has no tail, and nothing on it should be taken for one.

use glam::DVec3;
use sinew_graph::{Cx, Result};

use super::figure::{Body, Detail, Figure, egg, eyes, limb};
use super::maths::{about, ease, mix};
use super::rig::*;

const SKIN: [f64; 3] = [0.86, 0.66, 0.54];
const HAIR: [f64; 3] = [0.24, 0.15, 0.10];
const SHIRT: [f64; 3] = [0.20, 0.47, 0.51];
const TROUSERS: [f64; 3] = [0.22, 0.24, 0.33];
const SHOES: [f64; 3] = [0.36, 0.22, 0.14];

/// The figure.
pub fn biped(detail: Detail, cx: &Cx) -> Result<Figure> {
    let joints = joints(
        [
            [0.0, 0.96, 0.0],
            [0.0, 1.06, 0.0],
            [0.0, 1.17, 0.0],
            [0.0, 1.28, -0.005],
            [0.0, 1.43, -0.015],
            [0.0, 1.50, 0.005],
        ],
        [[0.05, 1.395, -0.01], [0.165, 1.385, -0.01], [0.330, 1.175, -0.02], [0.470, 0.985, 0.015]],
        [[0.090, 0.91, 0.0], [0.102, 0.50, 0.012], [0.110, 0.09, -0.03], [0.118, 0.03, 0.085]],
    );
    let shell = body().shell(&joints, 0.0125, 0.10, paint, detail, cx)?;
    let eyes = eyes([0.034, 1.618, 0.088], 0.0165, [0.28, 0.42, 0.50], detail);
    Ok(Figure { name: "Biped", joints, shells: vec![shell, eyes] })
}

fn body() -> Body {
    let mut body = Body::default();
    body.egg(HIPS, [0.0, 0.955, -0.005], [0.158, 0.115, 0.115], 0.05);
    body.egg(SPINE, [0.0, 1.07, 0.0], [0.136, 0.115, 0.098], 0.09);
    body.egg(SPINE1, [0.0, 1.19, 0.0], [0.150, 0.115, 0.106], 0.08);
    body.egg(SPINE2, [0.0, 1.31, -0.005], [0.165, 0.105, 0.110], 0.08);
    body.limb(NECK, [0.0, 1.41, -0.02], [0.0, 1.53, 0.005], [0.060, 0.054], 0.04);
    body.egg(HEAD, [0.0, 1.640, 0.005], [0.082, 0.104, 0.100], 0.04);
    body.egg(HEAD, [0.0, 1.575, 0.035], [0.060, 0.066, 0.062], 0.04);
    body.limb(HEAD, [0.0, 1.625, 0.095], [0.0, 1.592, 0.115], [0.010, 0.014], 0.018);
    body.both(HEAD, egg([0.086, 1.608, 0.0], [0.012, 0.030, 0.020], about(DVec3::Y, 20.0)), 0.012);
    // Hair: a cap over crown and nape.
    body.egg(HEAD, [0.0, 1.662, -0.018], [0.092, 0.092, 0.098], 0.008);
    body.egg(HEAD, [0.0, 1.600, -0.055], [0.074, 0.080, 0.050], 0.02);
    body.both(HEAD, egg([0.035, 1.722, 0.062], [0.052, 0.026, 0.040], about(DVec3::Z, -16.0)), 0.012);
    body.both(LEFT_SHOULDER, limb([0.05, 1.385, -0.01], [0.155, 1.375, -0.01], [0.056, 0.066], 1.0), 0.06);
    body.both(LEFT_ARM, limb([0.165, 1.375, -0.01], [0.330, 1.175, -0.02], [0.062, 0.045], 1.0), 0.045);
    body.both(LEFT_FORE_ARM, limb([0.330, 1.175, -0.02], [0.462, 0.998, 0.010], [0.046, 0.031], 1.0), 0.03);
    body.both(LEFT_FORE_ARM, egg([0.362, 1.130, -0.015], [0.043, 0.080, 0.046], about(DVec3::Z, 37.0)), 0.04);
    body.both(LEFT_HAND, egg([0.490, 0.950, 0.022], [0.022, 0.050, 0.040], about(DVec3::Z, 34.0)), 0.025);
    for (z, length) in [(-0.008, 0.062), (0.013, 0.076), (0.034, 0.080), (0.054, 0.072)] {
        let from = [0.502, 0.925, 0.022 + (z - 0.022) * 0.9];
        let to = [0.502 + 0.48 * length, 0.925 - 0.88 * length, z];
        body.both(LEFT_HAND, limb(from, to, [0.0145, 0.0115], 1.0), 0.008);
    }
    body.both(LEFT_HAND, limb([0.478, 0.965, 0.045], [0.490, 0.922, 0.084], [0.017, 0.0125], 1.0), 0.015);
    body.both(LEFT_UP_LEG, limb([0.088, 0.90, 0.0], [0.102, 0.50, 0.014], [0.103, 0.066], 1.0), 0.04);
    body.both(LEFT_LEG, limb([0.102, 0.50, 0.012], [0.110, 0.11, -0.028], [0.066, 0.047], 1.0), 0.04);
    body.both(LEFT_LEG, egg([0.106, 0.375, -0.020], [0.056, 0.125, 0.062], about(DVec3::X, 5.0)), 0.05);
    body.both(LEFT_FOOT, limb([0.111, 0.058, -0.050], [0.117, 0.052, 0.085], [0.048, 0.043], 1.0), 0.04);
    body.both(LEFT_TOE_BASE, limb([0.118, 0.050, 0.085], [0.122, 0.040, 0.160], [0.045, 0.036], 1.0), 0.03);
    body
}

/// Skin, hair, and clothes that end at wrist, ankle and throat.
fn paint(p: DVec3, n: DVec3) -> [f64; 3] {
    let x = p.x.abs();
    if p.y > 1.45 {
        // The hairline: high over the brow, down behind the ears.
        let line = 1.688 - 1.9 * (0.055 - p.z).max(0.0) + 3.0 * (p.z - 0.055).max(0.0) * 0.1;
        let hair = ease(line - 0.004, line + 0.004, p.y) * ease(1.525, 1.535, p.y);
        let lips = ease(0.030, 0.022, x) * ease(0.010, 0.005, (p.y - 1.557).abs()) * ease(0.08, 0.09, p.z);
        let brow = ease(0.052, 0.048, x) * ease(0.014, 0.018, x) * ease(0.0065, 0.004, (p.y - 1.650).abs());
        let face = mix(SKIN, [0.72, 0.42, 0.38], lips * 0.7);
        return mix(face, HAIR, hair.max(brow * ease(0.06, 0.07, p.z) * 0.8));
    }
    let belt = ease(0.985, 0.978, p.y + 0.01 * n.z) * ease(0.30, 0.28, x);
    let mut colour = mix(SHIRT, TROUSERS, belt);
    colour = mix(colour, SHOES, ease(0.092, 0.085, p.y));
    let wrist = ease(1.045, 1.035, p.y) * ease(0.28, 0.30, x);
    let collar = ease(1.418, 1.426, p.y + 0.2 * p.z.max(0.0)) * ease(0.088, 0.078, x);
    mix(colour, SKIN, wrist.max(collar))
}
