//! Made bodies with known answers: tubes along a path, with a seam, on a skeleton of three joints.

use std::collections::{BTreeMap, BTreeSet};
use std::f32::consts::TAU;
use std::sync::Arc;

use glam::{Mat4, Quat, Vec3};

use crate::data::{
    Body, Character, Clips, Collar, Field, Finding, Joint, Kind, Mesh, Region, Regions, Skeleton, Skin, Source, Stance,
    Transform, Treatment, Weld,
};

/// The joint that tails hang from: bound turned and scaled by 100.
pub const HIPS: u16 = 1;

/// A surface to put into a body.
#[derive(Clone, Default)]
pub struct Shape {
    pub positions: Vec<Vec3>,
    pub triangles: Vec<[u32; 3]>,
}

impl Shape {
    /// A tube of `rings` + 1 rings of `around` quads along `path` (0 to 1). The first column of vertices is stored twice,
    /// as at a texture seam. Open at both ends. Rings stand at right angles to `path`.
    pub fn tube(path: impl Fn(f32) -> Vec3, radius: f32, rings: usize, around: usize) -> Self {
        let mut shape = Self::default();
        let mut side = (path(0.01) - path(0.0)).any_orthonormal_vector();
        for ring in 0..=rings {
            let t = ring as f32 / rings as f32;
            let along = (path(t + 0.01) - path(t - 0.01)).normalize();
            side = side.reject_from_normalized(along).normalize();
            let up = along.cross(side);
            for k in 0..=around {
                let angle = (k % around) as f32 / around as f32 * TAU;
                shape.positions.push(path(t) + (side * angle.cos() + up * angle.sin()) * radius);
            }
        }
        let at = |ring: usize, k: usize| (ring * (around + 1) + k) as u32;
        for ring in 0..rings {
            for k in 0..around {
                let [a, b, c, d] = [at(ring, k), at(ring, k + 1), at(ring + 1, k + 1), at(ring + 1, k)];
                shape.triangles.extend([[a, b, c], [a, c, d]]);
            }
        }
        shape
    }

    /// A straight tube.
    pub fn straight(from: Vec3, to: Vec3, radius: f32, rings: usize, around: usize) -> Self {
        Self::tube(|t| from + (to - from) * t, radius, rings, around)
    }
}

fn skeleton() -> Skeleton {
    let joint = |name: &str, parent, node| Joint { name: name.into(), parent, node: Some(node), has_bind: true };
    let turned = Mat4::from_scale_rotation_translation(
        Vec3::splat(100.0),
        Quat::from_rotation_y(0.7) * Quat::from_rotation_x(-0.4),
        Vec3::new(0.0, 1.0, 0.1),
    );
    let shin = Mat4::from_translation(Vec3::new(0.1, 0.3, 0.0));
    Skeleton {
        joints: [joint("Root", None, 0), joint("Hips", Some(0), 1), joint("Shin", Some(HIPS), 3)].into(),
        binds: [Mat4::IDENTITY, turned, shin].map(|m| m.to_cols_array()).into(),
        node_parents: [-1, 0, -1, 1].into(),
        node_names: ["Root", "Hips", "Body", "Shin"].map(Arc::from).into(),
        node_locals: [Transform::IDENTITY; 4].into(),
        to_world: Mat4::IDENTITY.to_cols_array(),
    }
}

/// A body of shapes, all weighted 0.75 to the shin and 0.25 to the root in four influences.
pub fn body(shapes: &[Shape]) -> Body {
    let (mut positions, mut triangles) = (Vec::<Vec3>::new(), Vec::new());
    for shape in shapes {
        let base = positions.len() as u32;
        positions.extend(&shape.positions);
        triangles.extend(shape.triangles.iter().map(|t| t.map(|v| v + base)));
    }
    let mut numbers = BTreeMap::new();
    let (mut welded, mut first) = (Vec::new(), Vec::new());
    for (k, p) in positions.iter().enumerate() {
        let bits: [u32; 3] = p.to_array().map(|x| (x + 0.0).to_bits());
        welded.push(*numbers.entry(bits).or_insert_with(|| {
            first.push(k as u32);
            first.len() as u32 - 1
        }));
    }
    let over_weld: Vec<[u32; 3]> = triangles.iter().map(|t| t.map(|v| welded[v as usize])).collect();
    let count = positions.len();
    Body {
        mesh: Mesh {
            normals: vec![Vec3::Y; count].into(),
            colours: vec![[255; 4]; count].into(),
            positions: positions.into(),
            triangles: triangles.into(),
            parts: Arc::from([]),
        },
        skeleton: skeleton(),
        skin: Skin {
            width: 4,
            joints: [2u16, 0, 0, 0].repeat(count).into(),
            weights: [0.75f32, 0.25, 0.0, 0.0].repeat(count).into(),
        },
        weld: Weld { welded: welded.into(), first: first.into(), triangles: over_weld.into() },
        distance: Field {
            name: "skeleton distance".into(),
            unit: "file units".into(),
            values: vec![0.0; count].into(),
            stub: None,
        },
    }
}

/// The region of all vertices where `inside` holds, with the ring of their neighbours as collar; for a region without
/// neighbours its own vertices where `root` holds. It gets a chain called `Tail` from the hips.
pub fn region(body: &Body, number: u32, inside: impl Fn(Vec3) -> bool, root: impl Fn(Vec3) -> bool) -> Region {
    let at = |v: u32| body.mesh.positions[body.weld.first[v as usize] as usize];
    let vertices: Vec<u32> = (0..body.weld.first.len() as u32).filter(|&v| inside(at(v))).collect();
    let within: BTreeSet<u32> = vertices.iter().copied().collect();
    let touching = body.weld.triangles.iter().filter(|t| t.iter().any(|v| within.contains(v)));
    let mut ring: BTreeSet<u32> = touching.flatten().copied().filter(|v| !within.contains(v)).collect();
    if ring.is_empty() {
        ring = vertices.iter().copied().filter(|&v| root(at(v))).collect();
    }
    let centre = ring.iter().map(|&v| at(v)).sum::<Vec3>() / ring.len() as f32;
    Region {
        number,
        vertices: vertices.into(),
        collar: Some(Collar { ring: ring.into_iter().collect(), centre, joint: HIPS }),
        finding: Finding {
            kind: Kind::Tail,
            treatment: Treatment::Chain,
            name: "Tail".into(),
            extent: 0.0,
            elongation: 3.0,
            offset: 1.0,
            reason: "made so".into(),
        },
    }
}

/// Regions of a character of height `height`.
pub fn regions(body: Body, height: f32, regions: Vec<Region>) -> Regions {
    Regions { body, stance: Stance { up: Vec3::Y, forward: Vec3::Z, height }, regions }
}

/// A straight tail along -Z from the hips of a character of height 2: 16 rings of 0.05, the first of which belong to the
/// body, so that the tail is 0.8 long from its collar.
pub fn straight_tail() -> Regions {
    let root = Vec3::new(0.0, 1.0, 0.0);
    let body = body(&[Shape::straight(root + Vec3::Z * 0.1, root - Vec3::Z * 0.8, 0.06, 18, 12)]);
    let tail = region(&body, 0, |p| p.z < -0.025, |_| false);
    regions(body, 2.0, vec![tail])
}

/// A character around a body.
pub fn character(body: &Body) -> Character {
    Character {
        name: "made".into(),
        source: Source { json: "{}".into(), buffers: vec![], files: vec![], repaired: Arc::from([]) },
        mesh: body.mesh.clone(),
        skeleton: body.skeleton.clone(),
        skin: body.skin.clone(),
        source_skin: body.skin.clone(),
        clips: Clips::default(),
    }
}
