//! Bone chains along appendages, before they become joints of a character.

use std::collections::BTreeSet;
use std::sync::Arc;

use glam::Vec3;
use serde::{Deserialize, Serialize};
use sinew_graph::Data;
use sinew_graph::column::{Column, ColumnError, Columns};
use sinew_graph::value::{DataType, DataTypeId};

use super::{Body, Kind, Skeleton, Stance};

/// Chains of one body.
#[derive(Clone, Debug, PartialEq)]
pub struct Chains {
    /// What they belong to.
    pub body: Body,
    /// How it stands.
    pub stance: Stance,
    /// The chains, in order.
    pub chains: Vec<Chain>,
}

/// A chain of K bones along a region.
#[derive(Clone, Debug, PartialEq)]
pub struct Chain {
    /// The name of its bones: `Tail` gives `Tail_1` to `Tail_K` and `Tail_End`.
    pub name: Arc<str>,
    /// What it runs along.
    pub kind: Kind,
    /// The number of its region.
    pub region: u32,
    /// The joint it hangs from.
    pub parent: u16,
    /// K + 1 joints in bind space, the last one the weightless end.
    pub joints: Arc<[Vec3]>,
    /// The direction of each of its K bones in the pose that it comes to rest in, bind space, unit length; empty for that
    /// of the bind pose.
    pub rest: Arc<[Vec3]>,
    /// The joints of the skeleton that are its bones already, K of them; empty for a chain whose bones are yet to be
    /// added.
    pub existing: Arc<[u16]>,
    /// Length L: the 99th percentile of the geodesic distance; file units.
    pub length: f32,
    /// The welded vertices of its region, rising.
    pub vertices: Arc<[u32]>,
    /// Geodesic distance from the collar, one per entry of `vertices`; file units.
    pub geodesic: Arc<[f32]>,
}

impl Chains {
    /// The chains whose bones are yet to be added, and the number that the first joint of each gets: joints stand behind
    /// those of the skeleton, chain after chain.
    pub fn added(&self) -> impl Iterator<Item = (&Chain, usize)> {
        let mut next = self.body.skeleton.joints.len();
        self.chains.iter().filter(|chain| chain.existing.is_empty()).map(move |chain| {
            let first = next;
            next += chain.joints.len();
            (chain, first)
        })
    }

    /// Every chain with the joint numbers of its K bones, those to be added included.
    pub fn with_joints(&self) -> impl Iterator<Item = (&Chain, Vec<u16>)> {
        let mut added = self.added().map(|(_, first)| first);
        self.chains.iter().map(move |chain| {
            let first = if chain.existing.is_empty() { added.next().unwrap_or_default() } else { 0 };
            let bones = (first..first + chain.bones()).map(|joint| joint as u16);
            (chain, if chain.existing.is_empty() { bones.collect() } else { chain.existing.to_vec() })
        })
    }

    /// How many joints a skeleton has with those of the chains.
    pub fn joint_count(&self) -> usize {
        self.body.skeleton.joints.len() + self.added().map(|(chain, _)| chain.joints.len()).sum::<usize>()
    }
}

impl Chain {
    /// K: how many of its joints weigh something, all but the end.
    pub fn bones(&self) -> usize {
        self.joints.len().saturating_sub(1)
    }

    /// The names of its joints: `Tail_1` to `Tail_K`, then `Tail_End`.
    pub fn joint_names(&self) -> impl Iterator<Item = String> + '_ {
        Self::names(&self.name, self.bones())
    }

    /// The first of `name`, `name2`, `name3` … under which no joint or node of the skeleton and no earlier chain has the
    /// name of one of this chain's joints. Case does not tell names apart: some engines ignore it.
    pub fn free_name(name: &str, bones: usize, skeleton: &Skeleton, earlier: &[Self]) -> Arc<str> {
        let joints = skeleton.joints.iter().map(|joint| joint.name.to_lowercase());
        let nodes = skeleton.node_names.iter().map(|name| name.to_lowercase());
        let others = earlier.iter().flat_map(Self::joint_names).map(|name| name.to_lowercase());
        let taken: BTreeSet<String> = joints.chain(nodes).chain(others).collect();
        let free = |name: &str| Self::names(name, bones).all(|name| !taken.contains(&name.to_lowercase()));
        let numbered = (2..).map(|n| format!("{name}{n}"));
        std::iter::once(name.to_owned()).chain(numbered).find(|name| free(name)).unwrap_or_default().into()
    }

    fn names(name: &str, bones: usize) -> impl Iterator<Item = String> + '_ {
        (1..=bones).map(move |k| format!("{name}_{k}")).chain(std::iter::once(format!("{name}_End")))
    }
}

#[derive(Serialize, Deserialize)]
struct Head {
    name: Arc<str>,
    kind: Kind,
    region: u32,
    parent: u16,
    length: f32,
}

impl Data for Chains {
    const TYPE: DataType = DataType {
        id: DataTypeId("chains"),
        label: "Chains",
        help: "Bone chains along appendages.",
        colour: [240, 200, 40],
    };

    fn columns(&self) -> Vec<Column> {
        let mut columns = self.body.columns();
        columns.push(Column::json("stance", &self.stance));
        let heads: Vec<Head> = self
            .chains
            .iter()
            .map(|c| Head {
                name: Arc::clone(&c.name),
                kind: c.kind,
                region: c.region,
                parent: c.parent,
                length: c.length,
            })
            .collect();
        columns.push(Column::json("chains", &heads));
        for (k, chain) in self.chains.iter().enumerate() {
            columns.push(Column::f32(format!("chain{k}.joint"), &chain.joints));
            columns.push(Column::f32(format!("chain{k}.rest"), &chain.rest));
            columns.push(Column::u16(format!("chain{k}.existing"), &chain.existing));
            columns.push(Column::u32(format!("chain{k}.vertex"), &chain.vertices));
            columns.push(Column::f32(format!("chain{k}.geodesic"), &chain.geodesic));
        }
        columns
    }

    fn from_columns(columns: &Columns) -> Result<Self, ColumnError> {
        let heads: Vec<Head> = columns.get("chains")?.as_json()?;
        let chain = |(k, head): (usize, Head)| {
            Ok(Chain {
                name: head.name,
                kind: head.kind,
                region: head.region,
                parent: head.parent,
                length: head.length,
                joints: columns.get(&format!("chain{k}.joint"))?.as_f32()?,
                rest: columns.get(&format!("chain{k}.rest"))?.as_f32()?,
                existing: columns.get(&format!("chain{k}.existing"))?.as_u16()?,
                vertices: columns.get(&format!("chain{k}.vertex"))?.as_u32()?,
                geodesic: columns.get(&format!("chain{k}.geodesic"))?.as_f32()?,
            })
        };
        Ok(Self {
            body: Body::from_columns(columns)?,
            stance: columns.get("stance")?.as_json()?,
            chains: heads.into_iter().enumerate().map(chain).collect::<Result<_, ColumnError>>()?,
        })
    }
}
