//! Which joints move which vertex, and how much.

use std::sync::Arc;

use sinew_graph::Data;
use sinew_graph::column::{Column, ColumnError, Columns, Elements};
use sinew_graph::value::{DataType, DataTypeId};

/// `width` influences per vertex of a [`super::Mesh`].
///
/// Weights of a vertex are not negative, sum to 1 and fall; unused influences have joint 0 and weight 0. A vertex without
/// any weight (possible only in broken files) has all zeros.
#[derive(Clone, Debug, PartialEq)]
pub struct Skin {
    /// Influences per vertex.
    pub width: usize,
    /// Joint numbers into a [`super::Skeleton`], `width` per vertex.
    pub joints: Arc<[u16]>,
    /// Weights, `width` per vertex.
    pub weights: Arc<[f32]>,
}

impl Skin {
    /// How many vertices.
    pub fn len(&self) -> usize {
        self.joints.len() / self.width.max(1)
    }

    /// Whether there is no vertex.
    pub fn is_empty(&self) -> bool {
        self.joints.is_empty()
    }

    /// The influences of a vertex that weigh something.
    pub fn influences(&self, vertex: usize) -> impl Iterator<Item = (u16, f32)> + '_ {
        let range = vertex * self.width..(vertex + 1) * self.width;
        self.joints[range.clone()]
            .iter()
            .copied()
            .zip(self.weights[range].iter().copied())
            .filter(|&(_, weight)| weight > 0.0)
    }
}

impl Data for Skin {
    const TYPE: DataType = DataType {
        id: DataTypeId("skin"),
        label: "Skin",
        help: "Weights of joints on vertices.",
        colour: [224, 108, 158],
    };

    fn columns(&self) -> Vec<Column> {
        vec![
            Column { name: "joint".into(), arity: self.width, elements: Elements::U16(Arc::clone(&self.joints)) },
            Column { name: "weight".into(), arity: self.width, elements: Elements::F32(Arc::clone(&self.weights)) },
        ]
    }

    fn from_columns(columns: &Columns) -> Result<Self, ColumnError> {
        let (joints, weights) = (columns.get("joint")?, columns.get("weight")?);
        match (&joints.elements, &weights.elements) {
            (Elements::U16(j), Elements::F32(w)) if joints.arity == weights.arity && j.len() == w.len() => {
                Ok(Self { width: joints.arity, joints: Arc::clone(j), weights: Arc::clone(w) })
            }
            _ => Err(ColumnError::Content {
                name: "joint".into(),
                reason: "joint and weight must be u16 and f32 columns of the same shape".into(),
            }),
        }
    }
}
