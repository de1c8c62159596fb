//! Names that files, wires and caches hold on to. All are short text, never positions, so that a saved graph reads
//! well, diffs well and survives a reordering.

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
        #[serde(transparent)]
        pub struct $name(Arc<str>);

        impl $name {
            /// The id as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.into())
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self(text.into())
            }
        }

        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl PartialEq<str> for $name {
            fn eq(&self, other: &str) -> bool {
                self.as_str() == other
            }
        }

        impl PartialEq<&str> for $name {
            fn eq(&self, other: &&str) -> bool {
                self.as_str() == *other
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.0, f)
            }
        }
    };
}

id! {
    /// A node type: `mesh.weld`. The part before the first dot is its category.
    NodeTypeId
}
id! {
    /// A node within its graph: `weld`, `weld2`. Given once, never changed; the label may change.
    NodeId
}
id! {
    /// An input or output of a node. A knob's socket has the knob's id.
    SocketId
}
id! {
    /// A parameter of a node.
    KnobId
}
id! {
    /// A graph within its document.
    GraphId
}
id! {
    /// A frame or comment within its graph.
    FrameId
}

impl NodeTypeId {
    /// The part before the first dot: `mesh` of `mesh.weld`.
    pub fn category(&self) -> &str {
        self.as_str().split('.').next().unwrap_or_default()
    }

    /// The part behind the first dot: `weld` of `mesh.weld`.
    pub fn short(&self) -> &str {
        self.as_str().split_once('.').map_or(self.as_str(), |(_, short)| short)
    }
}

impl From<&KnobId> for SocketId {
    fn from(knob: &KnobId) -> Self {
        Self::from(knob.as_str())
    }
}
