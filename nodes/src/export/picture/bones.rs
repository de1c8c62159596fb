//! Bones as double pyramids, the way rigging programs draw them.

use glam::{Mat4, Vec3};

use crate::data::{Skeleton, Skin};

/// What a bone is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Of the file.
    Body,
    /// Of a chain that Sinew added.
    Added,
}

/// Bones as triangles.
#[derive(Debug, Default)]
pub struct Bones {
    pub points: Vec<Vec3>,
    pub triangles: Vec<[u32; 3]>,
    /// Per triangle: what bone it is of, and a number that differs between faces.
    pub faces: Vec<(Kind, u32)>,
}

impl Bones {
    /// The bones between joints at some places. `height` is the figure's, for how thick bones may be.
    pub fn new(skeleton: &Skeleton, skin: &Skin, places: &[Mat4], height: f32) -> Self {
        let mut bones = Self::default();
        let at = |k: usize| places[k].w_axis.truncate();
        let mut rules = vec![false; skeleton.joints.len()];
        for (&joint, &weight) in skin.joints.iter().zip(skin.weights.iter()) {
            if let Some(rule) = rules.get_mut(usize::from(joint)).filter(|_| weight > 0.0) {
                *rule = true;
            }
        }
        let kind = |k: usize| if skeleton.joints[k].node.is_none() { Kind::Added } else { Kind::Body };
        for (k, children) in skeleton.children().iter().enumerate() {
            for &child in children {
                let child = usize::from(child);
                // Between an old joint and a new one there is no bone: the chain begins at its own first joint.
                if kind(k) == kind(child) {
                    bones.bone(at(k), at(child), kind(k), height);
                }
            }
            if let (true, true, Some(parent)) = (children.is_empty(), rules[k], skeleton.joints[k].parent) {
                let parent = usize::from(parent);
                let incoming = at(k) - at(parent);
                let length = incoming.length().min(0.12 * height) * 0.6;
                bones.bone(at(k), at(k) + incoming.normalize_or_zero() * length, kind(k), height);
            }
        }
        bones
    }

    fn bone(&mut self, from: Vec3, to: Vec3, kind: Kind, height: f32) {
        let along = to - from;
        let length = along.length();
        if !(length > 1e-4 * height && length.is_finite()) {
            return;
        }
        let thick = match kind {
            Kind::Body => 0.10 * length,
            Kind::Added => 0.16 * length,
        };
        let thick = thick.clamp(0.004 * height, 0.014 * height);
        let along = along / length;
        let side = along.any_orthonormal_vector();
        let up = along.cross(side);
        let waist = from + along * (0.16 * length).min(1.6 * thick);
        let base = self.points.len() as u32;
        self.points.extend([
            from,
            waist + side * thick,
            waist + up * thick,
            waist - side * thick,
            waist - up * thick,
            to,
        ]);
        for k in 0..4 {
            let (a, b) = (base + 1 + k, base + 1 + (k + 1) % 4);
            self.push([base, b, a], kind);
            self.push([a, b, base + 5], kind);
        }
        self.knob(from, thick * 0.62, kind);
        self.knob(to, thick * 0.42, kind);
    }

    /// A small ball at a joint.
    fn knob(&mut self, at: Vec3, radius: f32, kind: Kind) {
        let base = self.points.len() as u32;
        let (rows, sides) = (6u32, 10u32);
        for row in 0..=rows {
            let (ring, height) = (row as f32 / rows as f32 * std::f32::consts::PI).sin_cos();
            for side in 0..sides {
                let (sin, cos) = (side as f32 / sides as f32 * std::f32::consts::TAU).sin_cos();
                self.points.push(at + Vec3::new(cos * ring, height, sin * ring) * radius);
            }
        }
        let shade = self.faces.len() as u32;
        for row in 0..rows {
            for side in 0..sides {
                let (a, b) = (base + row * sides + side, base + row * sides + (side + 1) % sides);
                for triangle in [[a, b, b + sides], [a, b + sides, a + sides]] {
                    self.triangles.push(triangle);
                    self.faces.push((kind, shade));
                }
            }
        }
    }

    fn push(&mut self, triangle: [u32; 3], kind: Kind) {
        self.faces.push((kind, self.faces.len() as u32));
        self.triangles.push(triangle);
    }
}
