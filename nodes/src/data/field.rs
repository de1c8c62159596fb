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
    /// Of distances to a skeleton: how far a leaf joint's bone goes on beyond it, as a share of the bone before. What measures
    /// more of the same skeleton measures it so too.
    pub stub: Option<f32>,
}

#[derive(Serialize, Deserialize)]
struct Head {
    name: Arc<str>,
    unit: Arc<str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stub: Option<f32>,
}

impl Data for Field {
    const TYPE: DataType =
        DataType { id: DataTypeId("field"), label: "Field", help: "A number per vertex.", colour: [122, 198, 74] };

    fn columns(&self) -> Vec<Column> {
        let head = Head { name: Arc::clone(&self.name), unit: Arc::clone(&self.unit), stub: self.stub };
        vec![Column::json("field", &head), Column::f32("value", &self.values)]
    }

    fn from_columns(columns: &Columns) -> Result<Self, ColumnError> {
        let Head { name, unit, stub } = columns.get("field")?.as_json()?;
        Ok(Self { name, unit, values: columns.get("value")?.as_f32()?, stub })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_the_same_after_its_columns() {
        let field = |stub| Field { name: "far".into(), unit: "file units".into(), values: [0.5, 2.0].into(), stub };
        for field in [field(None), field(Some(0.3))] {
            assert_eq!(Field::from_columns(&field.columns().into_iter().collect()).unwrap(), field);
        }
    }
}
