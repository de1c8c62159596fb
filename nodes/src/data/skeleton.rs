//! The bones of a character: every joint that a skin names, in bind space, over the nodes of the file.

use std::sync::Arc;

use glam::{Mat4, Vec3};
use serde::{Deserialize, Serialize};
use sinew_graph::Data;
use sinew_graph::column::{Column, ColumnError, Columns};
use sinew_graph::value::{DataType, DataTypeId};

use super::Transform;

/// Joints and the node tree they live in.
///
/// Joints of all skins of a character are one list without repetition. Joint numbers in a [`super::Skin`] count into it.
/// Joints that Sinew adds stand behind those of the file, have no node number yet and change no existing number.
#[derive(Clone, Debug, PartialEq)]
pub struct Skeleton {
    /// The joints.
    pub joints: Arc<[Joint]>,
    /// Bind matrix per joint, column-major: joint space to bind space, the inverse of the inverse bind matrix.
    pub binds: Arc<[[f32; 16]]>,
    /// Parent of every node of the file, -1 for roots.
    pub node_parents: Arc<[i32]>,
    /// Name of every node of the file.
    pub node_names: Arc<[Arc<str>]>,
    /// Local transform of every node as the file holds it: some pose, not necessarily the bind pose.
    pub node_locals: Arc<[Transform]>,
    /// Bind space to the file's world (glTF: metres, Y up), column-major; for display and for telling up.
    pub to_world: [f32; 16],
}

/// A joint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Joint {
    /// Its name; not unique in every file, so it is shown with the joint's number where names repeat.
    pub name: Arc<str>,
    /// The nearest joint above it, by joint number.
    pub parent: Option<u16>,
    /// Its node in the file; `None` for a joint that Sinew added.
    pub node: Option<u32>,
    /// Whether the file has an inverse bind matrix for it; without one the bind is the identity.
    pub has_bind: bool,
}

impl Skeleton {
    /// The bind matrix of a joint: joint space to bind space.
    pub fn bind(&self, joint: usize) -> Mat4 {
        Mat4::from_cols_array(&self.binds[joint])
    }

    /// Where a joint is in bind space.
    pub fn position(&self, joint: usize) -> Vec3 {
        Vec3::new(self.binds[joint][12], self.binds[joint][13], self.binds[joint][14])
    }

    /// The children of every joint, by joint number, in order.
    pub fn children(&self) -> Vec<Vec<u16>> {
        let mut children = vec![Vec::new(); self.joints.len()];
        for (k, joint) in self.joints.iter().enumerate() {
            if let Some(parent) = joint.parent {
                children[usize::from(parent)].push(k as u16);
            }
        }
        children
    }
}

impl Data for Skeleton {
    const TYPE: DataType = DataType {
        id: DataTypeId("skeleton"),
        label: "Skeleton",
        help: "Joints in bind space over the nodes of a file.",
        colour: [219, 182, 64],
    };

    fn columns(&self) -> Vec<Column> {
        vec![
            Column::json("joints", &self.joints),
            Column::f32("bind", &self.binds),
            Column::i32("node_parent", &self.node_parents),
            Column::text("node_name", &self.node_names),
            Column::f32("node_local", &self.node_locals),
            Column::f32("to_world", &Arc::from([self.to_world])),
        ]
    }

    fn from_columns(columns: &Columns) -> Result<Self, ColumnError> {
        let to_world = columns.get("to_world")?.as_f32::<[f32; 16]>()?;
        Ok(Self {
            joints: columns.get("joints")?.as_json()?,
            binds: columns.get("bind")?.as_f32()?,
            node_parents: columns.get("node_parent")?.as_i32()?,
            node_names: columns.get("node_name")?.as_text()?,
            node_locals: columns.get("node_local")?.as_f32()?,
            to_world: to_world.first().copied().unwrap_or(Mat4::IDENTITY.to_cols_array()),
        })
    }
}
