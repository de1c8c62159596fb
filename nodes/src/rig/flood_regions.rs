//! Regions of skin that is far from the skeleton (`tail-3d.md` A2, A4).

use std::collections::BTreeMap;
use std::sync::Arc;

use glam::Vec3;
use sinew_graph::{Choice, Cx, NodeError, Outputs, Result, node};

use crate::data::{Body, Branch, Character, Field, Finding, Region, RegionTree, Regions, Stance, Weld};
use crate::rig::anatomy::{Anatomy, Segment};
use crate::rig::skeleton_distance;
use crate::rig::sweep::merge_tree::{MergeTree, NONE, Significance};
use crate::rig::sweep::profile::Profile;
use crate::rig::sweep::shells::Shells;
use crate::rig::sweep::{root, select};

/// How far is told from near.
#[derive(Choice, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// All thresholds: each region is taken where it stands out best. For any body.
    #[default]
    Sweep,
    /// One threshold for all. For humanoids.
    Fixed,
}

/// Regions and how they hang together.
#[derive(Clone, Debug, Outputs)]
pub struct Flooded {
    /// The regions, not judged yet.
    pub regions: Regions,
    /// How they are born and join as the threshold falls.
    pub tree: RegionTree,
}

/// Finds connected regions of skin that is far from the skeleton, over the faces of the welded mesh.
#[expect(clippy::too_many_arguments, reason = "a node's sockets and knobs")]
#[node(id = "rig.flood_regions", revision = 2)]
pub fn flood_regions(
    /// The character.
    character: &Character,
    /// Its weld.
    weld: &Weld,
    /// Its skeleton distance.
    distance: &Field,
    /// Whether all thresholds are looked at, or one.
    #[param(default = Mode::Sweep)]
    mode: Mode,
    /// The threshold when it is fixed: skin further from the skeleton is far.
    #[param(default = 0.07, range = 0.0..=1.0, unit = "heights")]
    far: f32,
    /// The lowest threshold of the sweep.
    #[param(default = 0.04, range = 0.005..=1.0, unit = "heights")]
    lowest: f32,
    /// The highest threshold of the sweep.
    #[param(default = 0.5, range = 0.01..=5.0, unit = "heights")]
    highest: f32,
    /// How much a region must rise above the place where it meets another to be one of its own.
    #[param(default = 0.015, range = 0.0..=1.0, unit = "heights")]
    persistence: f32,
    /// Whether regions are followed down to where they widen into the body.
    #[param(default = true)]
    to_root: bool,
    cx: &Cx,
) -> Result<Flooded> {
    let vertices = character.mesh.positions.len();
    if weld.welded.len() != vertices || distance.values.len() != vertices {
        return Err(NodeError::new(format!(
            "the weld has {} vertices, the distance {}, the character {vertices}",
            weld.welded.len(),
            distance.values.len()
        ))
        .at("weld")
        .help("weld and measure the same character"));
    }
    let anatomy = Anatomy::of(&character.mesh, &character.skeleton, &character.skin);
    let stance = anatomy.stance;
    let body = Body {
        mesh: character.mesh.clone(),
        skeleton: character.skeleton.clone(),
        skin: character.skin.clone(),
        weld: weld.clone(),
        distance: distance.clone(),
    };
    if stance.height <= 0.0 || anatomy.bones.root.is_none() {
        cx.warn_at("character", "there is no used joint or no extent: no skin is far from a skeleton");
        let tree = RegionTree { branches: Arc::from([]), branch_of: vec![NONE; weld.first.len()].into() };
        return Ok(Flooded { regions: Regions { body, stance, regions: Vec::new() }, tree });
    }
    let skin = Skin { body: &body, anatomy: &anatomy, per_height: 1.0 / stance.height };
    let (found, tree) = match mode {
        Mode::Fixed => skin.fixed(far, cx)?,
        Mode::Sweep => {
            if highest <= lowest {
                return Err(NodeError::new(format!("the sweep goes from {highest} down to {lowest}"))
                    .at("highest")
                    .help("set it above the lowest threshold"));
            }
            skin.sweep(lowest, highest, persistence, to_root, cx)?
        }
    };
    let (regions, tree) = skin.number(found, tree);
    Ok(Flooded { regions: Regions { body, stance, regions }, tree })
}

/// A region as found: its vertices, and the branch it comes from.
struct Found {
    branch: u32,
    vertices: Vec<u32>,
    threshold: f32,
}

struct Skin<'a> {
    body: &'a Body,
    anatomy: &'a Anatomy,
    per_height: f32,
}

impl Skin<'_> {
    fn values(&self) -> Vec<f32> {
        self.body.weld.first.iter().map(|&v| self.body.distance.values[v as usize] * self.per_height).collect()
    }

    /// The place of a welded vertex, in heights.
    fn place(&self, welded: u32) -> Vec3 {
        self.body.mesh.positions[self.body.weld.first[welded as usize] as usize] * self.per_height
    }

    fn fixed(&self, far: f32, cx: &Cx) -> Result<(Vec<Found>, MergeTree)> {
        // With endless persistence asked for, nothing but separate components is left.
        let least = Significance { persistence: f32::INFINITY, vertices: 1 };
        let tree = MergeTree::of(&self.values(), &self.body.weld.triangles, far, least, cx)?;
        let mut vertices: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for (v, &node) in tree.node_of.iter().enumerate().filter(|(_, node)| **node != NONE) {
            vertices.entry(node).or_default().push(v as u32);
        }
        // Specks of one or two vertices are no skin.
        let found = vertices
            .into_iter()
            .filter(|(_, vertices)| vertices.len() >= 3)
            .map(|(branch, vertices)| Found { branch, vertices, threshold: far })
            .collect();
        Ok((found, tree))
    }

    fn sweep(
        &self,
        lowest: f32,
        highest: f32,
        persistence: f32,
        to_root: bool,
        cx: &Cx,
    ) -> Result<(Vec<Found>, MergeTree)> {
        let values = self.values();
        let triangles = &self.body.weld.triangles;
        let places: Vec<Vec3> = (0..values.len() as u32).map(|v| self.place(v)).collect();
        let least = Significance { persistence, vertices: 3 };
        let tree = MergeTree::of(&values, triangles, lowest, least, cx)?;
        let levels = (0..=LEVELS).map(|k| highest + (lowest - highest) * k as f32 / LEVELS as f32).collect();
        let profile = Profile::of(&tree, &values, &places, triangles, levels, cx)?;
        let stub = skeleton_distance::stub_of(&self.body.distance);
        let segments: Vec<Segment> = self.anatomy.bones.segments(&self.body.skeleton, stub);
        let to_skeleton = |p: Vec3| skeleton_distance::to_point(p / self.per_height, &segments) * self.per_height;
        let shells = Shells::of(triangles, &places, cx)?;
        let skin = shells.area.iter().sum::<f64>();
        let candidates = select::select(&tree, &profile, skin, to_skeleton);
        let mut members: Vec<Vec<u32>> = vec![Vec::new(); tree.nodes.len()];
        for (v, &node) in tree.node_of.iter().enumerate().filter(|(_, node)| **node != NONE) {
            members[node as usize].push(v as u32);
        }
        let mut found = Vec::new();
        for (k, candidate) in candidates.iter().enumerate() {
            cx.check()?;
            cx.progress(0.75 + 0.25 * k as f32 / candidates.len() as f32);
            let within = tree.within(candidate.node);
            let above = |threshold: f32| -> Vec<u32> {
                let nodes = (0..within.len()).filter(|&node| within[node]);
                let all = nodes.flat_map(|node| members[node].iter().copied());
                let mut vertices: Vec<u32> = all.filter(|&v| values[v as usize] > threshold).collect();
                vertices.sort_unstable();
                vertices
            };
            let core = above(candidate.threshold);
            let Some(&any) = core.first() else { continue };
            let mut vertices = core;
            if to_root {
                let alone = tree.nodes[candidate.node as usize].parent.is_none();
                let area = profile.sample(candidate.node, profile.levels.len() - 1).area;
                let shell = shells.area[shells.piece[any as usize] as usize];
                if alone && shell <= select::LARGEST * skin && area >= OWN_SHELL * shell {
                    vertices = shells.vertices(any);
                } else if candidate.sticks_out {
                    let spill = above(candidate.lowest);
                    if let Some(grown) = root::grow(triangles, &places, &vertices, &spill, cx)? {
                        vertices = grown;
                    }
                }
            }
            found.push(Found { branch: candidate.node, vertices, threshold: candidate.threshold });
        }
        Ok((found, tree))
    }

    /// Numbers regions by size, and by where they are among regions of one size, so that the order of vertices in the file
    /// plays no part.
    fn number(&self, found: Vec<Found>, tree: MergeTree) -> (Vec<Region>, RegionTree) {
        let Stance { up, forward, .. } = self.anatomy.stance;
        let left = self.anatomy.left();
        let mut sorted: Vec<(usize, [i64; 3], Found)> = found
            .into_iter()
            .map(|found| {
                let count = found.vertices.len().max(1) as f64;
                let centre = found.vertices.iter().map(|&v| self.place(v).as_dvec3()).sum::<glam::DVec3>() / count;
                let along = |axis: Vec3| (centre.dot(axis.as_dvec3()) * 1e3).round() as i64;
                (found.vertices.len(), [-along(left), -along(up), -along(forward)], found)
            })
            .collect();
        sorted.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
        let mut branches: Vec<Branch> = tree
            .nodes
            .iter()
            .map(|node| Branch {
                parent: node.parent,
                birth: node.birth,
                death: node.death,
                threshold: node.death,
                vertices: node.vertices,
                region: None,
            })
            .collect();
        let mut regions = Vec::with_capacity(sorted.len());
        for (number, (_, _, found)) in sorted.into_iter().enumerate() {
            let branch = &mut branches[found.branch as usize];
            (branch.region, branch.threshold) = (Some(number as u32), found.threshold);
            regions.push(Region {
                number: number as u32,
                vertices: found.vertices.into(),
                collar: None,
                finding: Finding::unjudged(format!("taken above {:.3} H", found.threshold)),
            });
        }
        (regions, RegionTree { branches: branches.into(), branch_of: tree.node_of.into() })
    }
}

/// Steps of the threshold from the highest to the lowest.
const LEVELS: usize = 92;

/// A branch that covers this share of a shell is that shell.
const OWN_SHELL: f64 = 0.5;
