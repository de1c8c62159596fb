//! A character as the renderer sees it: points, normals, colours and bones in the world, posed.

use glam::{Mat4, Vec3};
use sinew_graph::{NodeError, Result};

use super::bones::Bones;
use super::light::linear;
use crate::data::{Character, Clips, Field};
use crate::pose::{Rig, find_clip, skin_positions};

/// What is drawn.
pub struct Scene<'a> {
    pub points: Vec<Vec3>,
    pub normals: Vec<Vec3>,
    /// Linear light.
    pub colours: Vec<Vec3>,
    pub triangles: &'a [[u32; 3]],
    pub bones: Bones,
    /// The greatest extent.
    pub extent: f32,
    /// Where it stands.
    pub floor: f32,
}

impl<'a> Scene<'a> {
    /// A character in its bind pose, or at a moment of a clip.
    pub fn new(
        character: &'a Character,
        clips: Option<&Clips>,
        field: Option<&Field>,
        clip: &str,
        time: f32,
    ) -> Result<Self> {
        let (mesh, skeleton) = (&character.mesh, &character.skeleton);
        let to_world = Mat4::from_cols_array(&skeleton.to_world);
        let bind: Vec<Vec3> = mesh.positions.iter().map(|&p| to_world.transform_point3(p)).collect();
        let (points, normals, places) = if clip.is_empty() {
            let normals = mesh.normals.iter().map(|&n| to_world.transform_vector3(n).normalize_or_zero()).collect();
            let places = (0..skeleton.joints.len()).map(|k| to_world * skeleton.bind(k)).collect();
            (bind.clone(), normals, places)
        } else {
            let clip = find_clip(clips.unwrap_or(&character.clips), clip).map_err(|error| error.at("clip"))?;
            let rig = Rig::new(skeleton)?;
            let pose = rig.sample(clip, time)?;
            let matrices = rig.matrices(&pose);
            let mut points = Vec::new();
            skin_positions(mesh, &character.skin, &matrices, &mut points)?;
            let turned = |(v, &n): (usize, &Vec3)| {
                let influences = character.skin.influences(v);
                let sum: Vec3 = influences
                    .map(|(joint, weight)| matrices.joints[usize::from(joint)].transform_vector3(n) * weight)
                    .sum();
                sum.normalize_or_zero()
            };
            let normals = mesh.normals.iter().enumerate().map(turned).collect();
            let places = rig.joint_globals(&pose).iter().map(|m| glam::DMat4::from(*m).as_mat4()).collect::<Vec<_>>();
            (points, normals, places)
        };
        let finite = |points: &[Vec3]| {
            let finite = points.iter().filter(|p| p.is_finite());
            finite.fold(None, |all: Option<(Vec3, Vec3)>, &p| match all {
                None => Some((p, p)),
                Some((low, high)) => Some((low.min(p), high.max(p))),
            })
        };
        let (low, high) = finite(&bind).unwrap_or_default();
        let extent = (high - low).max_element().max(1e-6);
        // A file that stands on its origin says where the floor is, even if a tail hangs below it.
        let floor = if low.y.abs() < 0.08 * extent { 0.0 } else { low.y };
        let colours = match field {
            None => mesh.colours.iter().map(|&c| linear(c)).collect(),
            Some(field) => ramp(field, points.len())?,
        };
        let bones = Bones::new(skeleton, &character.skin, &places, high.y - low.y);
        Ok(Self { points, normals, colours, triangles: &mesh.triangles, bones, extent, floor })
    }
}

/// A field as colours.
fn ramp(field: &Field, vertices: usize) -> Result<Vec<Vec3>> {
    if field.values.len() != vertices {
        return Err(NodeError::new(format!(
            "the field has {} values but the character {vertices} vertices",
            field.values.len()
        ))
        .at("field")
        .help("take the field from the same character"));
    }
    let finite = || field.values.iter().copied().filter(|v| v.is_finite());
    let (low, high) = (finite().fold(f32::MAX, f32::min), finite().fold(f32::MIN, f32::max));
    const STOPS: [[u8; 4]; 5] =
        [[38, 44, 92, 255], [42, 110, 150, 255], [60, 175, 130, 255], [190, 210, 70, 255], [252, 226, 60, 255]];
    let colour = |&v: &f32| {
        if !v.is_finite() || high <= low {
            return linear(STOPS[0]);
        }
        let at = (v - low) / (high - low) * (STOPS.len() - 1) as f32;
        let k = (at as usize).min(STOPS.len() - 2);
        linear(STOPS[k]).lerp(linear(STOPS[k + 1]), at - k as f32)
    };
    Ok(field.values.iter().map(colour).collect())
}
