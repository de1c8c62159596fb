//! Checked mode: a node that runs again on the same inputs must give the same. Names the one that does not.

use serde::{Deserialize, Serialize};

use super::path::NodePath;
use crate::column::Column;
use crate::ids::SocketId;
use crate::value::{Digest, Value};

/// A node that gave something else for the same inputs: it is not pure, and its cached results cannot be trusted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Impurity {
    /// The node.
    pub node: NodePath,
    /// The output that differs.
    pub output: SocketId,
    /// The column of it that differs; `type` if the values are of different types.
    pub column: String,
}

impl std::fmt::Display for Impurity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { node, output, column } = self;
        write!(f, "{node} gave another {output} (column {column}) for the same inputs: it must use nothing but them")
    }
}

/// An output, by number, and a column of it that differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Difference {
    pub output: u32,
    pub column: String,
}

/// The first differing column of each output that differs.
pub(super) fn compare(before: &[Value], after: &[Value]) -> Vec<Difference> {
    let pairs = before.iter().zip(after).enumerate();
    pairs
        .filter(|(_, (before, after))| before.digest() != after.digest())
        .map(|(k, (before, after))| Difference { output: k as u32, column: column(before, after) })
        .collect()
}

fn column(before: &Value, after: &Value) -> String {
    if before.data_type().id != after.data_type().id {
        return "type".into();
    }
    let (before, after) = (before.columns(), after.columns());
    let different = before.iter().zip(&after).find(|(before, after)| digest(before) != digest(after));
    match different {
        Some((column, _)) => column.name.to_string(),
        None => "number of columns".into(),
    }
}

/// By bits, so that NaN equals itself.
fn digest(column: &Column) -> Digest {
    super::disk::codec::column_digest(column)
}
