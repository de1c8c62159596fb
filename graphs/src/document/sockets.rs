//! The sockets and knobs of a node, wherever they come from: its type, the graph that it uses as a group, or, for a
//! node of unknown type, what the file tells.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{Document, Graph, GraphInput, GraphKnob, GraphOutput, InputEnd, Node, NodeKind, OutputEnd};
use crate::basic::{Curve, File, Integer, Number, Text, Toggle, Vector};
use crate::ids::{GraphId, KnobId, NodeId, SocketId};
use crate::knob::{ChoiceItem, KnobKind, KnobSpec, KnobValue};
use crate::registry::{Arity, InputSpec, NodeType, OutputSpec, Registry, SocketType};
use crate::value::{Data, DataType};

/// How deep groups in groups are followed. Edits refuse a group within itself; a file could still hold one.
const DEPTH: usize = 64;

/// The sockets and knobs of a node.
#[derive(Clone, Debug)]
pub enum Sockets {
    /// Those of a node type.
    Type(Arc<NodeType>),
    /// Those that a graph shows outside.
    Group(Arc<SocketList>),
    /// Those that are remembered of a node whose type or graph is missing.
    Placeholder(Arc<SocketList>),
}

/// Sockets and knobs that belong to no node type.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SocketList {
    /// The inputs.
    pub inputs: Vec<InputSpec>,
    /// The knobs.
    pub knobs: Vec<KnobSpec>,
    /// The outputs.
    pub outputs: Vec<OutputSpec>,
}

impl Sockets {
    /// The inputs, in order; those of knobs are not among them.
    pub fn inputs(&self) -> &[InputSpec] {
        match self {
            Self::Type(node_type) => &node_type.inputs,
            Self::Group(list) | Self::Placeholder(list) => &list.inputs,
        }
    }

    /// The knobs, in order.
    pub fn knobs(&self) -> &[KnobSpec] {
        match self {
            Self::Type(node_type) => &node_type.knobs,
            Self::Group(list) | Self::Placeholder(list) => &list.knobs,
        }
    }

    /// The outputs, in order.
    pub fn outputs(&self) -> &[OutputSpec] {
        match self {
            Self::Type(node_type) => &node_type.outputs,
            Self::Group(list) | Self::Placeholder(list) => &list.outputs,
        }
    }

    /// Whether these are remembered only, and may lack some.
    pub fn is_placeholder(&self) -> bool {
        matches!(self, Self::Placeholder(_))
    }

    /// The input called `id`.
    pub fn input(&self, id: &str) -> Option<&InputSpec> {
        self.inputs().iter().find(|input| input.id == *id)
    }

    /// The knob called `id`.
    pub fn knob(&self, id: &str) -> Option<&KnobSpec> {
        self.knobs().iter().find(|knob| knob.id == *id)
    }

    /// The output called `id`.
    pub fn output(&self, id: &str) -> Option<&OutputSpec> {
        self.outputs().iter().find(|output| output.id == *id)
    }

    /// What the input or knob called `id` takes by wire, and how many wires.
    pub fn takes(&self, id: &str) -> Option<(SocketType, Arity)> {
        match self.input(id) {
            Some(input) => Some((input.socket_type, input.arity)),
            None => self.knob(id).map(|knob| (knob_socket_type(&knob.kind), Arity::Optional)),
        }
    }
}

/// What a wire into a knob of this kind carries; `Any` where values of more than one type can drive it.
pub fn knob_socket_type(kind: &KnobKind) -> SocketType {
    let of = |data_type: &'static DataType| SocketType::Of(data_type);
    match kind {
        KnobKind::Toggle => of(&Toggle::TYPE),
        KnobKind::Integer { .. } => of(&Integer::TYPE),
        KnobKind::Number { .. } => of(&Number::TYPE),
        KnobKind::Text | KnobKind::Choice { .. } => of(&Text::TYPE),
        KnobKind::File { .. } => of(&File::TYPE),
        KnobKind::Vector { .. } => of(&Vector::TYPE),
        KnobKind::Colour => SocketType::Any,
        KnobKind::Curve => of(&Curve::TYPE),
    }
}

impl Document {
    /// The sockets of a node; `None` if there is no such node.
    pub fn sockets(&self, graph: &GraphId, node: &NodeId, registry: &Registry) -> Option<Sockets> {
        let graph = self.graphs.get(graph)?;
        Some(self.sockets_of(graph, node, graph.nodes.get(node)?, registry, DEPTH))
    }

    /// The sockets that `graph` shows when it is used as a group.
    pub fn group_sockets(&self, graph: &Graph, registry: &Registry) -> SocketList {
        self.promoted(graph, registry, DEPTH)
    }

    fn sockets_of(&self, graph: &Graph, id: &NodeId, node: &Node, registry: &Registry, depth: usize) -> Sockets {
        let known = match &node.kind {
            NodeKind::Type { id, .. } => registry.node(id).cloned().map(Sockets::Type),
            NodeKind::Group(group) => {
                let list = self.graphs.get(group).map(|group| self.promoted(group, registry, depth));
                list.map(|list| Sockets::Group(Arc::new(list)))
            }
        };
        known.unwrap_or_else(|| Sockets::Placeholder(Arc::new(remembered(graph, id, node, registry))))
    }

    fn promoted(&self, graph: &Graph, registry: &Registry, depth: usize) -> SocketList {
        let inside = Inside { document: self, graph, registry, depth };
        SocketList {
            inputs: graph.inputs.iter().map(|(id, input)| inside.input(id, input)).collect(),
            knobs: graph.knobs.iter().filter_map(|(id, knob)| inside.knob(id, knob)).collect(),
            outputs: graph.outputs.iter().map(|(id, output)| inside.output(id, output)).collect(),
        }
    }
}

/// What a graph shows outside, followed inwards socket by socket: a chain through groups of groups, never all of their
/// sockets at every level, and of bounded length even where a file has a group within itself.
struct Inside<'a> {
    document: &'a Document,
    graph: &'a Graph,
    registry: &'a Registry,
    depth: usize,
}

impl Inside<'_> {
    fn input(&self, id: &SocketId, input: &GraphInput) -> InputSpec {
        let takes = input.targets.first().and_then(|target| self.takes(target));
        let (socket_type, arity) = takes.unwrap_or((SocketType::Any, Arity::Optional));
        // A wire inside is the default, and so is the value of a knob: then nothing need come from outside.
        let required = arity == Arity::One && input.targets.iter().any(|end| !self.graph.wires.contains_key(end));
        InputSpec {
            id: id.clone(),
            label: Arc::clone(&input.label),
            help: Arc::clone(&input.help),
            socket_type,
            arity: if arity == Arity::One && !required { Arity::Optional } else { arity },
        }
    }

    fn knob(&self, id: &KnobId, knob: &GraphKnob) -> Option<KnobSpec> {
        let (node_id, inner) = knob.targets.first()?;
        let node = self.graph.nodes.get(node_id)?;
        let spec = match self.group(node) {
            Some(group) => group?.knob_by_id(inner)?,
            None => self.leaf(node_id, node).knob(inner.as_str())?.clone(),
        };
        let default = node.knobs.get(inner).cloned().unwrap_or(spec.default);
        Some(KnobSpec { id: id.clone(), label: Arc::clone(&knob.label), default, ..spec })
    }

    fn output(&self, id: &SocketId, output: &GraphOutput) -> OutputSpec {
        OutputSpec {
            id: id.clone(),
            label: Arc::clone(&output.label),
            help: Arc::clone(&output.help),
            socket_type: self.gives(&output.source).unwrap_or(SocketType::Any),
        }
    }

    fn takes(&self, end: &InputEnd) -> Option<(SocketType, Arity)> {
        let node = self.graph.nodes.get(&end.node)?;
        let Some(group) = self.group(node) else {
            return self.leaf(&end.node, node).takes(end.socket.as_str());
        };
        let group = group?;
        match group.graph.inputs.get(&end.socket) {
            Some(input) => {
                let spec = group.input(&end.socket, input);
                Some((spec.socket_type, spec.arity))
            }
            None => {
                let spec = group.knob_by_id(&KnobId::from(end.socket.as_str()))?;
                Some((knob_socket_type(&spec.kind), Arity::Optional))
            }
        }
    }

    fn gives(&self, end: &OutputEnd) -> Option<SocketType> {
        let node = self.graph.nodes.get(&end.node)?;
        match self.group(node) {
            Some(group) => {
                let group = group?;
                group.gives(&group.graph.outputs.get(&end.socket)?.source)
            }
            None => self.leaf(&end.node, node).output(end.socket.as_str()).map(|output| output.socket_type),
        }
    }

    fn knob_by_id(&self, id: &KnobId) -> Option<KnobSpec> {
        self.knob(id, self.graph.knobs.get(id)?)
    }

    /// The inside of a node that uses a graph; `Some(None)` where groups lie too deep to follow.
    fn group(&self, node: &Node) -> Option<Option<Self>> {
        let NodeKind::Group(group) = &node.kind else { return None };
        let graph = self.document.graphs.get(group)?;
        Some(self.depth.checked_sub(1).map(|depth| Inside { graph, depth, ..*self }))
    }

    fn leaf(&self, id: &NodeId, node: &Node) -> Sockets {
        self.document.sockets_of(self.graph, id, node, self.registry, 0)
    }
}

/// What is known of a node without its type: the sockets from the file, those that have wires, the knobs that are set.
fn remembered(graph: &Graph, id: &NodeId, node: &Node, registry: &Registry) -> SocketList {
    let socket_type = |name: &str| {
        registry.data_types().find(|data_type| data_type.id.0 == name).map_or(SocketType::Any, SocketType::Of)
    };
    let mut list = SocketList::default();
    for (knob, value) in &node.knobs {
        list.knobs.push(KnobSpec {
            id: knob.clone(),
            label: knob.as_str().into(),
            help: "".into(),
            kind: kind_of(value),
            default: value.clone(),
        });
    }
    let input = |id: &SocketId, socket_type, arity| InputSpec {
        id: id.clone(),
        label: id.as_str().into(),
        help: "".into(),
        socket_type,
        arity,
    };
    let output = |id: &SocketId, socket_type| OutputSpec {
        id: id.clone(),
        label: id.as_str().into(),
        help: "".into(),
        socket_type,
    };
    if let Some(saved) = &node.saved {
        list.inputs.extend(saved.inputs.iter().map(|(id, name)| input(id, socket_type(name), Arity::Many)));
        list.outputs.extend(saved.outputs.iter().map(|(id, name)| output(id, socket_type(name))));
    }
    for (end, _) in graph.wires_into(id) {
        let known = list.inputs.iter().any(|known| known.id == end.socket);
        if !known && !list.knobs.iter().any(|knob| knob.id == *end.socket.as_str()) {
            list.inputs.push(input(&end.socket, SocketType::Any, Arity::Many));
        }
    }
    // Only files written by hand lack the sockets: the walk over all wires is theirs alone.
    if node.saved.as_ref().is_none_or(|saved| saved.outputs.is_empty()) {
        let used: BTreeSet<&SocketId> = graph
            .wires
            .values()
            .flat_map(|ends| ends.iter())
            .filter(|end| end.node == *id)
            .map(|end| &end.socket)
            .collect();
        list.outputs.extend(used.into_iter().map(|id| output(id, SocketType::Any)));
    }
    list
}

fn kind_of(value: &KnobValue) -> KnobKind {
    match value {
        KnobValue::Toggle(_) => KnobKind::Toggle,
        KnobValue::Integer(_) => KnobKind::Integer { range: None },
        KnobValue::Number(_) => KnobKind::Number { range: None, unit: None },
        KnobValue::Text(_) => KnobKind::Text,
        KnobValue::Choice(id) => {
            KnobKind::Choice { items: vec![ChoiceItem { id: Arc::clone(id), label: Arc::clone(id), help: "".into() }] }
        }
        KnobValue::File(_) => KnobKind::File { extensions: Vec::new() },
        KnobValue::Vector(_) => KnobKind::Vector { unit: None },
        KnobValue::Colour(_) => KnobKind::Colour,
        KnobValue::Curve(_) => KnobKind::Curve,
    }
}

impl Graph {
    /// The wires that end at a node, by input.
    pub fn wires_into<'a>(&'a self, node: &'a NodeId) -> impl Iterator<Item = (&'a InputEnd, &'a Arc<[OutputEnd]>)> {
        let first = InputEnd { node: node.clone(), socket: SocketId::from("") };
        self.wires.range(first..).take_while(move |(end, _)| end.node == *node)
    }
}
