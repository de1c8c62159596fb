//! The ring around the root of each region, and the joint that the region hangs from (`tail-3d.md` A5).

use glam::Vec3;
use sinew_graph::{Cx, Result, node};

use crate::data::{Body, Collar, Region, Regions};
use crate::rig::anatomy::{Anatomy, Role};
use crate::rig::surface::Surface;

/// Finds where each region meets the rest: the ring of vertices around its root, and the joint that it hangs from. Weights
/// are not asked, because they are what is wrong.
#[node(id = "rig.collar", revision = 1)]
pub fn collar(
    /// The regions.
    regions: &Regions,
    /// A torso or thigh joint is preferred up to this many times the distance of the nearest joint.
    #[param(default = PREFERENCE, range = 1.0..=10.0)]
    preference: f32,
    /// The name of the pelvis joint, where it should not be told from the skeleton.
    #[param(default = String::new())]
    pelvis: String,
    cx: &Cx,
) -> Result<Regions> {
    let mut out = regions.clone();
    if out.regions.is_empty() {
        return Ok(out);
    }
    let body = &regions.body;
    let pelvis = named_joint(body, &pelvis)?;
    let anatomy = Anatomy::standing(regions.stance, &body.skeleton, &body.skin, pelvis);
    let mut surface = Surface::of(&regions.regions, body);
    for region in &mut out.regions {
        cx.check()?;
        region.collar = find(region, body, &anatomy, &mut surface, preference);
    }
    Ok(out)
}

/// The joint called `name`; an error that names it if there is none. Empty for none.
pub(super) fn named_joint(body: &Body, name: &str) -> Result<Option<u16>> {
    if name.is_empty() {
        return Ok(None);
    }
    let found = body.skeleton.joints.iter().position(|joint| &*joint.name == name);
    found.map(|k| Some(k as u16)).ok_or_else(|| {
        sinew_graph::NodeError::new(format!("there is no joint called {name:?}"))
            .at("pelvis")
            .help("write a joint's name as the skeleton spells it, or leave it empty")
    })
}

/// Up to how many times the distance of the nearest joint a torso or thigh joint is preferred, by default.
pub(super) const PREFERENCE: f32 = 1.5;

/// How close to the preferred distance still counts as within: a case on the border must not flip with rounding.
const ROUNDING: f32 = 1.02;

/// The share of a shell without a border, counted from its vertex nearest to the skeleton, that is its root.
const ROOT_SHARE: f32 = 0.12;

pub(super) fn find(
    region: &Region,
    body: &Body,
    anatomy: &Anatomy,
    surface: &mut Surface<'_>,
    preference: f32,
) -> Option<Collar> {
    let mut ring = surface.ring(region);
    if ring.is_empty() {
        ring = own_root(region, body);
    }
    let joint = hangs_from(centroid(&ring, body), body, anatomy, preference)?;
    Some(from_ring(ring, body, joint))
}

fn centroid(ring: &[u32], body: &Body) -> Vec3 {
    let place = |v: u32| body.mesh.positions[body.weld.first[v as usize] as usize].as_dvec3();
    (ring.iter().map(|&v| place(v)).sum::<glam::DVec3>() / ring.len().max(1) as f64).as_vec3()
}

/// A collar of a known ring and joint.
pub(super) fn from_ring(ring: Vec<u32>, body: &Body, joint: u16) -> Collar {
    Collar { centre: centroid(&ring, body), ring: ring.into(), joint }
}

/// The root ring of a region that is a whole shell: of its vertices, those nearest to the skeleton.
fn own_root(region: &Region, body: &Body) -> Vec<u32> {
    let distance = |v: u32| body.distance.values[body.weld.first[v as usize] as usize];
    let (lo, hi) =
        region.vertices.iter().fold((f32::INFINITY, 0.0f32), |(lo, hi), &v| (lo.min(distance(v)), hi.max(distance(v))));
    let limit = lo + (hi - lo) * ROOT_SHARE;
    region.vertices.iter().copied().filter(|&v| distance(v) <= limit).collect()
}

/// The joint that what starts at `centre` hangs from: the nearest, but a torso or thigh joint if it is nearly as near, and of
/// those the pelvis first.
fn hangs_from(centre: Vec3, body: &Body, anatomy: &Anatomy, preference: f32) -> Option<u16> {
    let mut joints: Vec<(f32, u16)> = (0..anatomy.bones.used.len() as u16)
        .filter(|&j| anatomy.bones.used[usize::from(j)])
        .map(|j| (body.skeleton.position(usize::from(j)).distance(centre), j))
        .collect();
    joints.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let &(nearest, first) = joints.first()?;
    // Between thigh and hips the body is meant; an ear is the head's, however near the chest is.
    if anatomy.roles[usize::from(first)] == Role::Head {
        return Some(first);
    }
    let limit = nearest * preference * ROUNDING;
    let role = |joint: u16| anatomy.roles[usize::from(joint)];
    let near = || joints.iter().take_while(|(d, _)| *d <= limit).map(|&(_, joint)| joint);
    near()
        .find(|&j| role(j) == Role::Pelvis)
        .or_else(|| near().find(|&j| role(j).is_torso()))
        .or_else(|| near().find(|&j| role(j) == Role::Thigh))
        .or(Some(first))
}
