//! Joins regions that are one appendage: fur over skin (`tail-3d.md` A7).

use std::collections::BTreeSet;
use std::sync::Arc;

use glam::Vec3;
use sinew_graph::{Cx, Result, node};

use crate::data::{Collar, Region, Regions};
use crate::rig::collar;
use crate::rig::measures::NECK;
use crate::rig::surface::Surface;

/// Joins regions that hang from the same joint and whose boxes overlap by more than a share of the smaller one. Boxes stand
/// along the character's own axes, so that a turned file gives the same answer.
#[node(id = "rig.merge_regions", revision = 1)]
pub fn merge_regions(
    /// The regions, with their collars.
    regions: &Regions,
    /// The share of the smaller box that must lie in the other.
    #[param(default = 0.5, range = 0.0..=1.0)]
    overlap: f32,
    cx: &Cx,
) -> Result<Regions> {
    let body = &regions.body;
    let (up, forward) = (regions.stance.up, regions.stance.forward);
    let left = up.cross(forward);
    let boxes: Vec<(Vec3, Vec3)> = regions
        .regions
        .iter()
        .map(|region| {
            let turned = region.vertices.iter().map(|&v| {
                let p = body.mesh.positions[body.weld.first[v as usize] as usize];
                Vec3::new(p.dot(left), p.dot(up), p.dot(forward))
            });
            turned.fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(lo, hi), p| (lo.min(p), hi.max(p)))
        })
        .collect();
    let joint = |k: usize| regions.regions[k].collar.as_ref().map(|c| c.joint);
    let mut group: Vec<usize> = (0..boxes.len()).collect();
    let mut pairs: Vec<(usize, usize)> = (0..boxes.len()).flat_map(|a| (0..a).map(move |b| (a, b))).collect();
    cx.check()?;
    pairs.retain(|&(a, b)| joint(a).is_some() && joint(a) == joint(b) && share(boxes[a], boxes[b]) > overlap);
    if pairs.is_empty() {
        return Ok(regions.clone());
    }
    // A patch of the body below a tail hangs from the same joint, but nothing of it sticks out.
    let asked: BTreeSet<usize> = pairs.iter().flat_map(|&(a, b)| [a, b]).collect();
    let mut surface = Surface::of(asked.iter().map(|&k| &regions.regions[k]), body);
    let mut sticks_out = vec![false; boxes.len()];
    for k in asked {
        cx.check()?;
        sticks_out[k] = surface.neck(&regions.regions[k]) <= NECK;
    }
    for (a, b) in pairs.into_iter().filter(|&(a, b)| sticks_out[a] && sticks_out[b]) {
        let (from, to) = (group[a].max(group[b]), group[a].min(group[b]));
        group.iter_mut().filter(|g| **g == from).for_each(|g| *g = to);
    }
    let mut out = regions.clone();
    if group.iter().enumerate().all(|(k, &g)| k == g) {
        return Ok(out);
    }
    out.regions.clear();
    for (k, region) in regions.regions.iter().enumerate().filter(|(k, _)| group[*k] == *k) {
        let parts: Vec<&Region> = (0..group.len()).filter(|&j| group[j] == k).map(|j| &regions.regions[j]).collect();
        if parts.len() == 1 {
            out.regions.push(region.clone());
            continue;
        }
        let mut vertices: Vec<u32> = parts.iter().flat_map(|part| part.vertices.iter().copied()).collect();
        vertices.sort_unstable();
        vertices.dedup();
        let mut whole = region.clone();
        whole.vertices = vertices.into();
        whole.collar = joined_collar(&whole, &parts, regions);
        let numbers: Vec<String> = parts.iter().map(|part| part.number.to_string()).collect();
        whole.finding.reason = Arc::from(format!("{} regions in one place ({})", parts.len(), numbers.join(", ")));
        out.regions.push(whole);
    }
    Ok(out)
}

/// How much of the smaller box lies in the other. Flat boxes count by the sides they have.
fn share(a: (Vec3, Vec3), b: (Vec3, Vec3)) -> f32 {
    let size = |(lo, hi): (Vec3, Vec3)| (hi - lo).max(Vec3::splat(f32::MIN_POSITIVE.sqrt()));
    let both = (a.0.max(b.0), a.1.min(b.1));
    if (both.1 - both.0).min_element() < 0.0 {
        return 0.0;
    }
    let volume = |v: Vec3| f64::from(v.x) * f64::from(v.y) * f64::from(v.z);
    (volume(size(both)) / volume(size(a)).min(volume(size(b)))) as f32
}

/// The rings of all parts, without what lies in another part; the joint they share.
fn joined_collar(whole: &Region, parts: &[&Region], regions: &Regions) -> Option<Collar> {
    let own: Vec<u32> = parts.iter().filter_map(|p| p.collar.as_ref()).flat_map(|c| c.ring.iter().copied()).collect();
    let mut ring: Vec<u32> = own.iter().copied().filter(|v| whole.vertices.binary_search(v).is_err()).collect();
    // Shells of their own have their rings inside.
    if ring.is_empty()
        || parts
            .iter()
            .any(|p| p.collar.as_ref().is_some_and(|c| c.ring.iter().all(|v| p.vertices.binary_search(v).is_ok())))
    {
        ring = own;
    }
    ring.sort_unstable();
    ring.dedup();
    let first = parts[0].collar.as_ref()?;
    Some(collar::from_ring(ring, &regions.body, first.joint))
}
