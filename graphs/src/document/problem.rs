//! What is wrong with a document that edits would have refused: files are kept as they are, and told about.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::{Document, Graph, InputEnd, Node, NodeKind, OutputEnd, Sockets};
use crate::ids::{GraphId, NodeId};
use crate::registry::{Arity, Registry};

/// How much a [`Problem`] matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Something was brought up to date.
    Notice,
    /// A part of the graph cannot run, or not as it was meant.
    Fault,
}

/// Something to tell the user about a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// How much it matters.
    pub severity: Severity,
    /// The graph.
    pub graph: GraphId,
    /// The node; none if it is about the whole graph.
    pub node: Option<NodeId>,
    /// What is wrong, in a sentence.
    pub what: String,
    /// The next step for the user; empty if there is none to take.
    pub help: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.graph)?;
        if let Some(node) = &self.node {
            write!(f, "/{node}")?;
        }
        write!(f, ": {}", self.what)?;
        if self.help.is_empty() { Ok(()) } else { write!(f, "; {}", self.help) }
    }
}

impl Document {
    /// Everything that is wrong, in order of graph and node.
    pub fn problems(&self, registry: &Registry) -> Vec<Problem> {
        self.graphs.iter().flat_map(|(id, graph)| self.graph_problems(id, graph, registry)).collect()
    }

    fn graph_problems(&self, id: &GraphId, graph: &Graph, registry: &Registry) -> Vec<Problem> {
        let sockets: BTreeMap<&NodeId, Sockets> =
            graph.nodes.keys().filter_map(|node| Some((node, self.sockets(id, node, registry)?))).collect();
        let mut found = Found { graph: id, problems: Vec::new() };
        for (node_id, node) in &graph.nodes {
            self.node_problems(&mut found, node_id, node, registry);
            if let Some(sockets) = sockets.get(node_id) {
                knob_problems(&mut found, node_id, node, sockets);
            }
        }
        for (to, sources) in &graph.wires {
            let wires = WireEnds { sockets: &sockets, registry };
            wires.problems(&mut found, to, sources);
        }
        promoted_problems(&mut found, graph, &sockets);
        if let Some(path) = graph.find_cycle() {
            let path: Vec<&str> = path.iter().map(NodeId::as_str).collect();
            found.add(None, format!("the wires go in a circle: {}", path.join(" -> ")), "remove one of its wires");
        }
        found.problems
    }

    fn node_problems(&self, found: &mut Found, id: &NodeId, node: &Node, registry: &Registry) {
        match &node.kind {
            NodeKind::Type { id: type_id, revision } => match registry.node(type_id) {
                None => found.add(
                    Some(id),
                    format!("no node type is called {type_id}: the node is kept as it is but does not run"),
                    "install the plugin that brings it, or replace the node",
                ),
                Some(known) if *revision > known.revision => found.add(
                    Some(id),
                    format!(
                        "it was saved by revision {revision} of {type_id}, and here is revision {}",
                        known.revision
                    ),
                    "update the program or the plugin",
                ),
                Some(_) => {}
            },
            NodeKind::Group(group) if !self.graphs.contains_key(group) => {
                found.add(Some(id), format!("there is no graph called {group:?}"), "add the graph, or remove the node");
            }
            NodeKind::Group(group) => {
                if let Some(path) = self.holds(group, found.graph) {
                    let path: Vec<&str> = path.iter().map(GraphId::as_str).collect();
                    found.add(
                        Some(id),
                        format!("the group holds itself: {} -> {}", found.graph, path.join(" -> ")),
                        "remove the node",
                    );
                }
            }
        }
    }
}

fn knob_problems(found: &mut Found, id: &NodeId, node: &Node, sockets: &Sockets) {
    for (knob, value) in &node.knobs {
        match sockets.knob(knob.as_str()).map(|spec| spec.kind.check(value)) {
            None => found.add(Some(id), format!("it has no knob called {knob:?}"), "reset it"),
            Some(Err(reason)) => found.add(Some(id), format!("{knob}: {reason}"), "set another value"),
            Some(Ok(())) => {}
        }
    }
}

fn promoted_problems(found: &mut Found, graph: &Graph, sockets: &BTreeMap<&NodeId, Sockets>) {
    let takes = |end: &InputEnd| sockets.get(&end.node).is_some_and(|s| s.takes(end.socket.as_str()).is_some());
    for (id, input) in &graph.inputs {
        for end in input.targets.iter().filter(|end| !takes(end)) {
            let what = format!("the graph's input {id:?} feeds {end}, which is not there");
            found.add(None, what, "promote another socket");
        }
    }
    for (id, knob) in &graph.knobs {
        for (node, inner) in &knob.targets {
            if sockets.get(node).is_none_or(|s| s.knob(inner.as_str()).is_none()) {
                let what = format!("the graph's knob {id:?} sets {node}.{inner}, which is not there");
                found.add(None, what, "promote another knob");
            }
        }
    }
    for (id, output) in &graph.outputs {
        let OutputEnd { node, socket } = &output.source;
        if sockets.get(node).is_none_or(|s| s.output(socket.as_str()).is_none()) {
            let what = format!("the graph's output {id:?} comes from {}, which is not there", output.source);
            found.add(None, what, "promote another output");
        }
    }
}

struct Found<'a> {
    graph: &'a GraphId,
    problems: Vec<Problem>,
}

impl Found<'_> {
    fn add(&mut self, node: Option<&NodeId>, what: String, help: &str) {
        self.problems.push(Problem {
            severity: Severity::Fault,
            graph: self.graph.clone(),
            node: node.cloned(),
            what,
            help: help.into(),
        });
    }
}

struct WireEnds<'a> {
    sockets: &'a BTreeMap<&'a NodeId, Sockets>,
    registry: &'a Registry,
}

impl WireEnds<'_> {
    fn problems(&self, found: &mut Found, to: &InputEnd, sources: &Arc<[OutputEnd]>) {
        let Some(sockets) = self.sockets.get(&to.node) else {
            return found.add(None, format!("wires end at {to}, but there is no such node"), "disconnect them");
        };
        let Some((takes, arity)) = sockets.takes(to.socket.as_str()) else {
            return found.add(
                Some(&to.node),
                format!("a wire ends at its input {:?}, which it does not have", to.socket),
                "connect another input, or disconnect the wire",
            );
        };
        if sources.len() > 1 && arity != Arity::Many {
            let what = format!("{} wires end at its input {:?}, which takes one", sources.len(), to.socket);
            found.add(Some(&to.node), what, "disconnect all but one");
        }
        for from in sources.iter() {
            let gives = self.sockets.get(&from.node).map(|sockets| sockets.output(from.socket.as_str()));
            match gives {
                None => {
                    let what = format!("the wire into its input {:?} starts at {from}, which is no node", to.socket);
                    found.add(Some(&to.node), what, "connect another output, or disconnect the wire");
                }
                Some(None) => {
                    let what = format!("a wire starts at its output {:?}, which it does not have", from.socket);
                    found.add(Some(&from.node), what, "connect another output, or disconnect the wire");
                }
                Some(Some(output)) if !self.registry.fits(output.socket_type, takes) => {
                    let (gives, takes) = (output.socket_type.label(), takes.label());
                    let what = format!("its input {:?} takes {takes}, and {from} gives {gives}", to.socket);
                    found.add(Some(&to.node), what, "connect an output of a fitting type");
                }
                Some(Some(_)) => {}
            }
        }
    }
}

impl fmt::Display for InputEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.node, self.socket)
    }
}

impl fmt::Display for OutputEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.node, self.socket)
    }
}
