//! `measure.bone_distance` (`tail-3d.md` B5).

use std::sync::Arc;

use glam::Vec3;
use sinew_graph::{Cx, NodeError, Result, node};

use super::region::{Which, areas, height};
use crate::data::{Character, Regions, Skeleton, Skin, Table};

/// Measures how far the skin is from the bones that drive it, in the bind pose.
///
/// For each vertex the distances to its bones are averaged by weight; the figure is the mean over all stored vertices of
/// a region. A joint's bone is what it carries: the segments to its child joints, of which the nearest counts; for a
/// joint without children, its place. Skin that is driven by its own bones is near to them.
#[node(id = "measure.bone_distance", revision = 1)]
pub fn bone_distance(
    /// The character to measure.
    character: &Character,
    /// The regions to measure; without any, the whole skin is measured.
    regions: Option<&Regions>,
    /// Which regions.
    #[param(default = Which::Treated)]
    measured: Which,
    cx: &Cx,
) -> Result<Table> {
    let areas = areas(character, regions, measured)?;
    if regions.is_some() && areas.is_empty() {
        cx.warn_at(
            "regions",
            "no region is treated: the whole skin is measured; set measured to all to measure regions",
        );
    }
    let (mesh, skeleton, skin) = (&character.mesh, &character.skeleton, &character.skin);
    let height = height(mesh, skeleton, regions);
    let everything = vec![true; mesh.positions.len()];
    let masks: Vec<(Arc<str>, &[bool])> = match &areas[..] {
        [] => vec![("all".into(), &everything)],
        areas => areas.iter().map(|area| (Arc::clone(&area.name), &area.mask[..])).collect(),
    };
    let mut rows = Vec::with_capacity(masks.len());
    for (name, mask) in masks {
        let (mean, measured, unweighted) = mean(&mesh.positions, skin, skeleton, mask, cx)?;
        if unweighted > 0 {
            cx.warn_at("character", format!("{name}: {unweighted} vertices have no weight and were left out"));
        }
        rows.push((name, mean, measured));
    }
    Ok(Table::new("bone_distance")
        .texts("region", rows.iter().map(|row| Arc::clone(&row.0)))
        .integers("vertices", rows.iter().map(|row| row.2 as i32))
        .numbers("distance", "file units", rows.iter().map(|row| row.1))
        .numbers("distance / H", "heights", rows.iter().map(|row| row.1 / height)))
}

/// The mean distance (NaN for no vertex), how many vertices it is of, and how many had no weight.
fn mean(positions: &[Vec3], skin: &Skin, skeleton: &Skeleton, mask: &[bool], cx: &Cx) -> Result<(f64, usize, usize)> {
    let fits =
        skin.len() == positions.len() && skin.joints.iter().all(|&joint| usize::from(joint) < skeleton.joints.len());
    if !fits {
        return Err(NodeError::new("the skin does not fit the mesh or the skeleton")
            .at("character")
            .help("take mesh, skin and skeleton from the same character"));
    }
    let bones: Vec<Vec<Vec3>> = skeleton
        .children()
        .iter()
        .map(|children| children.iter().map(|&child| skeleton.position(usize::from(child))).collect())
        .collect();
    let (mut sum, mut measured, mut unweighted) = (0.0f64, 0usize, 0usize);
    for (vertex, &p) in positions.iter().enumerate().filter(|&(vertex, _)| mask[vertex]) {
        if vertex % 4096 == 0 {
            cx.check()?;
        }
        let (mut distance, mut total) = (0.0f64, 0.0f64);
        for (joint, weight) in skin.influences(vertex) {
            let joint = usize::from(joint);
            let head = skeleton.position(joint);
            let nearest = bones[joint].iter().map(|&tail| segment_distance(p, head, tail)).reduce(f32::min);
            distance += f64::from(weight) * f64::from(nearest.unwrap_or_else(|| p.distance(head)));
            total += f64::from(weight);
        }
        if total > 0.0 {
            sum += distance / total;
            measured += 1;
        } else {
            unweighted += 1;
        }
    }
    Ok((sum / measured as f64, measured, unweighted))
}

/// Distance from a point to a segment; a segment without length is a point.
fn segment_distance(p: Vec3, a: Vec3, b: Vec3) -> f32 {
    let along = b - a;
    let square = along.length_squared();
    let t = if square > 0.0 { ((p - a).dot(along) / square).clamp(0.0, 1.0) } else { 0.0 };
    p.distance(a + along * t)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::edge_stretch::tests::{arm, regions_of};

    #[test]
    fn distances_to_segments_are_those_of_school() {
        let (a, b) = (Vec3::ZERO, Vec3::new(2.0, 0.0, 0.0));
        assert_eq!(segment_distance(Vec3::new(1.0, 3.0, 0.0), a, b), 3.0);
        assert_eq!(segment_distance(Vec3::new(5.0, 4.0, 0.0), a, b), 5.0);
        assert_eq!(segment_distance(Vec3::new(-3.0, 0.0, 4.0), a, b), 5.0);
        assert_eq!(segment_distance(Vec3::new(3.0, 4.0, 0.0), a, a), 5.0);
    }

    #[test]
    fn the_mean_is_weighted_by_influence_over_the_region() {
        // Strip of vertices at x = 0, 1, 2 and y = 0, 1; upper arm from 0 to 1, forearm a leaf at 1.
        let character = arm();
        let cx = Cx::detached();
        // Vertices 4 and 5 stand at x = 2 and hang from the forearm: 1 and sqrt 2 from its joint.
        let table = bone_distance(&character, Some(&regions_of(&character, &[4, 5])), Which::Treated, &cx).unwrap();
        let value = |name: &str, table: &Table| match &table.column(name).unwrap().cells {
            crate::data::Cells::Number(v) => v[0],
            other => panic!("{other:?}"),
        };
        assert!((value("distance", &table) - (1.0 + 2f64.sqrt()) / 2.0).abs() < 1e-6);
        // The strip is 1 high.
        assert!((value("distance / H", &table) - (1.0 + 2f64.sqrt()) / 2.0).abs() < 1e-6);
        // All six: 0, 1 | 0, 1 (half and half, both bones meet there) | 1, sqrt 2.
        let all = bone_distance(&character, None, Which::Treated, &cx).unwrap();
        assert!((value("distance", &all) - (3.0 + 2f64.sqrt()) / 6.0).abs() < 1e-6);
    }
}
