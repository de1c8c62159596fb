//! What depends on what: along the wires of a graph, and through groups of groups.

use std::collections::BTreeSet;

use super::wiring::Wiring;
use super::{Document, Graph, InputEnd, NodeKind, OutputEnd};
use crate::ids::{GraphId, NodeId};

impl Graph {
    /// The outputs wired to an input, in order.
    pub fn sources(&self, input: &InputEnd) -> &[OutputEnd] {
        self.wires.get(input).map_or(&[], |sources| sources)
    }

    /// Every wire, sorted by the input where it ends.
    pub fn all_wires(&self) -> impl Iterator<Item = (&OutputEnd, &InputEnd)> {
        self.wires.iter().flat_map(|(to, sources)| sources.iter().map(move |from| (from, to)))
    }

    /// The nodes that feed a node directly.
    pub fn upstream<'a>(&'a self, node: &'a NodeId) -> impl Iterator<Item = &'a NodeId> {
        self.wires_into(node).flat_map(|(_, sources)| sources.iter().map(|from| &from.node))
    }

    /// The cycle that a wire from `from` to `to` would close: the nodes from `to` to `from` along existing wires.
    pub fn would_cycle(&self, from: &NodeId, to: &NodeId) -> Option<Vec<NodeId>> {
        if from == to {
            return Some(vec![from.clone()]);
        }
        // A node that feeds nothing closes none, as most that a wire is drawn to.
        if !self.wires.values().flat_map(|sources| sources.iter()).any(|source| source.node == *to) {
            return None;
        }
        Wiring::of(self).path(to, from)
    }

    /// A cycle along the wires, if there is one. Edits never make one; a file merged by hand can.
    pub fn find_cycle(&self) -> Option<Vec<NodeId>> {
        Wiring::of(self).circle()
    }

    /// The graphs that its nodes use as groups.
    pub fn groups(&self) -> BTreeSet<&GraphId> {
        let group = |node: &'_ std::sync::Arc<super::Node>| matches!(node.kind, NodeKind::Group(_));
        let used = self.nodes.values().filter(|node| group(node));
        used.filter_map(|node| if let NodeKind::Group(id) = &node.kind { Some(id) } else { None }).collect()
    }
}

impl Document {
    /// How `outer` holds `inner` as a group, directly or by way of others: the graphs from one to the other.
    /// A graph holds itself.
    pub fn holds(&self, outer: &GraphId, inner: &GraphId) -> Option<Vec<GraphId>> {
        let mut seen = BTreeSet::from([outer.clone()]);
        let mut open = vec![vec![outer.clone()]];
        while let Some(path) = open.pop() {
            let last = path.last()?;
            if last == inner {
                return Some(path);
            }
            for group in self.graphs.get(last).into_iter().flat_map(Graph::groups) {
                if seen.insert(group.clone()) {
                    open.push(path.iter().chain([group]).cloned().collect());
                }
            }
        }
        None
    }

    /// The nodes that use a graph as a group.
    pub fn users<'a>(&'a self, group: &'a GraphId) -> impl Iterator<Item = (&'a GraphId, &'a NodeId)> {
        self.graphs.iter().flat_map(move |(graph, content)| {
            let uses = content.nodes.iter().filter(|(_, node)| node.kind == NodeKind::Group(group.clone()));
            uses.map(move |(node, _)| (graph, node))
        })
    }
}
