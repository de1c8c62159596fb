//! What detection works on, carried along with its results so that one wire is enough.

use sinew_graph::Data;
use sinew_graph::column::{Column, ColumnError, Columns};

use super::{Field, Mesh, Skeleton, Skin, Weld};

/// A character's geometry with its weld and its skeleton distance. All parts are shared with their origin.
#[derive(Clone, Debug, PartialEq)]
pub struct Body {
    /// The mesh in bind space.
    pub mesh: Mesh,
    /// The joints.
    pub skeleton: Skeleton,
    /// The weights as rigged.
    pub skin: Skin,
    /// The welded vertices.
    pub weld: Weld,
    /// Distance to the skeleton per original vertex.
    pub distance: Field,
}

impl Body {
    pub(super) fn columns(&self) -> Vec<Column> {
        let mut columns = Vec::new();
        let mut part = |prefix: &str, part: Vec<Column>| columns.extend(part.into_iter().map(|c| c.under(prefix)));
        part("mesh", self.mesh.columns());
        part("skeleton", self.skeleton.columns());
        part("skin", self.skin.columns());
        part("weld", self.weld.columns());
        part("distance", self.distance.columns());
        columns
    }

    pub(super) fn from_columns(columns: &Columns) -> Result<Self, ColumnError> {
        Ok(Self {
            mesh: Mesh::from_columns(&columns.under("mesh"))?,
            skeleton: Skeleton::from_columns(&columns.under("skeleton"))?,
            skin: Skin::from_columns(&columns.under("skin"))?,
            weld: Weld::from_columns(&columns.under("weld"))?,
            distance: Field::from_columns(&columns.under("distance"))?,
        })
    }
}
