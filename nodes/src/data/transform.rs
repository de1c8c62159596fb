//! Translation, rotation and scale of a node.

use bytemuck::{Pod, Zeroable};
use glam::{Mat4, Quat, Vec3};
use serde::{Deserialize, Serialize};

/// Translation, rotation, scale: applied in the order scale, rotation, translation.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable, Serialize, Deserialize)]
#[repr(C)]
pub struct Transform {
    /// Translation.
    pub translation: Vec3,
    /// Rotation as a unit quaternion x, y, z, w (unaligned, so that transforms pack into a column).
    pub rotation: [f32; 4],
    /// Scale along the node's own axes.
    pub scale: Vec3,
}

impl Transform {
    /// No change.
    pub const IDENTITY: Self = Self { translation: Vec3::ZERO, rotation: [0.0, 0.0, 0.0, 1.0], scale: Vec3::ONE };

    /// The rotation as a quaternion.
    pub fn quat(&self) -> Quat {
        Quat::from_array(self.rotation)
    }

    /// As a matrix.
    pub fn matrix(&self) -> Mat4 {
        Mat4::from_scale_rotation_translation(self.scale, self.quat(), self.translation)
    }

    /// The nearest transform to a matrix; exact for matrices without shear.
    pub fn from_matrix(matrix: Mat4) -> Self {
        let (scale, rotation, translation) = matrix.to_scale_rotation_translation();
        Self { translation, rotation: rotation.to_array(), scale }
    }
}
