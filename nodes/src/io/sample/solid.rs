//! A body as blended solids: each is a signed distance and belongs to a joint, so that skin and weights come from one
//! description.

use glam::{DQuat, DVec3};

/// A solid.
#[derive(Clone, Copy, Debug)]
pub enum Shape {
    /// A capsule whose radius runs straight from one end to the other, flattened along z by a factor.
    Limb { a: DVec3, b: DVec3, ra: f64, rb: f64, flat: f64 },
    /// An ellipsoid, turned.
    Egg { centre: DVec3, radii: DVec3, turn: DQuat },
}

impl Shape {
    /// Signed distance, negative inside: exact enough near the surface, never far beyond the true distance.
    pub fn distance(&self, p: DVec3) -> f64 {
        match *self {
            Self::Limb { a, b, ra, rb, flat } => {
                let squash = |v: DVec3| DVec3::new(v.x, v.y, v.z / flat);
                let (along, at) = (squash(b - a), squash(p - a));
                let t = (at.dot(along) / along.length_squared().max(1e-12)).clamp(0.0, 1.0);
                ((at - along * t).length() - (ra + (rb - ra) * t)) * flat
            }
            Self::Egg { centre, radii, turn } => {
                let at = turn.conjugate() * (p - centre) / radii;
                let (near, slope) = (at.length(), (at / radii).length());
                if slope < 1e-9 { -radii.min_element() } else { near * (near - 1.0) / slope }
            }
        }
    }

    /// A ball around it: centre and radius.
    pub fn ball(&self) -> (DVec3, f64) {
        match *self {
            Self::Limb { a, b, ra, rb, .. } => ((a + b) * 0.5, (b - a).length() * 0.5 + ra.max(rb)),
            Self::Egg { centre, radii, .. } => (centre, radii.max_element()),
        }
    }

    /// Its mirror image, left to right.
    pub fn mirrored(&self) -> Self {
        let flip = |v: DVec3| DVec3::new(-v.x, v.y, v.z);
        match *self {
            Self::Limb { a, b, ra, rb, flat } => Self::Limb { a: flip(a), b: flip(b), ra, rb, flat },
            Self::Egg { centre, radii, turn } => {
                Self::Egg { centre: flip(centre), radii, turn: DQuat::from_xyzw(turn.x, -turn.y, -turn.z, turn.w) }
            }
        }
    }
}

/// A solid of a body.
#[derive(Clone, Copy, Debug)]
pub struct Blob {
    /// Its shape.
    pub shape: Shape,
    /// How softly it blends with what stands before it, metres.
    pub blend: f64,
    /// Whether it is taken away instead of added.
    pub carve: bool,
    /// The joint that moves it.
    pub joint: usize,
}

/// Signed distance to blended solids: polynomial blends, so that a solid further off than its blend changes nothing.
pub fn distance<'a>(blobs: impl IntoIterator<Item = &'a Blob>, p: DVec3) -> f64 {
    let mut all = 1e3;
    for blob in blobs {
        let (sign, d) = if blob.carve { (-1.0, blob.shape.distance(p)) } else { (1.0, blob.shape.distance(p)) };
        let (a, k) = (sign * all, blob.blend.max(1e-9));
        let h = (1.0 - (a - d).abs() / k).max(0.0);
        all = sign * (a.min(d) - h * h * k * 0.25);
    }
    all
}
