//! `rig.chain_weights`: the skin of an appendage follows its chain.

use sinew_graph::{Cx, NodeError, Result, node};

use super::chain::patch::STRIDE;
use super::influence::{Influences, WIDTH, base, replace};
use crate::data::{Chain, Chains, Skin};

/// Hands the skin of each chain to its bones, every other vertex keeps its weights to the bit.
///
/// Along the chain each bone rules its own segment and shares the quarters at its ends with its neighbours, half and half
/// where they meet. Before the first bone stands the joint that the chain hangs from. All stored copies of a vertex get
/// the same weights. Joints are numbered as the apply node adds them. The skin of bones that were there before stays as it
/// is.
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
    for (chain, _) in chains.added() {
        check(chain, weld.first.len())?;
    }
    // A row for each welded vertex from the first to the last that is in a chain; a weight of 0 for those that are not.
    let named = || chains.added().flat_map(|(chain, _)| chain.vertices.iter().copied());
    let low = named().min().unwrap_or(0);
    let end = named().max().map_or(low, |last| last + 1);
    let mut rows = vec![Influences { joints: [0; WIDTH], weights: [0.0; WIDTH] }; (end - low) as usize];
    let mut shared = 0usize;
    for (chain, first) in chains.added() {
        let law = Law::of(chain, first);
        for (stretch, along) in chain.vertices.chunks(STRIDE).zip(chain.geodesic.chunks(STRIDE)) {
            cx.check()?;
            for (&vertex, &g) in stretch.iter().zip(along) {
                let row = &mut rows[(vertex - low) as usize];
                if row.weights[0] == 0.0 {
                    *row = law.at(g);
                } else {
                    shared += 1;
                }
            }
        }
    }
    if shared > 0 {
        cx.warn_at("chains", format!("{shared} vertices belong to two chains and follow the first"));
    }
    replace(base(skin, &chains.body)?, WIDTH, &weld.welded, low..end, cx, |vertex| {
        Some(rows[(vertex - low) as usize]).filter(|row| row.weights[0] > 0.0)
    })
}

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

/// How weights follow from the distance along a chain (`tail-3d.md` B4).
struct Law {
    bones: u32,
    length: f32,
    /// The number of its first joint.
    first: u32,
    parent: u32,
}

impl Law {
    fn of(chain: &Chain, first: usize) -> Self {
        Self { bones: chain.bones() as u32, length: chain.length, first: first as u32, parent: chain.parent.into() }
    }

    /// At most one of the neighbours weighs something, and the ruling bone at least half.
    #[inline]
    fn at(&self, g: f32) -> Influences {
        let s = (self.bones as f32 * g / self.length).max(0.0);
        let k = (s as u32).min(self.bones - 1);
        let f = s - k as f32;
        let own = self.first + k;
        let previous = (0.5 - 2.0 * f).clamp(0.0, 0.5);
        let next = if k + 1 < self.bones { (2.0 * f - 1.5).clamp(0.0, 0.5) } else { 0.0 };
        let before = if k == 0 { self.parent } else { own - 1 };
        let other = if previous > 0.0 { before } else { u32::from(next > 0.0) * (own + 1) };
        let share = previous.max(next);
        Influences { joints: [own as u16, other as u16], weights: [1.0 - share, share] }
    }
}

#[cfg(test)]
mod tests;
