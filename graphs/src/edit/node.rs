//! Adding, moving, naming and muting nodes, and setting their knobs; frames.

use std::sync::Arc;

use super::{EditError, Editing};
use crate::document::names::{check_id, check_node_id};
use crate::document::{Frame, Node, NodeKind, Sockets};
use crate::ids::{FrameId, GraphId, KnobId, NodeId};
use crate::knob::KnobValue;

impl Editing<'_> {
    pub(super) fn add_node(&mut self, graph: &GraphId, id: &NodeId, node: &Arc<Node>) -> Result<(), EditError> {
        check_node_id(id.as_str()).map_err(|reason| EditError::BadId { reason })?;
        if self.graph(graph)?.nodes.contains_key(id) {
            return Err(EditError::Taken { what: "node", id: id.to_string() });
        }
        finite(id.as_str(), &node.position)?;
        match &node.kind {
            NodeKind::Type { id: type_id, .. } => {
                if self.registry.node(type_id).is_none() && node.saved.is_none() {
                    return Err(EditError::NoType { id: type_id.to_string() });
                }
            }
            NodeKind::Group(group) => self.may_hold(graph, group)?,
        }
        let node = Arc::new(node.current(self.registry));
        self.put_node(graph, id, Some(Arc::clone(&node)))?;
        // Set as they are, so that each is checked.
        node.knobs.iter().try_for_each(|(knob, value)| self.set_knob(graph, id, knob, Some(value)))
    }

    /// Refuses a group that is not there or would hold itself.
    pub(super) fn may_hold(&self, graph: &GraphId, group: &GraphId) -> Result<(), EditError> {
        self.graph(group)?;
        match self.document.holds(group, graph) {
            Some(path) => Err(EditError::Recursion { path: std::iter::once(graph.clone()).chain(path).collect() }),
            None => Ok(()),
        }
    }

    pub(super) fn move_nodes(&mut self, graph: &GraphId, to: &[(NodeId, [f32; 2])]) -> Result<(), EditError> {
        for (id, position) in to {
            finite(id.as_str(), position)?;
            self.change_node(graph, id, |node| node.position = *position)?;
        }
        Ok(())
    }

    pub(super) fn relabel(&mut self, graph: &GraphId, id: &NodeId, label: &Arc<str>) -> Result<(), EditError> {
        self.change_node(graph, id, |node| node.label = Arc::clone(label))
    }

    pub(super) fn set_muted(&mut self, graph: &GraphId, nodes: &[NodeId], muted: bool) -> Result<(), EditError> {
        nodes.iter().try_for_each(|id| self.change_node(graph, id, |node| node.muted = muted))
    }

    pub(super) fn set_knob(
        &mut self,
        graph: &GraphId,
        id: &NodeId,
        knob: &KnobId,
        value: Option<&KnobValue>,
    ) -> Result<(), EditError> {
        let node = Arc::clone(self.node(graph, id)?);
        let sockets = self.sockets(graph, id)?;
        let bad = |reason| EditError::BadKnob { node: id.clone(), knob: knob.clone(), reason };
        let spec = sockets.knob(knob.as_str());
        if let Some(value) = value {
            check_id(knob.as_str()).map_err(|reason| EditError::BadId { reason })?;
            if !value.is_finite() {
                return Err(bad("the value is not a finite number".into()));
            }
            // What is known of a placeholder's knobs comes from their values: it keeps whatever it is given.
            match spec {
                _ if sockets.is_placeholder() => {}
                Some(spec) => spec.kind.check(value).map_err(bad)?,
                None => {
                    let there = sockets.knobs().iter().map(|knob| knob.id.as_str()).collect();
                    return Err(no_socket(id.as_str(), "knob", knob.as_str(), there));
                }
            }
        } else if spec.is_none() && !node.knobs.contains_key(knob) {
            let there = sockets.knobs().iter().map(|knob| knob.id.as_str()).collect();
            return Err(no_socket(id.as_str(), "knob", knob.as_str(), there));
        }
        // A group's knob set to its default still pins every knob that it sets, whatever becomes of them inside.
        let default = spec.filter(|_| matches!(sockets, Sockets::Type(_))).map(|spec| &spec.default);
        let mut node = (*node).clone();
        match value.filter(|value| Some(*value) != default) {
            Some(value) => node.knobs.insert(knob.clone(), value.clone()),
            None => node.knobs.remove(knob),
        };
        self.put_node(graph, id, Some(Arc::new(node)))
    }

    pub(super) fn set_frame(
        &mut self,
        graph: &GraphId,
        id: &FrameId,
        frame: Option<&Arc<Frame>>,
    ) -> Result<(), EditError> {
        match frame {
            Some(frame) => {
                check_id(id.as_str()).map_err(|reason| EditError::BadId { reason })?;
                finite(id.as_str(), &frame.area)?;
            }
            None if !self.graph(graph)?.frames.contains_key(id) => {
                return Err(EditError::Missing { what: format!("frame {id:?} in {graph:?}") });
            }
            None => {}
        }
        self.put_frame(graph, id, frame.cloned())
    }

    fn change_node(&mut self, graph: &GraphId, id: &NodeId, change: impl FnOnce(&mut Node)) -> Result<(), EditError> {
        let mut node = (**self.node(graph, id)?).clone();
        change(&mut node);
        self.put_node(graph, id, Some(Arc::new(node)))
    }
}

pub(super) fn finite(what: &str, numbers: &[f32]) -> Result<(), EditError> {
    if numbers.iter().all(|x| x.is_finite()) { Ok(()) } else { Err(EditError::NoPlace { what: what.into() }) }
}

pub(super) fn no_socket(node: &str, what: &'static str, id: &str, there: Vec<&str>) -> EditError {
    let there = if there.is_empty() { "none".into() } else { there.join(", ") };
    EditError::NoSocket { node: node.into(), what, id: id.into(), there }
}
