//! What depends on what: along the wires of a graph, and through groups of groups.

use std::collections::BTreeSet;

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
        // Upstream from `from`, because the wires are sorted by where they end.
        let mut seen = BTreeSet::from([from]);
        let mut trail: Vec<(&NodeId, Vec<&NodeId>)> = vec![(from, self.upstream(from).collect())];
        if from == to {
            return Some(vec![from.clone()]);
        }
        while let Some((_, open)) = trail.last_mut() {
            match open.pop() {
                None => {
                    trail.pop();
                }
                Some(next) if next == to => {
                    let path = std::iter::once(next).chain(trail.iter().rev().map(|(node, _)| *node));
                    return Some(path.cloned().collect());
                }
                Some(next) if seen.insert(next) => trail.push((next, self.upstream(next).collect())),
                Some(_) => {}
            }
        }
        None
    }

    /// A cycle along the wires, if there is one. Edits never make one; a file merged by hand can.
    pub fn find_cycle(&self) -> Option<Vec<NodeId>> {
        let mut done = BTreeSet::new();
        let mut on_trail = BTreeSet::new();
        for start in self.nodes.keys() {
            let mut trail: Vec<(&NodeId, Vec<&NodeId>)> = Vec::new();
            if !done.contains(start) {
                on_trail.insert(start);
                trail.push((start, self.upstream(start).collect()));
            }
            while let Some((node, open)) = trail.last_mut() {
                match open.pop() {
                    None => {
                        done.insert(*node);
                        on_trail.remove(*node);
                        trail.pop();
                    }
                    Some(next) if on_trail.contains(next) => {
                        let cycle = trail.iter().rev().map(|(node, _)| *node);
                        let mut path: Vec<NodeId> = cycle.take_while(|node| *node != next).cloned().collect();
                        path.push(next.clone());
                        return Some(path);
                    }
                    Some(next) if !done.contains(next) => {
                        on_trail.insert(next);
                        trail.push((next, self.upstream(next).collect()));
                    }
                    Some(_) => {}
                }
            }
        }
        None
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
