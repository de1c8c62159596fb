//! Which vertices a measure is about.

use std::sync::Arc;

use glam::{Mat4, Vec3};
use sinew_graph::{Choice, NodeError, Result};

use crate::data::{Character, Mesh, Regions, Skeleton, Treatment};

/// Which regions to measure.
#[derive(Choice, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Which {
    /// Those that get bones or follow a joint rigidly.
    #[default]
    Treated,
    /// All.
    All,
}

/// A region by its original vertices.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Area {
    /// Its name for people.
    pub name: Arc<str>,
    /// Per original vertex of the mesh: whether it belongs.
    pub mask: Vec<bool>,
}

/// The regions to measure on a character, in order; an error if they are of a mesh with other vertices.
pub(super) fn areas(character: &Character, regions: Option<&Regions>, which: Which) -> Result<Vec<Area>> {
    let Some(regions) = regions else { return Ok(Vec::new()) };
    let welded = &regions.body.weld.welded;
    if welded.len() != character.mesh.positions.len() {
        return Err(NodeError::new(format!(
            "the regions are of a mesh with {} vertices but {:?} has {}",
            welded.len(),
            character.name,
            character.mesh.positions.len()
        ))
        .at("regions")
        .help("measure the character that the regions were found on, or one made from it"));
    }
    let measured = regions.regions.iter().filter(|region| match which {
        Which::Treated => region.finding.treatment != Treatment::Unchanged,
        Which::All => true,
    });
    let mut areas: Vec<Area> = measured
        .map(|region| {
            let mut inside = vec![false; regions.body.weld.first.len()];
            for &vertex in region.vertices.iter() {
                inside[vertex as usize] = true;
            }
            let name = match &*region.finding.name {
                "" => format!("region {}", region.number).into(),
                _ => Arc::clone(&region.finding.name),
            };
            Area { name, mask: welded.iter().map(|&vertex| inside[vertex as usize]).collect() }
        })
        .collect();
    // Where names repeat, numbers tell them apart.
    let names: Vec<Arc<str>> = areas.iter().map(|area| Arc::clone(&area.name)).collect();
    for (k, area) in areas.iter_mut().enumerate() {
        if names.iter().filter(|&name| *name == area.name).count() > 1 {
            let before = names[..k].iter().filter(|&name| *name == area.name).count();
            area.name = format!("{} {}", area.name, before + 1).into();
        }
    }
    Ok(areas)
}

/// One height, H: the extent of the bind-pose mesh along up; from the regions' stance where there is one.
pub fn height(mesh: &Mesh, skeleton: &Skeleton, regions: Option<&Regions>) -> f64 {
    if let Some(regions) = regions {
        return f64::from(regions.stance.height);
    }
    let up = Mat4::from_cols_array(&skeleton.to_world).inverse().transform_vector3(Vec3::Y).normalize_or(Vec3::Y);
    let along = mesh.positions.iter().map(|p| p.dot(up));
    let (low, high) = along.fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
    f64::from((high - low).max(0.0))
}
