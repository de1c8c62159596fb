//! `rig.dijkstra_chain`: where the bones of an appendage go.

use std::sync::Arc;

use sinew_graph::{Cx, NodeError, Outputs, Result, node};

use super::chain::bridge::{Bridged, bridge};
use super::chain::geodesic::spread;
use super::chain::patch::Patch;
use super::chain::{centreline, patch};
use crate::data::{Chain, Chains, Collar, Field, Region, Regions, Table, Treatment};

/// What [`dijkstra_chain`] gives.
#[derive(Debug, Outputs)]
pub struct ChainsOut {
    /// A chain for each region that gets one.
    pub chains: Chains,
    /// Distance from the collar along the skin; 0 outside of the chains.
    pub geodesic: Field,
    /// One row for each chain, and for each region that could not have one: its length, bones and names, and why.
    pub reasons: Table,
}

/// Lays a chain of bones along each region that was found to be a flexible appendage.
///
/// The distance of each vertex from the collar is measured along the edges of the skin; its 99th percentile is the length.
/// The first joint stands at the centre of the collar, the others at the centroids of the skin around even steps of the
/// distance, smoothed twice. Shells that share no edge with the collar (fur over skin, a tail in pieces) are measured from
/// the shells they face. Joints are called `Tail_1` to `Tail_K` and `Tail_End`; where the character has such a name
/// already, the chain is called `Tail2`, and so on.
#[node(id = "rig.dijkstra_chain", revision = 2)]
pub fn dijkstra_chain(
    /// Regions with their collars and what was decided of them.
    regions: &Regions,
    /// Length of a bone; the count of bones is rounded.
    #[param(default = 0.1, range = 0.005..=2.0, unit = "heights")]
    segment: f32,
    /// The least count of bones.
    #[param(default = 3, range = 1..=64)]
    least: u32,
    /// The greatest count of bones.
    #[param(default = 8, range = 1..=64)]
    most: u32,
    cx: &Cx,
) -> Result<ChainsOut> {
    if least > most {
        return Err(NodeError::new(format!("at least {least} bones and at most {most} cannot both hold"))
            .at("most")
            .help("raise it, or lower the least count"));
    }
    let height = regions.stance.height;
    if !(height.is_finite() && height > 0.0) {
        return Err(NodeError::new(format!("the character is {height} tall"))
            .at("regions")
            .help("a chain is measured in heights: check that the mesh has an extent along up"));
    }
    let mut chains: Vec<Chain> = Vec::new();
    let mut rows = Vec::new();
    let wanted: Vec<&Region> = regions.regions.iter().filter(|r| r.finding.treatment == Treatment::Chain).collect();
    for (k, region) in wanted.iter().enumerate() {
        cx.progress(k as f32 / wanted.len() as f32);
        let collar = collar(region)?;
        let measured = measure(regions, region, collar, cx)?;
        if measured.length <= 0.0 || measured.length.is_nan() {
            let reason = format!(
                "no chain: its {} vertices have no extent along the skin; leave the region unchanged or rigid",
                region.vertices.len()
            );
            cx.warn_at("regions", format!("region {} ({}): {reason}", region.number, region.finding.name));
            rows.push(Row { region, chain: None, joint: collar.joint, bridged: measured.bridged, reason });
            continue;
        }
        let bones = centreline::bone_count(measured.length, segment * height, least, most);
        let Measured { patch, mut geodesic, length, bridged } = measured;
        let joints = centreline::joints(&patch, &geodesic, collar.centre, length, bones, cx)?;
        geodesic.truncate(patch.inside);
        let wanted = if region.finding.name.is_empty() { "Chain" } else { &*region.finding.name };
        let name = Chain::free_name(wanted, bones as usize, &regions.body.skeleton, &chains);
        let mut reason = explain(length / height, segment, bones, least, most);
        if *name != *wanted {
            let renamed = format!("; {wanted}_1 to {wanted}_End are taken, so its joints are {name}_1 to {name}_End");
            reason.push_str(&renamed);
            cx.warn(format!("region {}{renamed}", region.number));
        }
        if bridged.shells > 0 {
            reason.push_str(&format!(
                "; {} vertices in {} shells share no edge with the collar and were measured from the shells they face",
                bridged.vertices, bridged.shells
            ));
        }
        rows.push(Row { region, chain: Some(chains.len()), joint: collar.joint, bridged, reason });
        chains.push(Chain {
            name,
            kind: region.finding.kind,
            region: region.number,
            parent: collar.joint,
            joints: joints.into(),
            rest: Arc::from([]),
            existing: Arc::from([]),
            length,
            vertices: Arc::clone(&region.vertices),
            geodesic: geodesic.into(),
        });
    }
    let chains = Chains { body: regions.body.clone(), stance: regions.stance, chains };
    Ok(ChainsOut { geodesic: field(&chains, cx)?, reasons: table(&chains, &rows), chains })
}

fn collar(region: &Region) -> Result<&Collar> {
    let name = &region.finding.name;
    region.collar.as_ref().filter(|collar| !collar.ring.is_empty()).ok_or_else(|| {
        NodeError::new(format!("region {} ({name}) has no collar to measure from", region.number))
            .at("regions")
            .help("pass the regions through the collar node")
    })
}

struct Measured {
    patch: Patch,
    /// Per vertex of the patch.
    geodesic: Vec<f32>,
    length: f32,
    bridged: Bridged,
}

fn measure(regions: &Regions, region: &Region, collar: &Collar, cx: &Cx) -> Result<Measured> {
    if usize::from(collar.joint) >= regions.body.skeleton.joints.len() {
        return Err(NodeError::new(format!("region {} hangs from joint {}", region.number, collar.joint))
            .at("regions")
            .help(format!("the skeleton has {} joints: pick another", regions.body.skeleton.joints.len())));
    }
    let patch = Patch::new(&regions.body, region, &collar.ring, cx)?;
    let mut geodesic = vec![f32::INFINITY; patch.positions.len()];
    for &vertex in &patch.ring {
        geodesic[vertex as usize] = 0.0;
    }
    let ring = patch.ring.iter().copied();
    spread(&patch.graph, |v| patch.positions[v as usize], &mut geodesic, ring, f32::INFINITY, |_| true, cx)?;
    let bridged = bridge(&patch, &mut geodesic, cx)?;
    let length = centreline::length(&geodesic[..patch.inside]);
    Ok(Measured { patch, geodesic, length, bridged })
}

fn explain(heights: f32, segment: f32, bones: u32, least: u32, most: u32) -> String {
    let even = heights / segment;
    let bound = match bones {
        _ if even + 0.5 < least as f32 => ", the least",
        _ if even > most as f32 + 0.5 => ", the most",
        _ => "",
    };
    format!("{heights:.2} H long: {even:.1} bones of {segment} H, so {bones}{bound}")
}

fn field(chains: &Chains, cx: &Cx) -> Result<Field> {
    let weld = &chains.body.weld;
    let mut by_weld = vec![0.0f32; weld.first.len()];
    for chain in &chains.chains {
        for (&vertex, &g) in chain.vertices.iter().zip(chain.geodesic.iter()) {
            by_weld[vertex as usize] = g;
        }
    }
    let mut values = Vec::with_capacity(weld.welded.len());
    for stretch in weld.welded.chunks(patch::STRIDE) {
        cx.check()?;
        values.extend(stretch.iter().map(|&vertex| by_weld[vertex as usize]));
    }
    Ok(Field { name: "distance from the collar".into(), unit: "file units".into(), values: values.into(), stub: None })
}

/// What is told of a region.
struct Row<'a> {
    region: &'a Region,
    chain: Option<usize>,
    joint: u16,
    bridged: Bridged,
    reason: String,
}

fn table(chains: &Chains, rows: &[Row<'_>]) -> Table {
    let chain = |row: &Row<'_>| row.chain.map(|k| &chains.chains[k]);
    let joint = |row: &Row<'_>| Arc::clone(&chains.body.skeleton.joints[usize::from(row.joint)].name);
    let height = f64::from(chains.stance.height);
    let length = |row: &Row<'_>| chain(row).map_or(f64::NAN, |chain| f64::from(chain.length));
    Table::new("chains")
        .texts("chain", rows.iter().map(|row| chain(row).map_or("none".into(), |chain| Arc::clone(&chain.name))))
        .integers("region", rows.iter().map(|row| row.region.number as i32))
        .texts("joint", rows.iter().map(joint))
        .integers("bones", rows.iter().map(|row| chain(row).map_or(0, |chain| chain.bones() as i32)))
        .numbers("length", "heights", rows.iter().map(|row| length(row) / height))
        .integers("vertices", rows.iter().map(|row| row.region.vertices.len() as i32))
        .integers("bridged shells", rows.iter().map(|row| row.bridged.shells as i32))
        .integers("bridged vertices", rows.iter().map(|row| row.bridged.vertices as i32))
        .texts("reason", rows.iter().map(|row| row.reason.as_str()))
}

#[cfg(test)]
mod tests;
