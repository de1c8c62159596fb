//! A picture.

use std::sync::Arc;

use sinew_graph::Data;
use sinew_graph::column::{Column, ColumnError, Columns};
use sinew_graph::value::{DataType, DataTypeId};

/// Pixels, row by row from the top.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// Pixels per row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// sRGB and opacity, not premultiplied.
    pub pixels: Arc<[[u8; 4]]>,
}

impl Data for Picture {
    const TYPE: DataType =
        DataType { id: DataTypeId("picture"), label: "Picture", help: "A picture.", colour: [199, 199, 41] };

    fn columns(&self) -> Vec<Column> {
        vec![Column::u32("size", &Arc::from([[self.width, self.height]])), Column::u8("pixel", &self.pixels)]
    }

    fn from_columns(columns: &Columns) -> Result<Self, ColumnError> {
        let size = columns.get("size")?.as_u32::<[u32; 2]>()?;
        let pixels: Arc<[[u8; 4]]> = columns.get("pixel")?.as_u8()?;
        match *size {
            [[width, height]] if u64::from(width) * u64::from(height) == pixels.len() as u64 => {
                Ok(Self { width, height, pixels })
            }
            _ => Err(ColumnError::Content { name: "size".into(), reason: "does not match the pixels".into() }),
        }
    }
}
