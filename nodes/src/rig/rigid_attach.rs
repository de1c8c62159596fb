//! `rig.rigid_attach`: a region follows one joint.

use sinew_graph::{Cx, NodeError, Result, node};

use super::chain::patch::STRIDE;
use super::influence::{Influences, base, replace};
use crate::data::{Regions, Skin, Treatment};

/// Weights each rigid region wholly on the joint it hangs from, every other vertex keeps its weights to the bit.
///
/// Nothing of such a region can stretch: it must measure a stretch of exactly 1. That makes it the check of the measuring
/// nodes, and the right choice for what is worn rather than grown.
#[node(id = "rig.rigid_attach", revision = 1)]
pub fn rigid_attach(
    /// Regions with their joints and what was decided of them.
    regions: &Regions,
    /// Weights to start from, of chains for example; those as rigged if nothing is connected.
    skin: Option<&Skin>,
    /// Regions that were to get a chain of bones become rigid too.
    #[param(default = false)]
    chains_too: bool,
    cx: &Cx,
) -> Result<Skin> {
    let body = &regions.body;
    let rigid = |treatment| treatment == Treatment::Rigid || chains_too && treatment == Treatment::Chain;
    let mut joint_of: Vec<Option<u16>> = vec![None; body.weld.first.len()];
    let mut shared = 0usize;
    for region in regions.regions.iter().filter(|region| rigid(region.finding.treatment)) {
        let name = &region.finding.name;
        let joint = region.collar.as_ref().map(|collar| collar.joint).ok_or_else(|| {
            NodeError::new(format!("region {} ({name}) has no joint to hang from", region.number))
                .at("regions")
                .help("pass the regions through the collar node")
        })?;
        if usize::from(joint) >= body.skeleton.joints.len() {
            return Err(NodeError::new(format!("region {} ({name}) hangs from joint {joint}", region.number))
                .at("regions")
                .help(format!("the skeleton has {} joints: pick another", body.skeleton.joints.len())));
        }
        for stretch in region.vertices.chunks(STRIDE) {
            cx.check()?;
            for &vertex in stretch {
                let place = joint_of.get_mut(vertex as usize).ok_or_else(|| {
                    NodeError::new(format!("region {} names vertex {vertex}, which is not there", region.number))
                        .at("regions")
                        .help("connect regions found on this character's own weld")
                })?;
                match place {
                    None => *place = Some(joint),
                    Some(first) => shared += usize::from(*first != joint),
                }
            }
        }
    }
    if shared > 0 {
        cx.warn_at("regions", format!("{shared} vertices belong to two rigid regions and follow the first"));
    }
    replace(base(skin, body)?, 1, &body.weld.welded, 0..joint_of.len() as u32, cx, |vertex| {
        let joint = joint_of[vertex as usize]?;
        Some(Influences { joints: [joint, 0], weights: [1.0, 0.0] })
    })
}

#[cfg(test)]
mod tests;
