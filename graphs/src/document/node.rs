//! A node of a graph.

use std::sync::Arc;

use imbl::OrdMap;
use serde::{Deserialize, Serialize};

use crate::ids::{GraphId, KnobId, NodeTypeId, SocketId};
use crate::knob::KnobValue;

/// A node: what it is, where it stands, and the knobs that someone set.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// What it is.
    pub kind: NodeKind,
    /// The name that the user gave it; empty for the type's own.
    pub label: Arc<str>,
    /// Left and top on the canvas.
    pub position: [f32; 2],
    /// Knobs that differ from their default.
    pub knobs: OrdMap<KnobId, KnobValue>,
    /// Whether it passes its first fitting input through instead of running.
    pub muted: bool,
    /// What is known of its sockets when its type is not: kept from the file and saved back.
    pub saved: Option<Arc<SavedSockets>>,
}

/// What a node is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// A node type, at the revision that it was saved with.
    Type {
        /// The type.
        id: NodeTypeId,
        /// The revision.
        revision: u32,
    },
    /// A graph of the same document, used as a node.
    Group(GraphId),
}

/// The sockets of a node whose type is unknown: enough to show it, keep its wires and save it unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedSockets {
    /// Its inputs: id and data type.
    pub inputs: Vec<(SocketId, Arc<str>)>,
    /// Its outputs: id and data type.
    pub outputs: Vec<(SocketId, Arc<str>)>,
}

impl Node {
    /// A node of a type, as it is when someone adds it.
    pub fn new(id: impl Into<NodeTypeId>, revision: u32, position: [f32; 2]) -> Self {
        Self {
            kind: NodeKind::Type { id: id.into(), revision },
            label: "".into(),
            position,
            knobs: OrdMap::new(),
            muted: false,
            saved: None,
        }
    }
}
