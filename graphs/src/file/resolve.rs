//! Brings a document up to date with the node types that are there: new names, new revisions, defaults.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::document::{
    Document, Graph, GraphInput, GraphKnob, GraphOutput, InputEnd, Node, NodeKind, OutputEnd, Problem, SavedSockets,
    Severity,
};
use crate::ids::{GraphId, KnobId, NodeId, SocketId};
use crate::registry::{NodeType, Registry, SavedNode};

type Renames = BTreeMap<SocketId, SocketId>;

impl Document {
    /// Brings every node up to date with the registry: follows renamed types, upgrades older revisions, lets go of
    /// knobs that hold their default. Placeholders whose type has come become nodes again. Returns what was done.
    ///
    /// Loading does this. Call it also when a plugin comes, and clear the history then: its steps are about the
    /// document as it was.
    pub fn resolve(&mut self, registry: &Registry) -> Vec<Problem> {
        let mut notices = Vec::new();
        let ids: Vec<GraphId> = self.graphs.keys().cloned().collect();
        for id in &ids {
            if let Some(graph) = self.graphs.get_mut(id) {
                resolve_graph(id, graph, registry, &mut notices);
            }
        }
        // Groups show knobs of nodes within, so theirs come when those are done.
        for id in &ids {
            self.drop_group_defaults(id, registry);
        }
        notices
    }

    fn drop_group_defaults(&mut self, id: &GraphId, registry: &Registry) {
        let Some(graph) = self.graphs.get(id) else { return };
        let mut slim = Vec::new();
        for (node_id, node) in &graph.nodes {
            if !node.knobs.is_empty()
                && matches!(node.kind, NodeKind::Group(_))
                && let Some(sockets) = self.sockets(id, node_id, registry)
            {
                let mut kept = node.knobs.clone();
                for (knob, value) in &node.knobs {
                    if sockets.knob(knob.as_str()).is_some_and(|spec| spec.default == *value) {
                        kept.remove(knob);
                    }
                }
                if kept.len() != node.knobs.len() {
                    slim.push((node_id.clone(), Arc::new(Node { knobs: kept, ..(**node).clone() })));
                }
            }
        }
        if let Some(graph) = self.graphs.get_mut(id) {
            graph.nodes.extend(slim);
        }
    }
}

fn resolve_graph(id: &GraphId, graph: &mut Graph, registry: &Registry, notices: &mut Vec<Problem>) {
    let mut inputs: BTreeMap<NodeId, Renames> = BTreeMap::new();
    let mut outputs: BTreeMap<NodeId, Renames> = BTreeMap::new();
    let mut changed = Vec::new();
    for (node_id, node) in &graph.nodes {
        let NodeKind::Type { id: type_id, .. } = &node.kind else { continue };
        let Some(node_type) = registry.node(type_id) else {
            if node.saved.is_none() {
                changed.push((node_id.clone(), Node { saved: Some(Arc::default()), ..(**node).clone() }));
            }
            continue;
        };
        let Some(done) = resolve_node(node, node_type) else { continue };
        notices.extend(done.notices.into_iter().map(|what| Problem {
            severity: Severity::Notice,
            graph: id.clone(),
            node: Some(node_id.clone()),
            what,
            help: String::new(),
        }));
        changed.push((node_id.clone(), done.node));
        inputs.insert(node_id.clone(), done.renamed_inputs);
        outputs.insert(node_id.clone(), done.renamed_outputs);
    }
    graph.nodes.extend(changed.into_iter().map(|(id, node)| (id, Arc::new(node))));
    inputs.retain(|_, renames| !renames.is_empty());
    outputs.retain(|_, renames| !renames.is_empty());
    if !(inputs.is_empty() && outputs.is_empty()) {
        rename_ends(graph, &inputs, &outputs);
    }
}

struct Resolved {
    node: Node,
    renamed_inputs: Renames,
    renamed_outputs: Renames,
    notices: Vec<String>,
}

/// The node as the type now has it; `None` if it is so already.
fn resolve_node(node: &Node, node_type: &NodeType) -> Option<Resolved> {
    let NodeKind::Type { id, revision } = &node.kind else { return None };
    let mut notices = Vec::new();
    let mut saved = SavedNode {
        knobs: node.knobs.iter().map(|(knob, value)| (knob.clone(), value.clone())).collect(),
        ..SavedNode::default()
    };
    if *id != node_type.id {
        notices.push(format!("{id} is called {} now", node_type.id));
    }
    let current = node_type.revision.max(*revision);
    if *revision != 0 && *revision < node_type.revision {
        if let Some(upgrade) = node_type.upgrade {
            upgrade(*revision, &mut saved);
        }
        notices.push(format!("{} was brought from revision {revision} to {current}: results may differ", node_type.id));
    }
    saved.knobs.retain(|knob, value| node_type.knob(knob.as_str()).is_none_or(|spec| spec.default != *value));
    let resolved = Node {
        kind: NodeKind::Type { id: node_type.id.clone(), revision: current },
        knobs: saved.knobs.into_iter().collect(),
        saved: None,
        ..node.clone()
    };
    (resolved != *node).then_some(Resolved {
        node: resolved,
        renamed_inputs: saved.renamed_inputs,
        renamed_outputs: saved.renamed_outputs,
        notices,
    })
}

/// Lets wires and promoted sockets follow. Wires of an old and a new name that become one come in that order.
fn rename_ends(graph: &mut Graph, inputs: &BTreeMap<NodeId, Renames>, outputs: &BTreeMap<NodeId, Renames>) {
    let renamed = |renames: &BTreeMap<NodeId, Renames>, node: &NodeId, socket: &SocketId| {
        renames.get(node).and_then(|renames| renames.get(socket)).unwrap_or(socket).clone()
    };
    let input = |end: &InputEnd| InputEnd { socket: renamed(inputs, &end.node, &end.socket), node: end.node.clone() };
    let output =
        |end: &OutputEnd| OutputEnd { socket: renamed(outputs, &end.node, &end.socket), node: end.node.clone() };
    let mut wires: BTreeMap<InputEnd, Vec<OutputEnd>> = BTreeMap::new();
    for (to, sources) in &graph.wires {
        wires.entry(input(to)).or_default().extend(sources.iter().map(output));
    }
    graph.wires = wires.into_iter().map(|(to, sources)| (to, Arc::from(sources))).collect();
    let target = |(node, knob): &(NodeId, KnobId)| {
        (node.clone(), KnobId::from(renamed(inputs, node, &SocketId::from(knob)).as_str()))
    };
    let promoted_input = |(id, promoted): (&SocketId, &Arc<GraphInput>)| {
        let targets = promoted.targets.iter().map(input).collect();
        (id.clone(), Arc::new(GraphInput { targets, ..(**promoted).clone() }))
    };
    let promoted_knob = |(id, promoted): (&KnobId, &Arc<GraphKnob>)| {
        let targets = promoted.targets.iter().map(target).collect();
        (id.clone(), Arc::new(GraphKnob { targets, ..(**promoted).clone() }))
    };
    let promoted_output = |(id, promoted): (&SocketId, &Arc<GraphOutput>)| {
        (id.clone(), Arc::new(GraphOutput { source: output(&promoted.source), ..(**promoted).clone() }))
    };
    graph.inputs = graph.inputs.iter().map(promoted_input).collect();
    graph.knobs = graph.knobs.iter().map(promoted_knob).collect();
    graph.outputs = graph.outputs.iter().map(promoted_output).collect();
}

impl Node {
    /// The node as a file keeps it when its type is about to go: with the sockets that the type has.
    pub fn remembering(&self, node_type: &NodeType) -> Self {
        Self { saved: Some(Arc::new(SavedSockets::of(node_type))), ..self.clone() }
    }
}
