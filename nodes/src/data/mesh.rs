//! The skin of a character: all its skinned primitives as one mesh in bind space.

use std::ops::Range;
use std::sync::Arc;

use glam::Vec3;
use serde::{Deserialize, Serialize};
use sinew_graph::Data;
use sinew_graph::column::{Column, ColumnError, Columns};
use sinew_graph::value::{DataType, DataTypeId};

/// A triangle mesh in bind space: the pose of the inverse bind matrices, whatever pose the file holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Mesh {
    /// One per vertex, file units. Every original vertex, in the order of the parts: nothing is merged.
    pub positions: Arc<[Vec3]>,
    /// Unit normals, one per vertex, as stored or computed.
    pub normals: Arc<[Vec3]>,
    /// Base colour, sRGB and opacity, one per vertex: material, texture and vertex colour multiplied. For display.
    pub colours: Arc<[[u8; 4]]>,
    /// Three vertex numbers per triangle.
    pub triangles: Arc<[[u32; 3]]>,
    /// Where each stretch of vertices and triangles comes from; together they cover all, in order.
    pub parts: Arc<[Part]>,
}

/// A primitive of the source file within a [`Mesh`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// The name of the mesh it belongs to, with its number where names repeat.
    pub name: Arc<str>,
    /// The glTF nodes that show it, first the one it was read through.
    pub nodes: Vec<u32>,
    /// The glTF mesh.
    pub mesh: u32,
    /// The primitive within it.
    pub primitive: u32,
    /// The glTF skin.
    pub skin: u32,
    /// Its vertices within the mesh.
    pub vertices: Range<u32>,
    /// Its triangles within the mesh.
    pub triangles: Range<u32>,
}

impl Mesh {
    /// The least and greatest corner; both zero for a mesh without vertices.
    pub fn bounds(&self) -> (Vec3, Vec3) {
        let Some(&first) = self.positions.first() else { return (Vec3::ZERO, Vec3::ZERO) };
        self.positions.iter().fold((first, first), |(lo, hi), &p| (lo.min(p), hi.max(p)))
    }
}

impl Data for Mesh {
    const TYPE: DataType = DataType {
        id: DataTypeId("mesh"),
        label: "Mesh",
        help: "A triangle mesh in bind space.",
        colour: [0, 214, 163],
    };

    fn columns(&self) -> Vec<Column> {
        vec![
            Column::f32("position", &self.positions),
            Column::f32("normal", &self.normals),
            Column::u8("colour", &self.colours),
            Column::u32("triangle", &self.triangles),
            Column::json("parts", &self.parts),
        ]
    }

    fn from_columns(columns: &Columns) -> Result<Self, ColumnError> {
        Ok(Self {
            positions: columns.get("position")?.as_f32()?,
            normals: columns.get("normal")?.as_f32()?,
            colours: columns.get("colour")?.as_u8()?,
            triangles: columns.get("triangle")?.as_u32()?,
            parts: columns.get("parts")?.as_json()?,
        })
    }
}
