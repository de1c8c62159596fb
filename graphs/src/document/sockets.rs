//! The sockets and knobs of a node, wherever they come from: its type, the graph that it uses as a group, or, for a
//! node of unknown type, what the file tells.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{Document, Graph, InputEnd, Node, NodeKind, OutputEnd};
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
            NodeKind::Group(group) if depth > 0 => {
                let list = self.graphs.get(group).map(|group| self.promoted(group, registry, depth - 1));
                list.map(|list| Sockets::Group(Arc::new(list)))
            }
            NodeKind::Group(_) => None,
        };
        known.unwrap_or_else(|| Sockets::Placeholder(Arc::new(remembered(graph, id, node, registry))))
    }

    fn promoted(&self, graph: &Graph, registry: &Registry, depth: usize) -> SocketList {
        let inside =
            |node: &NodeId| graph.nodes.get(node).map(|found| self.sockets_of(graph, node, found, registry, depth));
        let input = |(id, input): (&SocketId, &Arc<super::GraphInput>)| {
            let takes = input.targets.first().and_then(|target| inside(&target.node)?.takes(target.socket.as_str()));
            let (socket_type, arity) = takes.unwrap_or((SocketType::Any, Arity::Optional));
            // A wire inside is the default, and so is the value of a knob: then nothing need come from outside.
            let required = arity == Arity::One && input.targets.iter().any(|end| !graph.wires.contains_key(end));
            InputSpec {
                id: id.clone(),
                label: Arc::clone(&input.label),
                help: Arc::clone(&input.help),
                socket_type,
                arity: if arity == Arity::One && !required { Arity::Optional } else { arity },
            }
        };
        let knob = |(id, knob): (&KnobId, &Arc<super::GraphKnob>)| {
            let (node, inner) = knob.targets.first()?;
            let spec = inside(node)?.knob(inner.as_str())?.clone();
            let set = graph.nodes.get(node).and_then(|node| node.knobs.get(inner)).cloned();
            let default = set.unwrap_or(spec.default);
            Some(KnobSpec { id: id.clone(), label: Arc::clone(&knob.label), default, ..spec })
        };
        let output = |(id, output): (&SocketId, &Arc<super::GraphOutput>)| {
            let OutputEnd { node, socket } = &output.source;
            let found = inside(node).and_then(|sockets| sockets.output(socket.as_str()).map(|o| o.socket_type));
            OutputSpec {
                id: id.clone(),
                label: Arc::clone(&output.label),
                help: Arc::clone(&output.help),
                socket_type: found.unwrap_or(SocketType::Any),
            }
        };
        SocketList {
            inputs: graph.inputs.iter().map(input).collect(),
            knobs: graph.knobs.iter().filter_map(knob).collect(),
            outputs: graph.outputs.iter().map(output).collect(),
        }
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
