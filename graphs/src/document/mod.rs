//! The document: graphs of nodes and wires, as the user made them. Pure data, persistent: a clone is a snapshot, costs
//! nothing and never changes, so that the evaluator reads one while the editor goes on.
//!
//! All changes go through edits, which have exact inverses.

mod fresh;
mod graph;
pub(crate) mod names;
mod node;
mod problem;
mod resolve;
mod sockets;
mod walk;
mod wiring;

use imbl::OrdMap;

pub use fresh::FreshIds;
pub use graph::{Frame, Graph, GraphInput, GraphKnob, GraphOutput, InputEnd, OutputEnd};
pub use node::{Node, NodeKind, SavedSockets};
pub use problem::{Problem, Severity};
pub use sockets::{SocketList, Sockets, knob_socket_type};

use crate::ids::GraphId;

/// Graphs by id. One is the main graph; the others are groups, used by nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    /// The graph that is evaluated and shown first.
    pub main: GraphId,
    /// All graphs, the main one included.
    pub graphs: OrdMap<GraphId, Graph>,
}

impl Document {
    /// A document with one empty graph.
    pub fn new() -> Self {
        let main = GraphId::from("main");
        Self { graphs: OrdMap::unit(main.clone(), Graph::default()), main }
    }

    /// The main graph; `None` if the document lost it, which neither edits nor files let happen.
    pub fn main_graph(&self) -> Option<&Graph> {
        self.graphs.get(&self.main)
    }
}

impl Default for Document {
    fn default() -> Self {
        Self::new()
    }
}
