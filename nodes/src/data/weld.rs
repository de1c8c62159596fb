//! Which vertices share a place.

use std::sync::Arc;

use sinew_graph::Data;
use sinew_graph::column::{Column, ColumnError, Columns};
use sinew_graph::value::{DataType, DataTypeId};

/// A mesh's vertices joined by position (`tail-3d.md` A3). Exporters split vertices at texture and normal seams; on the
/// welded vertices, one shell is one piece again. The original mesh stays as it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Weld {
    /// Per original vertex: its welded vertex. Welded vertices are numbered by first appearance.
    pub welded: Arc<[u32]>,
    /// Per welded vertex: its first original vertex.
    pub first: Arc<[u32]>,
    /// Triangles over welded vertices, without degenerate and repeated ones.
    pub triangles: Arc<[[u32; 3]]>,
}

impl Data for Weld {
    const TYPE: DataType = DataType {
        id: DataTypeId("weld"),
        label: "Weld",
        help: "Which vertices share a place.",
        colour: [60, 170, 190],
    };

    fn columns(&self) -> Vec<Column> {
        vec![
            Column::u32("welded", &self.welded),
            Column::u32("first", &self.first),
            Column::u32("triangle", &self.triangles),
        ]
    }

    fn from_columns(columns: &Columns) -> Result<Self, ColumnError> {
        Ok(Self {
            welded: columns.get("welded")?.as_u32()?,
            first: columns.get("first")?.as_u32()?,
            triangles: columns.get("triangle")?.as_u32()?,
        })
    }
}
