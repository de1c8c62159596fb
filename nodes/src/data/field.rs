//! A number per vertex.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sinew_graph::Data;
use sinew_graph::column::{Column, ColumnError, Columns};
use sinew_graph::value::{DataType, DataTypeId};

/// A number per vertex of a mesh.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// What the numbers are: `skeleton distance`.
    pub name: Arc<str>,
    /// Their unit: `file units`.
    pub unit: Arc<str>,
    /// One per original vertex.
    pub values: Arc<[f32]>,
}

#[derive(Serialize, Deserialize)]
struct Head {
    name: Arc<str>,
    unit: Arc<str>,
}

impl Data for Field {
    const TYPE: DataType =
        DataType { id: DataTypeId("field"), label: "Field", help: "A number per vertex.", colour: [122, 198, 74] };

    fn columns(&self) -> Vec<Column> {
        let head = Head { name: Arc::clone(&self.name), unit: Arc::clone(&self.unit) };
        vec![Column::json("field", &head), Column::f32("value", &self.values)]
    }

    fn from_columns(columns: &Columns) -> Result<Self, ColumnError> {
        let Head { name, unit } = columns.get("field")?.as_json()?;
        Ok(Self { name, unit, values: columns.get("value")?.as_f32()? })
    }
}
