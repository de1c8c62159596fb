//! `rig.rigid_attach`: a region follows one joint.

use sinew_graph::{Cx, NodeError, Result, node};

use super::chain::patch::STRIDE;
use super::influence::{Rewrite, base};
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
    let mut rewrite = Rewrite::of(base(skin, body)?, 1);
    let (width, joints, weights) = rewrite.parts();
    let rows = joints.chunks_mut(STRIDE * width).zip(weights.chunks_mut(STRIDE * width));
    for (welded, (joints, weights)) in body.weld.welded.chunks(STRIDE).zip(rows) {
        cx.check()?;
        let rows = joints.chunks_exact_mut(width).zip(weights.chunks_exact_mut(width));
        for (&vertex, (joints, weights)) in welded.iter().zip(rows) {
            if let Some(joint) = joint_of[vertex as usize] {
                joints.fill(0);
                weights.fill(0.0);
                joints[0] = joint;
                weights[0] = 1.0;
            }
        }
    }
    Ok(rewrite.finish())
}

#[cfg(test)]
mod tests;
