//! Groups opened up: which output of which node reaches an input, through group borders, promoted sockets and knobs,
//! and muted groups. Reads one snapshot and changes nothing.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::path::NodePath;
use crate::document::{Document, Graph, InputEnd, Node, NodeKind, OutputEnd};
use crate::error::NodeError;
use crate::ids::{GraphId, KnobId, NodeId, SocketId};
use crate::knob::KnobValue;
use crate::registry::{Registry, SocketType};

/// Most nodes that a document may have once its groups are opened up.
const MOST_NODES: usize = 1 << 20;

/// One use of a graph: the main graph, or a group at one place.
#[derive(Debug)]
pub(super) struct Instance {
    pub path: NodePath,
    pub graph: GraphId,
    /// The use that it stands in, and its node there.
    pub parent: Option<(Arc<Instance>, NodeId)>,
}

/// Which outer sockets and knobs of a graph stand for which inner ones.
#[derive(Debug, Default)]
struct Promoted {
    inputs: BTreeMap<InputEnd, Vec<SocketId>>,
    knobs: BTreeMap<(NodeId, KnobId), Vec<KnobId>>,
}

/// A node that the evaluator runs, or cannot: a group that does not open.
pub(super) struct Leaf {
    pub path: NodePath,
    pub instance: Arc<Instance>,
    pub broken: Option<NodeError>,
}

/// Where a value comes from: an output of a leaf.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Origin {
    pub path: NodePath,
    pub socket: SocketId,
}

/// What a knob holds.
pub(super) enum KnobSource {
    /// What is at the other end of its wire.
    Wire(Result<Origin, NodeError>),
    /// This.
    Set(KnobValue),
}

/// A document with its groups opened up.
pub(super) struct Groups {
    pub document: Arc<Document>,
    registry: Arc<Registry>,
    instances: BTreeMap<NodePath, Arc<Instance>>,
    uses: BTreeMap<GraphId, Vec<Arc<Instance>>>,
    promoted: BTreeMap<GraphId, Promoted>,
}

impl Groups {
    pub fn new(document: Arc<Document>, registry: Arc<Registry>) -> (Self, Vec<Leaf>) {
        let promoted = document.graphs.iter().map(|(id, graph)| (id.clone(), Promoted::of(graph))).collect();
        let mut groups = Self { document, registry, instances: BTreeMap::new(), uses: BTreeMap::new(), promoted };
        let main = Arc::new(Instance { path: NodePath::new([]), graph: groups.document.main.clone(), parent: None });
        let mut leaves = Vec::new();
        groups.open(main, &mut leaves);
        (groups, leaves)
    }

    fn open(&mut self, instance: Arc<Instance>, leaves: &mut Vec<Leaf>) {
        self.instances.insert(instance.path.clone(), Arc::clone(&instance));
        self.uses.entry(instance.graph.clone()).or_default().push(Arc::clone(&instance));
        let document = Arc::clone(&self.document);
        let Some(graph) = document.graphs.get(&instance.graph) else { return };
        for (id, node) in &graph.nodes {
            let path = instance.path.child(id);
            let broken = match &node.kind {
                NodeKind::Type { .. } => None,
                NodeKind::Group(group) => match self.obstacle(&instance, group, leaves.len()) {
                    None => {
                        let parent = Some((Arc::clone(&instance), id.clone()));
                        self.open(Arc::new(Instance { path, graph: group.clone(), parent }), leaves);
                        continue;
                    }
                    obstacle => obstacle,
                },
            };
            leaves.push(Leaf { path, instance: Arc::clone(&instance), broken });
        }
    }

    fn obstacle(&self, around: &Arc<Instance>, group: &GraphId, leaves: usize) -> Option<NodeError> {
        if !self.document.graphs.contains_key(group) {
            return Some(
                NodeError::new(format!("the group {group} is not in the document"))
                    .help("delete the node or bring the group back"),
            );
        }
        let mut outer = Some(around);
        while let Some(instance) = outer {
            if instance.graph == *group {
                return Some(
                    NodeError::new(format!("the group {group} contains itself")).help("take it out of itself"),
                );
            }
            outer = instance.parent.as_ref().map(|(parent, _)| parent);
        }
        (leaves >= MOST_NODES).then(|| {
            NodeError::new(format!("the document has more than {MOST_NODES} nodes once its groups are opened"))
                .help("use fewer groups within groups")
        })
    }

    pub fn graph(&self, instance: &Instance) -> Option<&Graph> {
        self.document.graphs.get(&instance.graph)
    }

    pub fn uses(&self, graph: &GraphId) -> &[Arc<Instance>] {
        self.uses.get(graph).map_or(&[], Vec::as_slice)
    }

    /// The wires that reach an input, outermost first: what is given from outside replaces the wires inside.
    fn feeding(&self, instance: &Arc<Instance>, end: &InputEnd) -> Option<(Arc<Instance>, Arc<[OutputEnd]>)> {
        if let Some((parent, node)) = &instance.parent {
            for socket in self.promoted.get(&instance.graph).and_then(|p| p.inputs.get(end)).into_iter().flatten() {
                let outer = InputEnd { node: node.clone(), socket: socket.clone() };
                if let Some(found) = self.feeding(parent, &outer) {
                    return Some(found);
                }
            }
        }
        let wires = self.graph(instance)?.wires.get(end)?;
        (!wires.is_empty()).then(|| (Arc::clone(instance), Arc::clone(wires)))
    }

    /// What reaches an input, in the order of the wires.
    pub fn input(&self, instance: &Arc<Instance>, end: &InputEnd) -> Vec<Result<Origin, NodeError>> {
        let Some((instance, wires)) = self.feeding(instance, end) else { return Vec::new() };
        wires.iter().map(|wire| self.output(&instance, wire)).collect()
    }

    /// What a knob holds, if anything sets or drives it. The outermost word counts; at one place, a wire does.
    pub fn knob(&self, instance: &Arc<Instance>, node: &NodeId, knob: &KnobId) -> Option<KnobSource> {
        if let Some((parent, outer)) = &instance.parent {
            let promoted = self.promoted.get(&instance.graph).and_then(|p| p.knobs.get(&(node.clone(), knob.clone())));
            for outer_knob in promoted.into_iter().flatten() {
                if let Some(found) = self.knob(parent, outer, outer_knob) {
                    return Some(found);
                }
            }
        }
        // A knob's socket has the knob's id.
        let end = InputEnd { node: node.clone(), socket: knob.into() };
        if let Some((from, wires)) = self.feeding(instance, &end) {
            return wires.first().map(|wire| KnobSource::Wire(self.output(&from, wire)));
        }
        self.graph(instance)?.nodes.get(node)?.knobs.get(knob).cloned().map(KnobSource::Set)
    }

    /// The leaf behind an output, through groups and muted groups.
    pub fn output(&self, instance: &Arc<Instance>, end: &OutputEnd) -> Result<Origin, NodeError> {
        let lost = |node: &NodeId, what: &str| {
            NodeError::new(format!("a wire starts at {node}, {what}")).help("remove the wire or connect another output")
        };
        let (mut instance, mut end) = (Arc::clone(instance), end.clone());
        for _ in 0..4096 {
            let node = self.graph(&instance).and_then(|graph| graph.nodes.get(&end.node));
            let Some(node) = node else { return Err(lost(&end.node, "which does not exist")) };
            let path = instance.path.child(&end.node);
            let NodeKind::Group(group) = &node.kind else { return Ok(Origin { path, socket: end.socket }) };
            let Some(inner) = self.instances.get(&path) else { return Ok(Origin { path, socket: end.socket }) };
            let output = self.document.graphs.get(group).and_then(|graph| graph.outputs.get(&end.socket));
            let Some(output) = output else {
                return Err(lost(&end.node, &format!("which has no output {}", end.socket)));
            };
            if node.muted {
                let (outer, wire) = self.past(&instance, inner, &end.node, &output.source).ok_or_else(|| {
                    NodeError::new(format!("{} is muted and nothing that fits is connected to it", end.node))
                        .help("unmute it or connect an input of the same type")
                })?;
                (instance, end) = (outer, wire);
            } else {
                (instance, end) = (Arc::clone(inner), output.source.clone());
            }
        }
        Err(NodeError::new(format!("the wire from {} goes in circles", end.node)).help("remove one wire of the circle"))
    }

    /// What a muted group passes on for one of its outputs: its first connected input of a fitting type.
    fn past(
        &self,
        around: &Arc<Instance>,
        inner: &Arc<Instance>,
        node: &NodeId,
        source: &OutputEnd,
    ) -> Option<(Arc<Instance>, OutputEnd)> {
        let wanted = self.output_type(inner, source)?;
        let graph = self.graph(inner)?;
        graph.inputs.iter().find_map(|(socket, input)| {
            let given = input.targets.iter().find_map(|target| self.input_type(inner, target))?;
            if !self.registry.fits(given, wanted) {
                return None;
            }
            let end = InputEnd { node: node.clone(), socket: socket.clone() };
            let (instance, wires) = self.feeding(around, &end)?;
            Some((instance, wires.first()?.clone()))
        })
    }

    fn output_type(&self, instance: &Arc<Instance>, end: &OutputEnd) -> Option<SocketType> {
        let node = self.graph(instance)?.nodes.get(&end.node)?;
        match &node.kind {
            NodeKind::Type { id, .. } => Some(self.registry.node(id)?.output(end.socket.as_str())?.socket_type),
            NodeKind::Group(group) => {
                let inner = self.instances.get(&instance.path.child(&end.node))?;
                self.output_type(inner, &self.document.graphs.get(group)?.outputs.get(&end.socket)?.source)
            }
        }
    }

    fn input_type(&self, instance: &Arc<Instance>, end: &InputEnd) -> Option<SocketType> {
        let node = self.graph(instance)?.nodes.get(&end.node)?;
        match &node.kind {
            NodeKind::Type { id, .. } => Some(self.registry.node(id)?.input(end.socket.as_str())?.socket_type),
            NodeKind::Group(group) => {
                let inner = self.instances.get(&instance.path.child(&end.node))?;
                let input = self.document.graphs.get(group)?.inputs.get(&end.socket)?;
                input.targets.iter().find_map(|target| self.input_type(inner, target))
            }
        }
    }

    /// The leaves whose inputs or knobs hang on this end of a wire, or on this knob of a group.
    pub fn leaves_behind(&self, instance: &Arc<Instance>, end: &InputEnd, found: &mut Vec<NodePath>) {
        let Some(node) = self.graph(instance).and_then(|graph| graph.nodes.get(&end.node)) else { return };
        let path = instance.path.child(&end.node);
        let inner = match &node.kind {
            NodeKind::Group(_) => self.instances.get(&path),
            NodeKind::Type { .. } => None,
        };
        let Some(inner) = inner else { return found.push(path) };
        let Some(graph) = self.graph(inner) else { return };
        if let Some(input) = graph.inputs.get(&end.socket) {
            input.targets.iter().for_each(|target| self.leaves_behind(inner, target, found));
        }
        if let Some(knob) = graph.knobs.get(end.socket.as_str()) {
            for (node, knob) in &knob.targets {
                self.leaves_behind(inner, &InputEnd { node: node.clone(), socket: knob.into() }, found);
            }
        }
    }

    /// The node of a leaf as the document has it.
    pub fn node(&self, instance: &Instance, path: &NodePath) -> Option<&Arc<Node>> {
        self.graph(instance)?.nodes.get(path.node()?)
    }

    /// The leaf behind an output that someone wants, by the path of a node or group.
    pub fn resolve(&self, node: &NodePath, socket: &SocketId) -> Result<Origin, NodeError> {
        let unknown = || NodeError::new(format!("there is no node {node}")).help("choose one of the document");
        let (id, around) = node.ids().split_last().ok_or_else(unknown)?;
        let around: NodePath = around.iter().cloned().collect();
        let instance = self.instances.get(&around).ok_or_else(unknown)?;
        if !self.graph(instance).is_some_and(|graph| graph.nodes.contains_key(id)) {
            return Err(unknown());
        }
        self.output(instance, &OutputEnd { node: id.clone(), socket: socket.clone() })
    }
}

impl Promoted {
    fn of(graph: &Graph) -> Self {
        let mut promoted = Self::default();
        for (socket, input) in &graph.inputs {
            for target in &input.targets {
                promoted.inputs.entry(target.clone()).or_default().push(socket.clone());
            }
        }
        for (id, knob) in &graph.knobs {
            for (node, inner) in &knob.targets {
                promoted.knobs.entry((node.clone(), inner.clone())).or_default().push(id.clone());
            }
        }
        promoted
    }
}
