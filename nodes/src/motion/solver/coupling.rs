//! Bends of neighbours even out (`tail-3d.md` C4).

use glam::DQuat;

/// Terms of the series for sin(t x) / sin x in cos x - 1. Rotations up to 60 degrees apart need no more for 64 bits.
const TERMS: usize = 12;

/// Half the cosine's way to that bound.
const NEAR: f64 = 0.866;

/// Where seven terms are enough: 16 degrees apart.
const FEW: f64 = 0.0098;

/// How far a bend goes to its neighbours' in one step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Coupling {
    share: f64,
    /// Factors of the series for the own part and for that of the neighbours.
    own: [f64; TERMS],
    other: [f64; TERMS],
}

impl Coupling {
    /// `share` is between 0 and 1: `1 - exp(-k dt)`.
    pub fn new(share: f64) -> Self {
        // D. Eberly, A fast and accurate algorithm for computing SLERP (2011): each term is the one before times this.
        let factors = |t: f64| {
            std::array::from_fn(|i| {
                let n = (i + 1) as f64;
                (t * t / n - n) / (2.0 * n + 1.0)
            })
        };
        Self { share, own: factors(1.0 - share), other: factors(share) }
    }

    /// A bend after one step, between the neighbours' bends of the step before. The root's support is an unbent
    /// neighbour; the tip has one neighbour.
    #[inline]
    pub fn blend(&self, bend: DQuat, before: Option<DQuat>, after: Option<DQuat>) -> DQuat {
        let Some(after) = after else { return self.slerp(bend, before.unwrap_or(DQuat::IDENTITY)) };
        let before = before.unwrap_or(DQuat::IDENTITY);
        // Halfway between two unit quaternions is their sum's direction.
        let sum = if before.dot(after) < 0.0 { before - after } else { before + after };
        self.slerp(bend, sum.normalize())
    }

    #[inline(always)]
    fn slerp(&self, a: DQuat, b: DQuat) -> DQuat {
        let cosine = a.dot(b);
        let (b, cosine) = if cosine < 0.0 { (-b, -cosine) } else { (b, cosine) };
        if cosine < NEAR {
            return crate::pose::slerp(a, b, self.share);
        }
        let x = cosine - 1.0;
        // Neighbours are mostly almost alike. The terms fall by half of x or more each.
        let [own, other] = if x > -FEW { self.factors::<7>(x) } else { self.factors::<TERMS>(x) };
        a * own + b * other
    }

    /// The parts of both ends from the first terms of the series.
    #[inline]
    fn factors<const N: usize>(&self, x: f64) -> [f64; 2] {
        let series =
            |factors: &[f64; TERMS]| factors[..N].iter().rev().fold(1.0, |sum, factor| 1.0 + (factor * x) * sum);
        [(1.0 - self.share) * series(&self.own), self.share * series(&self.other)]
    }
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;

    #[test]
    fn the_series_is_the_spherical_interpolation() {
        for degrees in [0.0f64, 1e-6, 3.0, 30.0, 59.0, 61.0, 150.0] {
            for share in [0.0, 0.0488, 0.181, 0.330, 0.5, 1.0] {
                let axis = DVec3::new(2.0, -1.0, 2.0) / 3.0;
                let (a, b) =
                    (DQuat::from_axis_angle(axis, 0.4), DQuat::from_axis_angle(axis, 0.4 + degrees.to_radians()));
                let found = Coupling::new(share).slerp(a, b);
                let exact = DQuat::from_axis_angle(axis, 0.4 + share * degrees.to_radians());
                assert!((found - exact).length() < 1e-14, "{degrees} {share}: {found} {exact}");
            }
        }
    }

    #[test]
    fn the_root_is_held_and_the_tip_has_one_neighbour() {
        let about = |degrees: f64| DQuat::from_rotation_x(degrees.to_radians());
        let coupling = Coupling::new(0.5);
        let close = |a: DQuat, b: DQuat| assert!((a - b).length() < 1e-14, "{a} {b}");
        // Halfway from 8 to half of 20, to the middle of 4 and 20, and to 4.
        close(coupling.blend(about(8.0), None, Some(about(20.0))), about(9.0));
        close(coupling.blend(about(8.0), Some(about(4.0)), Some(about(20.0))), about(10.0));
        close(coupling.blend(about(8.0), Some(about(4.0)), None), about(6.0));
    }
}
