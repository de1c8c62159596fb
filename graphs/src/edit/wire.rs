//! Wires: they start at an output, end at an input or knob, fit in type, and never close a circle.

use super::node::no_socket;
use super::{EditError, Editing};
use crate::document::names::check_id;
use crate::document::{InputEnd, OutputEnd, Sockets};
use crate::ids::{GraphId, NodeId};
use crate::registry::{Arity, SocketType};

impl Editing<'_> {
    pub(super) fn connect(&mut self, graph: &GraphId, from: &OutputEnd, to: &InputEnd) -> Result<(), EditError> {
        let mut sources = self.graph(graph)?.sources(to).to_vec();
        if sources.contains(from) {
            return Err(EditError::Connected { from: from.clone(), to: to.clone() });
        }
        let (_, arity) = self.takes(graph, to)?;
        if arity != Arity::Many {
            sources.clear();
        }
        self.check_wire(graph, from, to)?;
        sources.push(from.clone());
        self.put_wires(graph, to, sources)
    }

    pub(super) fn disconnect(&mut self, graph: &GraphId, from: &OutputEnd, to: &InputEnd) -> Result<(), EditError> {
        let mut sources = self.graph(graph)?.sources(to).to_vec();
        let there = sources.len();
        sources.retain(|source| source != from);
        if sources.len() == there {
            return Err(EditError::Missing { what: format!("wire from {from} to {to} in {graph:?}") });
        }
        self.put_wires(graph, to, sources)
    }

    pub(super) fn set_wires(&mut self, graph: &GraphId, to: &InputEnd, from: &[OutputEnd]) -> Result<(), EditError> {
        if from.is_empty() {
            self.graph(graph)?;
            return self.put_wires(graph, to, Vec::new());
        }
        let (_, arity) = self.takes(graph, to)?;
        if from.len() > 1 && arity != Arity::Many {
            return Err(EditError::TooManyWires { to: to.clone(), wires: from.len() });
        }
        for (k, source) in from.iter().enumerate() {
            if from[..k].contains(source) {
                return Err(EditError::Connected { from: source.clone(), to: to.clone() });
            }
            self.check_wire(graph, source, to)?;
        }
        self.put_wires(graph, to, from.to_vec())
    }

    fn check_wire(&self, graph: &GraphId, from: &OutputEnd, to: &InputEnd) -> Result<(), EditError> {
        let gives = self.gives(graph, from)?;
        let (takes, _) = self.takes(graph, to)?;
        check_id(from.socket.as_str()).map_err(|reason| EditError::BadId { reason })?;
        check_id(to.socket.as_str()).map_err(|reason| EditError::BadId { reason })?;
        if !self.registry.fits(gives, takes) {
            return Err(EditError::Unfit {
                from: from.to_string(),
                gives: gives.label(),
                to: to.to_string(),
                takes: takes.label(),
            });
        }
        match self.graph(graph)?.would_cycle(&from.node, &to.node) {
            Some(path) => Err(EditError::Cycle { path }),
            None => Ok(()),
        }
    }

    pub(super) fn sockets(&self, graph: &GraphId, node: &NodeId) -> Result<Sockets, EditError> {
        self.node(graph, node)?;
        let missing = || EditError::NoNode { graph: graph.clone(), node: node.clone() };
        self.document.sockets(graph, node, self.registry).ok_or_else(missing)
    }

    /// What an input, or a knob by wire, takes.
    pub(super) fn takes(&self, graph: &GraphId, to: &InputEnd) -> Result<(SocketType, Arity), EditError> {
        let sockets = self.sockets(graph, &to.node)?;
        sockets.takes(to.socket.as_str()).ok_or_else(|| {
            let inputs = sockets.inputs().iter().map(|input| input.id.as_str());
            let there = inputs.chain(sockets.knobs().iter().map(|knob| knob.id.as_str())).collect();
            no_socket(to.node.as_str(), "input", to.socket.as_str(), there)
        })
    }

    pub(super) fn gives(&self, graph: &GraphId, from: &OutputEnd) -> Result<SocketType, EditError> {
        let sockets = self.sockets(graph, &from.node)?;
        let output = sockets.output(from.socket.as_str()).map(|output| output.socket_type);
        output.ok_or_else(|| {
            let there = sockets.outputs().iter().map(|output| output.id.as_str()).collect();
            no_socket(from.node.as_str(), "output", from.socket.as_str(), there)
        })
    }
}
