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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::data::{Joint, Transform};

    /// Joints one above the other, one unit apart; those from `added` on are not of the file.
    fn column(joints: u16, added: u16) -> (Skeleton, Skin, Vec<Mat4>) {
        let places: Vec<Mat4> = (0..joints).map(|k| Mat4::from_translation(Vec3::Y * f32::from(k))).collect();
        let joint = |k: u16| Joint {
            name: format!("{k}").into(),
            parent: k.checked_sub(1),
            node: (k < added).then_some(u32::from(k)),
            has_bind: true,
        };
        let skeleton = Skeleton {
            joints: (0..joints).map(joint).collect(),
            binds: places.iter().map(Mat4::to_cols_array).collect(),
            node_parents: (0..i32::from(added)).map(|k| k - 1).collect(),
            node_names: (0..added).map(|k| Arc::from(format!("{k}"))).collect(),
            node_locals: (0..added).map(|_| Transform::IDENTITY).collect(),
            to_world: Mat4::IDENTITY.to_cols_array(),
        };
        let skin = Skin { width: 1, joints: Arc::from([0]), weights: Arc::from([1.0]) };
        (skeleton, skin, places)
    }

    fn count(bones: &Bones, kind: Kind) -> usize {
        let triangles_of_a_bone = 8 + 2 * 6 * 10 * 2;
        bones.faces.iter().filter(|(k, _)| *k == kind).count() / triangles_of_a_bone
    }

    #[test]
    fn an_added_chain_stands_apart_and_a_weightless_end_has_no_bone() {
        // Two joints of the file, then a chain of two bones with a weightless end.
        let (skeleton, skin, places) = column(5, 2);
        let bones = Bones::new(&skeleton, &skin, &places, 5.0);
        assert_eq!((count(&bones, Kind::Body), count(&bones, Kind::Added)), (1, 2));
        assert!(bones.points.iter().all(|p| p.is_finite() && (-0.1..=4.1).contains(&p.y)));
    }

    #[test]
    fn a_leaf_that_moves_skin_gets_a_stub() {
        let (skeleton, skin, places) = column(2, 2);
        let skin = Skin { joints: Arc::from([1]), ..skin };
        let bones = Bones::new(&skeleton, &skin, &places, 2.0);
        assert_eq!(count(&bones, Kind::Body), 2);
    }
}
