//! How regions are born, grow and join as the threshold on the skeleton distance falls.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sinew_graph::Data;
use sinew_graph::column::{Column, ColumnError, Columns};
use sinew_graph::value::{DataType, DataTypeId};

/// The merge tree of the skeleton distance (`tail-3d.md` A2): each branch is a connected region above a threshold.
#[derive(Clone, Debug, PartialEq)]
pub struct RegionTree {
    /// The branches; a branch's number is its place here. Children stand before their parents.
    pub branches: Arc<[Branch]>,
    /// Per welded vertex: the innermost branch that holds it, `u32::MAX` for none.
    pub branch_of: Arc<[u32]>,
}

/// A branch of a [`RegionTree`]: a region that exists for thresholds from `birth` down to `death`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Branch {
    /// The branch it becomes part of.
    pub parent: Option<u32>,
    /// The threshold at which it appears, in heights.
    pub birth: f32,
    /// The threshold at which it joins another, in heights.
    pub death: f32,
    /// The threshold at which its region was taken, in heights.
    pub threshold: f32,
    /// How many welded vertices it has at that threshold.
    pub vertices: u32,
    /// The number of the region made of it, if it is a candidate.
    pub region: Option<u32>,
}

impl Data for RegionTree {
    const TYPE: DataType = DataType {
        id: DataTypeId("region_tree"),
        label: "Region tree",
        help: "How regions are born and join as the threshold falls.",
        colour: [176, 96, 120],
    };

    fn columns(&self) -> Vec<Column> {
        vec![Column::json("branches", &self.branches), Column::u32("branch_of", &self.branch_of)]
    }

    fn from_columns(columns: &Columns) -> Result<Self, ColumnError> {
        Ok(Self { branches: columns.get("branches")?.as_json()?, branch_of: columns.get("branch_of")?.as_u32()? })
    }
}
