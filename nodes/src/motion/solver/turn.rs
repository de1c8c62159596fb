//! Turns between directions.

use glam::{DQuat, DVec3};

/// The shortest turn of the unit vector `a` onto the unit vector `b`. For opposite ones, half a turn about z as far as
/// that is at right angles to them: a chain in the plane z = 0 stays there.
#[inline(always)]
pub fn swing(a: DVec3, b: DVec3) -> DQuat {
    let w = 1.0 + a.dot(b);
    if w < 1e-12 {
        let axis = [DVec3::Z, DVec3::X].into_iter().map(|axis| axis - axis.dot(a) * a).find(|axis| axis.length() > 0.5);
        let axis = axis.unwrap_or(DVec3::Y).normalize();
        return DQuat::from_xyzw(axis.x, axis.y, axis.z, 0.0);
    }
    // The square of its length is w² and the square of the sine, together 2 w.
    let scale = (w + w).sqrt().recip();
    let axis = a.cross(b) * scale;
    DQuat::from_xyzw(axis.x, axis.y, axis.z, w * scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_swing_takes_one_direction_onto_the_other() {
        let directions = [
            DVec3::X,
            DVec3::NEG_X,
            DVec3::Y,
            DVec3::NEG_Y,
            DVec3::Z,
            DVec3::NEG_Z,
            DVec3::new(1.0, 2.0, -2.0) / 3.0,
            DVec3::new(-1.0, -2.0, 2.0) / 3.0,
        ];
        for a in directions {
            for b in directions {
                let turned = swing(a, b) * a;
                assert!(turned.distance(b) < 1e-12, "{a} to {b}: {turned}");
            }
        }
    }

    #[test]
    fn half_a_turn_in_the_plane_is_about_z() {
        let (sin, cos) = 0.7f64.sin_cos();
        let a = DVec3::new(cos, sin, 0.0);
        assert_eq!(swing(a, -a), DQuat::from_xyzw(0.0, 0.0, 1.0, 0.0));
    }
}
