//! Arithmetic that gives the same bits on every machine: only operations that IEEE 754 rounds exactly. The sine of a
//! platform's mathematics library differs between platforms, and with it every digest downstream would.

use std::f64::consts::{FRAC_PI_2, TAU};

use glam::{DQuat, DVec3};

/// Sine and cosine of an angle in radians, to about 1e-12 for angles of a few turns.
pub fn sin_cos(angle: f64) -> (f64, f64) {
    let quarter = (angle / FRAC_PI_2).round();
    let x = angle - quarter * FRAC_PI_2;
    let x2 = x * x;
    // Taylor series; on a quarter turn around zero the first term left out is under 1e-13.
    let series = |first: u32| {
        let (mut sum, mut term) = (0.0, if first == 0 { 1.0 } else { x });
        for k in 0..8 {
            sum += term;
            let n = f64::from(2 * k + first + 1);
            term *= -x2 / (n * (n + 1.0));
        }
        sum
    };
    let (sin, cos) = (series(1), series(0));
    match quarter.rem_euclid(4.0) as u32 {
        0 => (sin, cos),
        1 => (cos, -sin),
        2 => (-sin, -cos),
        _ => (-cos, sin),
    }
}

/// Sine and cosine of a fraction of a turn.
pub fn turn(fraction: f64) -> (f64, f64) {
    sin_cos(fraction * TAU)
}

/// The rotation about a unit axis by degrees.
pub fn about(axis: DVec3, degrees: f64) -> DQuat {
    let (sin, cos) = sin_cos(degrees.to_radians() * 0.5);
    DQuat::from_xyzw(axis.x * sin, axis.y * sin, axis.z * sin, cos)
}

/// 0 below `from`, 1 above `to`, smooth between.
pub fn ease(from: f64, to: f64, x: f64) -> f64 {
    let t = ((x - from) / (to - from)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// Between two colours.
pub fn mix(a: [f64; 3], b: [f64; 3], t: f64) -> [f64; 3] {
    [0, 1, 2].map(|k| a[k] + (b[k] - a[k]) * t)
}

/// An sRGB component as linear light: glTF vertex colours are linear.
pub fn linear(c: f64) -> f64 {
    if c <= 0.04045 {
        return c / 12.92;
    }
    let x = (c + 0.055) / 1.055;
    // x^2.4 = x^2 · (x^2)^(1/5); the fifth root by Newton's method from above.
    let square = x * x;
    let mut root = 1.0;
    for _ in 0..12 {
        let fourth = root * root * root * root;
        root -= (root * fourth - square) / (5.0 * fourth);
    }
    square * root
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sine_and_linear_light_agree_with_the_library() {
        for k in -200..200 {
            let angle = f64::from(k) * 0.05;
            let (sin, cos) = sin_cos(angle);
            assert!((sin - angle.sin()).abs() < 1e-10 && (cos - angle.cos()).abs() < 1e-10, "{angle}");
        }
        for k in 0..=255 {
            let c = f64::from(k) / 255.0;
            let known = if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) };
            assert!((linear(c) - known).abs() < 1e-9, "{c}");
        }
    }
}
