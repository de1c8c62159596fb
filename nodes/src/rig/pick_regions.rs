//! Picks regions by hand and says what is done with them, whatever the judgement was: ears as chains, a cape as one piece.

use std::collections::BTreeSet;
use std::sync::Arc;

use sinew_graph::{Choice, Cx, NodeError, Result, node};

use crate::data::{Finding, Kind, Region, RegionTree, Regions, Treatment};
use crate::rig::anatomy::Anatomy;
use crate::rig::collar;
use crate::rig::pca_classify::kind_label;
use crate::rig::surface::Surface;

/// What is done with what was picked.
#[derive(Choice, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Picked {
    /// What was decided before.
    #[default]
    AsJudged,
    /// A chain of bones.
    Chain,
    /// Rigid on its joint.
    Rigid,
    /// Left as it is.
    Unchanged,
}

/// What is done with the others.
#[derive(Choice, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Others {
    /// What was decided before.
    #[default]
    AsJudged,
    /// They are left as they are.
    Unchanged,
    /// They go no further.
    Dropped,
}

/// Picks regions by number, kind, name or joint, or branches of the region tree, and says what is done with them.
#[node(id = "rig.pick_regions", revision = 1)]
pub fn pick_regions(
    /// The regions.
    regions: &Regions,
    /// How they hang together, for picking a branch.
    region_tree: &RegionTree,
    /// Which, separated by commas: a number (3), a range (2-5), a kind (ear), the name of its bones (Tail2), the joint that it
    /// hangs from (Head), or a branch of the region tree (branch 12). Empty picks all.
    #[param(default = String::new())]
    which: String,
    /// What is done with them.
    #[param(default = Picked::AsJudged)]
    treatment: Picked,
    /// What is done with the others.
    #[param(default = Others::AsJudged)]
    others: Others,
    /// The name of the bones of picked chains. Empty names them after their kind.
    #[param(default = String::new())]
    name: String,
    cx: &Cx,
) -> Result<Regions> {
    let mut out = regions.clone();
    let mut picked: BTreeSet<u32> = BTreeSet::new();
    let words: Vec<&str> = which.split(',').map(str::trim).filter(|word| !word.is_empty()).collect();
    if words.is_empty() {
        picked.extend(out.regions.iter().map(|region| region.number));
    }
    for word in words {
        cx.check()?;
        match branch_number(word) {
            Some(branch) => {
                picked.insert(pick_branch(&mut out, region_tree, branch)?);
            }
            None => {
                let found: Vec<u32> = out.regions.iter().filter(|r| fits(r, &out, word)).map(|r| r.number).collect();
                if found.is_empty() {
                    cx.warn_at("which", format!("no region is called {word:?}"));
                }
                picked.extend(found);
            }
        }
    }
    for region in &mut out.regions {
        let by_hand = picked.contains(&region.number);
        let treatment = match (by_hand, treatment, others) {
            (true, Picked::Chain, _) => Treatment::Chain,
            (true, Picked::Rigid, _) => Treatment::Rigid,
            (true, Picked::Unchanged, _) | (false, _, Others::Unchanged) => Treatment::Unchanged,
            _ => continue,
        };
        let before = &region.finding.reason;
        let reason = if by_hand { format!("picked by hand; {before}") } else { format!("not picked; {before}") };
        region.finding = Finding { treatment, reason: reason.into(), ..region.finding.clone() };
    }
    if others == Others::Dropped {
        out.regions.retain(|region| picked.contains(&region.number));
    }
    name_chains(&mut out.regions, &picked, name.trim());
    Ok(out)
}

fn branch_number(word: &str) -> Option<u32> {
    word.strip_prefix("branch").and_then(|rest| rest.trim().parse().ok())
}

fn fits(region: &Region, regions: &Regions, word: &str) -> bool {
    if let Ok(number) = word.parse::<u32>() {
        return region.number == number;
    }
    let range = word.split_once('-').map(|(lo, hi)| (lo.trim().parse::<u32>(), hi.trim().parse::<u32>()));
    if let Some((Ok(lo), Ok(hi))) = range {
        return (lo..=hi).contains(&region.number);
    }
    let joint = region.collar.as_ref().map(|c| &*regions.body.skeleton.joints[usize::from(c.joint)].name);
    word.eq_ignore_ascii_case(kind_label(region.finding.kind)) || word == &*region.finding.name || joint == Some(word)
}

/// The region of a branch: the one that it has, or a new one of all that lies above the branch's end.
fn pick_branch(regions: &mut Regions, tree: &RegionTree, branch: u32) -> Result<u32> {
    let Some(wanted) = tree.branches.get(branch as usize) else {
        return Err(NodeError::new(format!("the region tree has no branch {branch}"))
            .at("which")
            .help(format!("its branches are numbered 0 to {}", tree.branches.len().saturating_sub(1))));
    };
    if let Some(number) = wanted.region.filter(|&n| regions.regions.iter().any(|r| r.number == n)) {
        return Ok(number);
    }
    let mut within = vec![false; tree.branches.len()];
    for k in (0..tree.branches.len()).rev() {
        // Parents stand behind their children.
        within[k] = k == branch as usize || tree.branches[k].parent.is_some_and(|p| within[p as usize]);
    }
    let vertices: Vec<u32> = (0..tree.branch_of.len() as u32)
        .filter(|&v| within.get(tree.branch_of[v as usize] as usize).copied().unwrap_or(false))
        .collect();
    let taken = tree.branches.iter().filter_map(|b| b.region).chain(regions.regions.iter().map(|r| r.number)).max();
    let number = taken.map_or(0, |n| n + 1);
    let mut region = Region {
        number,
        vertices: vertices.into(),
        collar: None,
        finding: Finding::unjudged(format!("branch {branch} of the region tree")),
    };
    let body = &regions.body;
    let anatomy = Anatomy::standing(regions.stance, &body.skeleton, &body.skin, None);
    region.collar = collar::find(&region, body, &anatomy, &mut Surface::of([&region], body), collar::PREFERENCE);
    regions.regions.push(region);
    Ok(number)
}

/// Every chain has a name of its own.
fn name_chains(regions: &mut [Region], picked: &BTreeSet<u32>, name: &str) {
    let mut taken: BTreeSet<Arc<str>> = BTreeSet::new();
    for region in regions.iter_mut().filter(|region| region.finding.treatment == Treatment::Chain) {
        let base: String = if picked.contains(&region.number) && !name.is_empty() {
            name.into()
        } else if !region.finding.name.is_empty() {
            region.finding.name.to_string()
        } else {
            match region.finding.kind {
                Kind::Unknown | Kind::Body | Kind::Small => "Appendage".into(),
                kind => {
                    let label = kind_label(kind);
                    label[..1].to_uppercase() + &label[1..]
                }
            }
        };
        let mut unique: Arc<str> = base.as_str().into();
        let mut count = 2;
        while taken.contains(&unique) {
            unique = format!("{base}{count}").into();
            count += 1;
        }
        taken.insert(Arc::clone(&unique));
        region.finding.name = unique;
    }
}
