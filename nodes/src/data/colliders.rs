//! What chains may not go through: capsules that move with joints.

use std::sync::Arc;

use glam::Vec3;
use serde::{Deserialize, Serialize};
use sinew_graph::Data;
use sinew_graph::column::{Column, ColumnError, Columns};
use sinew_graph::value::{DataType, DataTypeId};

/// Capsules on the joints of a skeleton.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Colliders {
    /// The capsules.
    pub colliders: Vec<Collider>,
}

/// All points nearer than `radius` to a segment that moves with a joint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Collider {
    /// Its name: that of its joint.
    pub name: Arc<str>,
    /// The joint that it moves with.
    pub joint: u16,
    /// Both ends of the segment in bind space.
    pub ends: [Vec3; 2],
    /// File units.
    pub radius: f32,
}

impl Data for Colliders {
    const TYPE: DataType = DataType {
        id: DataTypeId("colliders"),
        label: "Colliders",
        help: "Capsules that move with joints: what chains may not go through.",
        colour: [150, 170, 110],
    };

    fn columns(&self) -> Vec<Column> {
        vec![Column::json("colliders", &self.colliders)]
    }

    fn from_columns(columns: &Columns) -> Result<Self, ColumnError> {
        Ok(Self { colliders: columns.get("colliders")?.as_json()? })
    }
}
