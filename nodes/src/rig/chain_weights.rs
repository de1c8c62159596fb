//! `rig.chain_weights`: the skin of an appendage follows its chain.

use sinew_graph::{Cx, NodeError, Result, node};

use super::chain::patch::STRIDE;
use super::influence::{Rewrite, base};
use crate::data::{Chain, Chains, Skin};

/// Most influences that a chain gives a vertex: its own bone and one neighbour.
const WIDTH: usize = 2;

/// Hands the skin of each chain to its bones, every other vertex keeps its weights to the bit.
///
/// Along the chain each bone rules its own segment and shares the quarters at its ends with its neighbours, half and half
/// where they meet. Before the first bone stands the joint that the chain hangs from. All stored copies of a vertex get
/// the same weights. Joints are numbered as the apply node adds them.
#[node(id = "rig.chain_weights", revision = 1)]
pub fn chain_weights(
    /// The chains.
    chains: &Chains,
    /// Weights to start from, of rigid regions for example; those as rigged if nothing is connected.
    skin: Option<&Skin>,
    cx: &Cx,
) -> Result<Skin> {
    let count = chains.joint_count();
    if count > usize::from(u16::MAX) + 1 {
        return Err(NodeError::new(format!("the character would have {count} joints, and 65,536 can be numbered"))
            .at("chains")
            .help("lower the count of bones or pick fewer regions"));
    }
    let weld = &chains.body.weld;
    let mut place = vec![NONE; weld.first.len()];
    let mut influences: Vec<Influences> = Vec::with_capacity(chains.chains.iter().map(|c| c.vertices.len()).sum());
    let mut shared = 0usize;
    for (chain, first) in chains.chains.iter().zip(chains.first_joints()) {
        check(chain, place.len())?;
        for (stretch, along) in chain.vertices.chunks(STRIDE).zip(chain.geodesic.chunks(STRIDE)) {
            cx.check()?;
            for (&vertex, &g) in stretch.iter().zip(along) {
                let place = &mut place[vertex as usize];
                if *place == NONE {
                    *place = influences.len() as u32;
                    influences.push(at(chain, first, g));
                } else {
                    shared += 1;
                }
            }
        }
    }
    if shared > 0 {
        cx.warn_at("chains", format!("{shared} vertices belong to two chains and follow the first"));
    }
    let mut rewrite = Rewrite::of(base(skin, &chains.body)?, WIDTH);
    let (width, joints, weights) = rewrite.parts();
    let rows = joints.chunks_mut(STRIDE * width).zip(weights.chunks_mut(STRIDE * width));
    for (welded, (joints, weights)) in weld.welded.chunks(STRIDE).zip(rows) {
        cx.check()?;
        let rows = joints.chunks_exact_mut(width).zip(weights.chunks_exact_mut(width));
        for (&vertex, (joints, weights)) in welded.iter().zip(rows) {
            let place = place[vertex as usize];
            if place != NONE {
                let found = influences[place as usize];
                joints.fill(0);
                weights.fill(0.0);
                joints[..WIDTH].copy_from_slice(&found.joints);
                weights[..WIDTH].copy_from_slice(&found.weights);
            }
        }
    }
    Ok(rewrite.finish())
}

const NONE: u32 = u32::MAX;

fn check(chain: &Chain, welded: usize) -> Result<()> {
    let wrong = if chain.bones() == 0 {
        "has no bone".to_owned()
    } else if !(chain.length.is_finite() && chain.length > 0.0) {
        format!("is {} long", chain.length)
    } else if chain.vertices.len() != chain.geodesic.len() {
        format!("has {} vertices and {} distances", chain.vertices.len(), chain.geodesic.len())
    } else if let Some(vertex) = chain.vertices.iter().find(|&&vertex| vertex as usize >= welded) {
        format!("names vertex {vertex}, but there are {welded}")
    } else {
        return Ok(());
    };
    Err(NodeError::new(format!("chain {} {wrong}", chain.name))
        .at("chains")
        .help("connect chains as the chain node makes them"))
}

/// The bone that rules a vertex, and the neighbour that shares it; joint 0 and weight 0 for none.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Influences {
    joints: [u16; WIDTH],
    weights: [f32; WIDTH],
}

/// The weights at distance `g` along a chain whose joints start with number `first` (`tail-3d.md` B4). At most one of the
/// neighbours weighs something, and the ruling bone at least half.
fn at(chain: &Chain, first: usize, g: f32) -> Influences {
    let bones = chain.bones();
    let s = (bones as f32 * g / chain.length).max(0.0);
    let k = (s as usize).min(bones - 1);
    let f = s - k as f32;
    let own = first + k;
    let previous = (0.5 - 2.0 * f).clamp(0.0, 0.5);
    let next = if k + 1 < bones { (2.0 * f - 1.5).clamp(0.0, 0.5) } else { 0.0 };
    let (other, share) = if previous > 0.0 {
        (if k == 0 { usize::from(chain.parent) } else { own - 1 }, previous)
    } else if next > 0.0 {
        (own + 1, next)
    } else {
        (0, 0.0)
    };
    Influences { joints: [own as u16, other as u16], weights: [1.0 - share, share] }
}

#[cfg(test)]
mod tests;
