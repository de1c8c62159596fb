//! Bone chains along appendages, before they become joints of a character.

use std::sync::Arc;

use glam::Vec3;
use serde::{Deserialize, Serialize};
use sinew_graph::Data;
use sinew_graph::column::{Column, ColumnError, Columns};
use sinew_graph::value::{DataType, DataTypeId};

use super::{Body, Stance};

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
    /// The number of its region.
    pub region: u32,
    /// The joint it hangs from.
    pub parent: u16,
    /// K + 1 joints in bind space, the last one the weightless end.
    pub joints: Arc<[Vec3]>,
    /// Length L: the 99th percentile of the geodesic distance; file units.
    pub length: f32,
    /// The welded vertices of its region, rising.
    pub vertices: Arc<[u32]>,
    /// Geodesic distance from the collar, one per entry of `vertices`; file units.
    pub geodesic: Arc<[f32]>,
}

#[derive(Serialize, Deserialize)]
struct Head {
    name: Arc<str>,
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
            .map(|c| Head { name: Arc::clone(&c.name), region: c.region, parent: c.parent, length: c.length })
            .collect();
        columns.push(Column::json("chains", &heads));
        for (k, chain) in self.chains.iter().enumerate() {
            columns.push(Column::f32(format!("chain{k}.joint"), &chain.joints));
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
                region: head.region,
                parent: head.parent,
                length: head.length,
                joints: columns.get(&format!("chain{k}.joint"))?.as_f32()?,
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
