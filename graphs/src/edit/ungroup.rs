//! Puts the nodes of a group in place of the node that uses it: the inverse of grouping, for what is computed.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::group::middle;
use super::node::finite;
use super::{EditError, Editing};
use crate::document::{
    Frame, FreshIds, Graph, GraphInput, GraphKnob, GraphOutput, InputEnd, Node, NodeKind, OutputEnd,
};
use crate::ids::{FrameId, GraphId, KnobId, NodeId, SocketId};

/// How the nodes of a group are called in the graph that they come to.
struct Arrival {
    ids: BTreeMap<NodeId, NodeId>,
    by: [f32; 2],
}

impl Arrival {
    fn id(&self, inner: &NodeId) -> NodeId {
        self.ids.get(inner).unwrap_or(inner).clone()
    }

    fn input(&self, end: &InputEnd) -> InputEnd {
        InputEnd { node: self.id(&end.node), socket: end.socket.clone() }
    }

    fn output(&self, end: &OutputEnd) -> OutputEnd {
        OutputEnd { node: self.id(&end.node), socket: end.socket.clone() }
    }

    fn knob(&self, (node, knob): &(NodeId, KnobId)) -> (NodeId, KnobId) {
        (self.id(node), knob.clone())
    }
}

impl Editing<'_> {
    pub(super) fn ungroup(&mut self, graph: &GraphId, id: &NodeId) -> Result<(), EditError> {
        let node = Arc::clone(self.node(graph, id)?);
        let NodeKind::Group(group_id) = &node.kind else {
            return Err(EditError::InUse { reason: format!("{id:?} is no group: there is nothing to take out of it") });
        };
        if node.muted {
            return Err(EditError::InUse { reason: format!("{id:?} is muted: unmute it before ungrouping") });
        }
        let group = self.graph(group_id)?.clone();
        if let Some((end, _)) = group.wires.iter().find(|(to, sources)| {
            !group.nodes.contains_key(&to.node) || sources.iter().any(|from| !group.nodes.contains_key(&from.node))
        }) {
            let reason = format!("a wire into {end} of {group_id:?} hangs on a missing node: disconnect it first");
            return Err(EditError::InUse { reason });
        }
        let before = self.graph(graph)?.clone();
        let arrival = arrival(&before, &group, id, node.position);

        self.put_node(graph, id, None)?;
        self.bring_nodes(graph, &node, &group, &arrival)?;
        self.bring_wires(graph, id, &before, &group, &arrival)?;
        self.bring_shown(graph, id, &before, &group, &arrival)?;
        if self.document.users(group_id).next().is_none() && self.document.main != *group_id {
            self.put_graph(group_id, None)?;
        }
        Ok(())
    }

    fn bring_nodes(
        &mut self,
        graph: &GraphId,
        outer: &Node,
        group: &Graph,
        arrival: &Arrival,
    ) -> Result<(), EditError> {
        let moved = |[x, y]: [f32; 2]| [x + arrival.by[0], y + arrival.by[1]];
        for (inner, node) in &group.nodes {
            finite(inner.as_str(), &moved(node.position))?;
            let node = Node { position: moved(node.position), ..(**node).clone() };
            self.put_node(graph, &arrival.id(inner), Some(Arc::new(node)))?;
        }
        let frames = &self.graph(graph)?.frames.clone();
        let mut ids = FreshIds::new(|id: &str| frames.contains_key(id));
        for (id, frame) in &group.frames {
            let [x, y, width, height] = frame.area;
            let [x, y] = moved([x, y]);
            finite(id.as_str(), &[x, y])?;
            let frame = Frame { area: [x, y, width, height], ..(**frame).clone() };
            self.put_frame(graph, &FrameId::from(ids.keep(id.as_str())), Some(Arc::new(frame)))?;
        }
        for (knob, value) in &outer.knobs {
            for target in group.knobs.get(knob).into_iter().flat_map(|shown| &shown.targets) {
                let (node, inner) = arrival.knob(target);
                self.set_knob(graph, &node, &inner, Some(value))?;
            }
        }
        Ok(())
    }

    fn bring_wires(
        &mut self,
        graph: &GraphId,
        id: &NodeId,
        before: &Graph,
        group: &Graph,
        arrival: &Arrival,
    ) -> Result<(), EditError> {
        for (to, sources) in &group.wires {
            self.put_wires(graph, &arrival.input(to), sources.iter().map(|from| arrival.output(from)).collect())?;
        }
        for (to, sources) in before.wires.iter().filter(|(to, _)| to.node == *id) {
            for target in targets(group, &to.socket) {
                self.put_wires(graph, &arrival.input(&target), sources.to_vec())?;
            }
            self.put_wires(graph, to, Vec::new())?;
        }
        let from_group = |(_, sources): &(&InputEnd, &Arc<[OutputEnd]>)| sources.iter().any(|from| from.node == *id);
        for (to, sources) in before.wires.iter().filter(from_group) {
            let source = |from: &OutputEnd| {
                if from.node != *id {
                    return Some(from.clone());
                }
                group.outputs.get(&from.socket).map(|output| arrival.output(&output.source))
            };
            self.put_wires(graph, to, sources.iter().filter_map(source).collect())?;
        }
        Ok(())
    }

    /// What the outer graph shows of the group's node, it goes on to show of the nodes themselves.
    fn bring_shown(
        &mut self,
        graph: &GraphId,
        id: &NodeId,
        before: &Graph,
        group: &Graph,
        arrival: &Arrival,
    ) -> Result<(), EditError> {
        for (shown, input) in &before.inputs {
            let inner = |end: &InputEnd| match end.node == *id {
                true => targets(group, &end.socket).iter().map(|end| arrival.input(end)).collect(),
                false => vec![end.clone()],
            };
            let targets: Vec<InputEnd> = input.targets.iter().flat_map(inner).collect();
            if targets.is_empty() {
                self.promote_input(graph, shown, None)?;
            } else {
                self.put_input(graph, shown, Some(Arc::new(GraphInput { targets, ..(**input).clone() })))?;
            }
        }
        for (shown, knob) in &before.knobs {
            let inner = |target: &(NodeId, KnobId)| match target.0 == *id {
                true => {
                    let shown = group.knobs.get(&target.1);
                    shown.into_iter().flat_map(|knob| &knob.targets).map(|target| arrival.knob(target)).collect()
                }
                false => vec![target.clone()],
            };
            let targets: Vec<(NodeId, KnobId)> = knob.targets.iter().flat_map(inner).collect();
            if targets.is_empty() {
                self.promote_knob(graph, shown, None)?;
            } else {
                self.put_knob(graph, shown, Some(Arc::new(GraphKnob { targets, ..(**knob).clone() })))?;
            }
        }
        for (shown, output) in before.outputs.iter().filter(|(_, output)| output.source.node == *id) {
            match group.outputs.get(&output.source.socket) {
                Some(inner) => {
                    let source = arrival.output(&inner.source);
                    self.put_output(graph, shown, Some(Arc::new(GraphOutput { source, ..(**output).clone() })))?;
                }
                None => self.promote_output(graph, shown, None)?,
            }
        }
        Ok(())
    }
}

/// What an input, or a knob by wire, of a group feeds inside.
fn targets(group: &Graph, socket: &SocketId) -> Vec<InputEnd> {
    match group.inputs.get(socket) {
        Some(input) => input.targets.clone(),
        None => {
            let knobs = group.knobs.get(socket.as_str()).into_iter().flat_map(|knob| &knob.targets);
            knobs.map(|(node, knob)| InputEnd { node: node.clone(), socket: SocketId::from(knob) }).collect()
        }
    }
}

/// Ids that are free once the group's node is gone, and the way that puts the middle of the group in its place.
fn arrival(before: &Graph, group: &Graph, node: &NodeId, place: [f32; 2]) -> Arrival {
    let mut fresh = FreshIds::new(|id: &str| id != node.as_str() && before.nodes.contains_key(id));
    let ids = group.nodes.keys().map(|id| (id.clone(), NodeId::from(fresh.keep(id.as_str())))).collect();
    let places: Vec<[f32; 2]> = group.nodes.values().map(|node| node.position).collect();
    let [x, y] = middle(&places);
    Arrival { ids, by: [place[0] - x, place[1] - y] }
}
