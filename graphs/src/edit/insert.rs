//! Whole parts: pasted nodes, and graphs to be used as groups. They come as files bring them: what does not fit is kept
//! and told as a problem, but nothing comes in that could not be saved or evaluated at all.

use std::sync::Arc;

use super::node::finite;
use super::{EditError, Editing};
use crate::document::Graph;
use crate::document::names::{check_id, check_node_id};
use crate::ids::{GraphId, NodeId};

impl Editing<'_> {
    pub(super) fn insert(&mut self, graph: &GraphId, part: &Graph) -> Result<(), EditError> {
        check_part(part)?;
        for group in part.groups() {
            self.may_hold(graph, group)?;
        }
        for (id, node) in &part.nodes {
            if self.graph(graph)?.nodes.contains_key(id) {
                return Err(EditError::Taken { what: "node", id: id.to_string() });
            }
            self.put_node(graph, id, Some(Arc::new(node.current(self.registry))))?;
        }
        for (to, sources) in &part.wires {
            let missing = |node: &NodeId| !part.nodes.contains_key(node);
            if let Some(node) =
                std::iter::once(&to.node).chain(sources.iter().map(|from| &from.node)).find(|n| missing(n))
            {
                return Err(EditError::NoNode { graph: graph.clone(), node: node.clone() });
            }
            self.put_wires(graph, to, sources.to_vec())?;
        }
        for (id, frame) in &part.frames {
            if self.graph(graph)?.frames.contains_key(id) {
                return Err(EditError::Taken { what: "frame", id: id.to_string() });
            }
            self.put_frame(graph, id, Some(Arc::clone(frame)))?;
        }
        Ok(())
    }

    pub(super) fn add_graph(&mut self, id: &GraphId, content: &Graph) -> Result<(), EditError> {
        check_id(id.as_str()).map_err(|reason| EditError::BadId { reason })?;
        if self.document.graphs.contains_key(id) {
            return Err(EditError::Taken { what: "graph", id: id.to_string() });
        }
        check_part(content)?;
        let mut content = content.clone();
        let current = |(id, node): (&NodeId, &Arc<_>)| {
            (id.clone(), Arc::new(crate::document::Node::current(node, self.registry)))
        };
        content.nodes = content.nodes.iter().map(current).collect();
        let groups: Vec<GraphId> = content.groups().into_iter().cloned().collect();
        self.put_graph(id, Some(content))?;
        groups.iter().try_for_each(|group| self.may_hold(id, group))
    }

    pub(super) fn remove_graph(&mut self, id: &GraphId) -> Result<(), EditError> {
        self.graph(id)?;
        if self.document.main == *id {
            return Err(EditError::InUse {
                reason: format!("{id:?} is the main graph: make another the main one first"),
            });
        }
        if let Some((graph, node)) = self.document.users(id).next() {
            let reason = format!("{id:?} is used by {node:?} in {graph:?}: remove or ungroup that node first");
            return Err(EditError::InUse { reason });
        }
        self.put_graph(id, None)
    }
}

/// Whether a part could be saved and evaluated.
fn check_part(part: &Graph) -> Result<(), EditError> {
    let bad = |reason| EditError::BadId { reason };
    for (id, node) in &part.nodes {
        check_node_id(id.as_str()).map_err(bad)?;
        finite(id.as_str(), &node.position)?;
        for (knob, value) in &node.knobs {
            check_id(knob.as_str()).map_err(bad)?;
            if !value.is_finite() {
                let (node, reason) = (id.clone(), "the value is not a finite number".into());
                return Err(EditError::BadKnob { node, knob: knob.clone(), reason });
            }
        }
    }
    for (from, to) in part.all_wires() {
        check_node_id(from.node.as_str()).and_then(|()| check_id(from.socket.as_str())).map_err(bad)?;
        check_node_id(to.node.as_str()).and_then(|()| check_id(to.socket.as_str())).map_err(bad)?;
    }
    for (id, frame) in &part.frames {
        check_id(id.as_str()).map_err(bad)?;
        finite(id.as_str(), &frame.area)?;
    }
    let shown = part.inputs.keys().chain(part.outputs.keys()).map(|id| id.as_str());
    shown.chain(part.knobs.keys().map(|id| id.as_str())).try_for_each(check_id).map_err(bad)?;
    match part.find_cycle() {
        Some(path) => Err(EditError::Cycle { path }),
        None => Ok(()),
    }
}
