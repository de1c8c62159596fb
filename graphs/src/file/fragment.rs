//! Copy and paste: a selection as the text of a small document, so that it goes through any clipboard, chat or file.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{LoadError, load, save};
use crate::document::{Document, Frame, FreshIds, Graph, InputEnd, Node, NodeKind, OutputEnd, Problem};
use crate::edit::{Edit, EditError};
use crate::ids::{FrameId, GraphId, NodeId};
use crate::registry::Registry;

/// Nodes with the wires between them, frames, and the graphs that they use as groups.
#[derive(Clone, Debug, PartialEq)]
pub struct Fragment(Document);

/// An edit that pastes, and what it will have added: for selecting it.
#[derive(Clone, Debug, PartialEq)]
pub struct Paste {
    /// The edit: one step of the history.
    pub edit: Edit,
    /// The new nodes.
    pub nodes: Vec<NodeId>,
    /// The new frames.
    pub frames: Vec<FrameId>,
}

impl Fragment {
    /// Copies a selection. What is not there is left out.
    pub fn copy(document: &Document, graph: &GraphId, nodes: &[NodeId], frames: &[FrameId]) -> Self {
        let mut fragment = Document::new();
        let Some(from) = document.graphs.get(graph) else { return Self(fragment) };
        let chosen: BTreeSet<&NodeId> = nodes.iter().collect();
        let mut part = Graph::default();
        for id in &chosen {
            if let Some(node) = from.nodes.get(*id) {
                part.nodes.insert((*id).clone(), Arc::clone(node));
            }
        }
        for (to, sources) in from.wires.iter().filter(|(to, _)| part.nodes.contains_key(&to.node)) {
            let inner: Vec<OutputEnd> =
                sources.iter().filter(|source| part.nodes.contains_key(&source.node)).cloned().collect();
            if !inner.is_empty() {
                part.wires.insert(to.clone(), inner.into());
            }
        }
        for id in frames {
            if let Some(frame) = from.frames.get(id) {
                part.frames.insert(id.clone(), Arc::clone(frame));
            }
        }
        // The graphs keep their ids, and the selection gets one that none of them has.
        fragment.graphs.clear();
        let mut open: Vec<GraphId> = part.groups().into_iter().cloned().collect();
        while let Some(id) = open.pop() {
            if let (false, Some(group)) = (fragment.graphs.contains_key(&id), document.graphs.get(&id)) {
                open.extend(group.groups().into_iter().cloned());
                fragment.graphs.insert(id, group.clone());
            }
        }
        fragment.main = fragment.fresh_graph_id("selection");
        fragment.graphs.insert(fragment.main.clone(), part);
        Self(fragment)
    }

    /// The selection as text.
    pub fn to_text(&self, registry: &Registry) -> String {
        save(&self.0, registry)
    }

    /// A selection from text; the text of a whole document is its main graph.
    pub fn from_text(text: &str, registry: &Registry) -> Result<(Self, Vec<Problem>), LoadError> {
        load(text, registry).map(|loaded| (Self(loaded.document), loaded.problems))
    }

    /// How many nodes it has.
    pub fn len(&self) -> usize {
        self.0.main_graph().map_or(0, |graph| graph.nodes.len())
    }

    /// Whether it has neither nodes nor frames.
    pub fn is_empty(&self) -> bool {
        self.0.main_graph().is_none_or(|graph| graph.nodes.is_empty() && graph.frames.is_empty())
    }

    /// The edit that pastes it into a graph, moved by `by`. Ids that are taken there are replaced by fresh ones; a graph
    /// that the document has already, just so, is used and not added again.
    pub fn paste(&self, document: &Document, graph: &GraphId, by: [f32; 2]) -> Result<Paste, EditError> {
        let Some(into) = document.graphs.get(graph) else { return Err(EditError::NoGraph { graph: graph.clone() }) };
        let Some(part) = self.0.main_graph() else { return Err(EditError::NoGraph { graph: self.0.main.clone() }) };
        let (groups, mut edits) = self.groups(document, part)?;

        let mut fresh = FreshIds::new(|id: &str| into.nodes.contains_key(id));
        let ids: BTreeMap<&NodeId, NodeId> = part.nodes.keys().map(|id| (id, fresh.keep(id.as_str()).into())).collect();
        let id = |old: &NodeId| ids.get(old).unwrap_or(old).clone();
        let mut fresh = FreshIds::new(|id: &str| into.frames.contains_key(id));
        let moved_frame = |(id, frame): (&FrameId, &Arc<Frame>)| {
            let [x, y, width, height] = frame.area;
            let frame = Frame { area: [x + by[0], y + by[1], width, height], ..(**frame).clone() };
            (FrameId::from(fresh.keep(id.as_str())), Arc::new(frame))
        };
        let moved_node = |(old, node): (&NodeId, &Arc<Node>)| {
            let [x, y] = node.position;
            let node = Node { position: [x + by[0], y + by[1]], ..(*regrouped(node, &groups)).clone() };
            (id(old), Arc::new(node))
        };
        // Wires that a document had on missing nodes stay where they are.
        let whole = |sources: &[OutputEnd]| -> Vec<OutputEnd> {
            let there = sources.iter().filter(|from| part.nodes.contains_key(&from.node));
            there.map(|from| OutputEnd { node: id(&from.node), socket: from.socket.clone() }).collect()
        };
        let wires = part.wires.iter().filter(|(to, _)| part.nodes.contains_key(&to.node));
        let wires =
            wires.map(|(to, sources)| (InputEnd { node: id(&to.node), socket: to.socket.clone() }, whole(sources)));
        let part = Graph {
            nodes: part.nodes.iter().map(moved_node).collect(),
            wires: wires.filter(|(_, sources)| !sources.is_empty()).map(|(to, s)| (to, Arc::from(s))).collect(),
            frames: part.frames.iter().map(moved_frame).collect(),
            ..Graph::default()
        };
        let (nodes, frames) = (part.nodes.keys().cloned().collect(), part.frames.keys().cloned().collect());
        let insert = Edit::Insert { graph: graph.clone(), part: Box::new(part) };
        let edit = if edits.is_empty() {
            insert
        } else {
            edits.push(insert);
            Edit::Many(edits)
        };
        Ok(Paste { edit, nodes, frames })
    }

    /// What the graphs that `part` uses are called in the document, and the edits that add those that it lacks.
    fn groups(&self, document: &Document, part: &Graph) -> Result<(BTreeMap<GraphId, GraphId>, Vec<Edit>), EditError> {
        let mut fresh = FreshIds::new(|id: &str| document.graphs.contains_key(id));
        let mut names: BTreeMap<GraphId, GraphId> = BTreeMap::new();
        let mut edits = Vec::new();
        for id in self.inner_first(part)? {
            let Some(group) = self.0.graphs.get(&id) else { continue };
            let nodes = group.nodes.iter().map(|(node_id, node)| (node_id.clone(), regrouped(node, &names))).collect();
            let group = Graph { nodes, ..group.clone() };
            if document.graphs.get(&id) == Some(&group) {
                names.insert(id.clone(), id);
                continue;
            }
            let name = GraphId::from(fresh.keep(id.as_str()));
            names.insert(id, name.clone());
            edits.push(Edit::AddGraph { id: name, content: Box::new(group) });
        }
        Ok((names, edits))
    }

    /// The graphs that `part` uses, each behind those that it uses itself.
    fn inner_first(&self, part: &Graph) -> Result<Vec<GraphId>, EditError> {
        let mut order: Vec<GraphId> = Vec::new();
        let mut done = BTreeSet::new();
        let groups = |graph: &Graph| -> Vec<GraphId> { graph.groups().into_iter().cloned().collect() };
        let mut trail: Vec<(Option<GraphId>, Vec<GraphId>)> = vec![(None, groups(part))];
        while let Some((_, open)) = trail.last_mut() {
            match open.pop() {
                None => {
                    if let Some((Some(id), _)) = trail.pop() {
                        done.insert(id.clone());
                        order.push(id);
                    }
                }
                Some(next) if trail.iter().any(|(id, _)| id.as_ref() == Some(&next)) => {
                    let path = trail.iter().filter_map(|(id, _)| id.clone()).skip_while(|id| *id != next);
                    return Err(EditError::Recursion { path: path.chain([next.clone()]).collect() });
                }
                Some(next) if !done.contains(&next) => {
                    let inner = self.0.graphs.get(&next).map(groups).unwrap_or_default();
                    trail.push((Some(next), inner));
                }
                Some(_) => {}
            }
        }
        Ok(order)
    }
}

/// The node, with its group under the name that it has in the document.
fn regrouped(node: &Arc<Node>, names: &BTreeMap<GraphId, GraphId>) -> Arc<Node> {
    match &node.kind {
        NodeKind::Group(group) if names.get(group).is_some_and(|name| name != group) => {
            let kind = NodeKind::Group(names.get(group).unwrap_or(group).clone());
            Arc::new(Node { kind, ..(**node).clone() })
        }
        _ => Arc::clone(node),
    }
}
