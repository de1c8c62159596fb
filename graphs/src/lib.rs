//! Documents, the node registry, and the cached background evaluator of Sinew.
//!
//! A node is a function ([`node`]); everything that flows is columns ([`mod@column`]); a graph is pure.

extern crate self as sinew_graph;

pub mod basic;
pub mod column;
mod cx;
pub mod document;
pub mod edit;
mod error;
pub mod evaluate;
pub mod file;
pub mod history;
mod ids;
pub mod key;
pub mod knob;
pub mod registry;
pub mod value;

pub use cx::{Cx, FileRead, FileStamp, Warning};
pub use error::{ErrorKind, NodeError, Result};
pub use evaluate::Evaluator;
pub use ids::{FrameId, GraphId, KnobId, NodeId, NodeTypeId, SocketId};
pub use registry::{NodeType, Registry};
pub use sinew_macro::{Choice, Outputs, node};
pub use value::{Data, Digest, Value};
