//! Where a node stands once groups are opened up: the same node inside a group used twice is two places.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::ids::{NodeId, SocketId};

/// A node by its group nodes from the outside in, then itself. Shown as `tail/weld`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodePath(Arc<[NodeId]>);

impl NodePath {
    /// The path through these group nodes to the last one.
    pub fn new(ids: impl IntoIterator<Item = NodeId>) -> Self {
        Self(ids.into_iter().collect())
    }

    /// The group nodes around it and the node itself.
    pub fn ids(&self) -> &[NodeId] {
        &self.0
    }

    /// The node itself; `None` for the path of the whole document.
    pub fn node(&self) -> Option<&NodeId> {
        self.0.last()
    }

    /// The path of a node within this group.
    pub fn child(&self, node: &NodeId) -> Self {
        self.0.iter().chain([node]).cloned().collect()
    }

    /// Whether it is this group or stands within it.
    pub fn is_within(&self, group: &Self) -> bool {
        self.0.starts_with(&group.0)
    }
}

impl FromIterator<NodeId> for NodePath {
    fn from_iter<I: IntoIterator<Item = NodeId>>(ids: I) -> Self {
        Self::new(ids)
    }
}

impl From<&NodeId> for NodePath {
    fn from(node: &NodeId) -> Self {
        Self(Arc::from([node.clone()]))
    }
}

impl From<&str> for NodePath {
    fn from(text: &str) -> Self {
        text.split('/').filter(|part| !part.is_empty()).map(NodeId::from).collect()
    }
}

impl fmt::Display for NodePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (k, id) in self.0.iter().enumerate() {
            if k > 0 {
                f.write_str("/")?;
            }
            f.write_str(id.as_str())?;
        }
        Ok(())
    }
}

impl Serialize for NodePath {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for NodePath {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Ok(Self::from(String::deserialize(from)?.as_str()))
    }
}

/// An output of a node, or of a group. Shown as `tail/weld.mesh`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct OutputPath {
    /// The node or group.
    pub node: NodePath,
    /// Its output.
    pub socket: SocketId,
}

impl OutputPath {
    /// An output of a node.
    pub fn new(node: impl Into<NodePath>, socket: impl Into<SocketId>) -> Self {
        Self { node: node.into(), socket: socket.into() }
    }
}

impl fmt::Display for OutputPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.node, self.socket)
    }
}
