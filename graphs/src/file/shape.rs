//! The shape of a file, as RON tells it, and what it means as a document.

use std::collections::BTreeMap;
use std::sync::Arc;

use imbl::OrdMap;
use serde::{Deserialize, Deserializer};

use super::entries::Entries;
use super::wire::{End, Wire};
use crate::document::names::check_id;
use crate::document::{
    Document, Frame, Graph, GraphInput, GraphKnob, GraphOutput, InputEnd, Node, NodeKind, OutputEnd, SavedSockets,
};
use crate::ids::{FrameId, GraphId, KnobId, NodeId, NodeTypeId, SocketId};
use crate::knob::KnobValue;

/// A file.
#[derive(Debug, Deserialize)]
#[serde(rename = "document", deny_unknown_fields)]
pub(super) struct FileDocument {
    main: GraphId,
    graphs: Entries<GraphId, FileGraph>,
    #[serde(default)]
    types: Entries<NodeTypeId, FileSockets>,
}

#[derive(Debug, Deserialize)]
#[serde(rename = "graph", deny_unknown_fields)]
struct FileGraph {
    #[serde(default = "no_text")]
    label: Arc<str>,
    #[serde(default = "no_text")]
    help: Arc<str>,
    #[serde(default)]
    nodes: Entries<NodeId, FileNode>,
    #[serde(default)]
    wires: Vec<Wire>,
    #[serde(default)]
    frames: Entries<FrameId, FileFrame>,
    #[serde(default)]
    inputs: Entries<SocketId, FileInput>,
    #[serde(default)]
    knobs: Entries<KnobId, FileKnob>,
    #[serde(default)]
    outputs: Entries<SocketId, FileOutput>,
}

#[derive(Debug, Deserialize)]
#[serde(rename = "node", deny_unknown_fields)]
struct RawNode {
    #[serde(rename = "type", default = "no_text")]
    node_type: Arc<str>,
    #[serde(default = "no_text")]
    group: Arc<str>,
    #[serde(default)]
    revision: u32,
    #[serde(deserialize_with = "finite")]
    at: [f32; 2],
    #[serde(default = "no_text")]
    label: Arc<str>,
    #[serde(default)]
    muted: bool,
    #[serde(default)]
    knobs: Entries<KnobId, FileValue>,
    #[serde(default)]
    sockets: FileSockets,
}

/// A node whose kind was told once.
#[derive(Debug, Deserialize)]
#[serde(try_from = "RawNode")]
struct FileNode(Node);

#[derive(Debug, Deserialize)]
#[serde(try_from = "KnobValue")]
struct FileValue(KnobValue);

#[derive(Debug, Default, Deserialize)]
#[serde(rename = "sockets", deny_unknown_fields)]
struct FileSockets {
    #[serde(default)]
    inputs: Entries<SocketId, Arc<str>>,
    #[serde(default)]
    outputs: Entries<SocketId, Arc<str>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename = "frame", deny_unknown_fields)]
struct FileFrame {
    #[serde(default = "no_text")]
    title: Arc<str>,
    #[serde(default = "no_text")]
    text: Arc<str>,
    #[serde(deserialize_with = "finite")]
    area: [f32; 4],
    colour: [u8; 3],
}

#[derive(Debug, Deserialize)]
#[serde(rename = "input", deny_unknown_fields)]
struct FileInput {
    #[serde(default = "no_text")]
    label: Arc<str>,
    #[serde(default = "no_text")]
    help: Arc<str>,
    to: Vec<End>,
}

#[derive(Debug, Deserialize)]
#[serde(rename = "knob", deny_unknown_fields)]
struct FileKnob {
    #[serde(default = "no_text")]
    label: Arc<str>,
    to: Vec<End>,
}

#[derive(Debug, Deserialize)]
#[serde(rename = "output", deny_unknown_fields)]
struct FileOutput {
    #[serde(default = "no_text")]
    label: Arc<str>,
    #[serde(default = "no_text")]
    help: Arc<str>,
    from: End,
}

fn no_text() -> Arc<str> {
    "".into()
}

/// Numbers on the canvas: `inf` and `NaN` are no place to be.
fn finite<'de, D: Deserializer<'de>, const N: usize>(deserializer: D) -> Result<[f32; N], D::Error>
where
    [f32; N]: Deserialize<'de>,
{
    let numbers = <[f32; N]>::deserialize(deserializer)?;
    match numbers.iter().find(|x| !x.is_finite()) {
        Some(x) => Err(serde::de::Error::custom(format!("{x} is not a finite number"))),
        None => Ok(numbers),
    }
}

impl TryFrom<RawNode> for FileNode {
    type Error = String;

    fn try_from(raw: RawNode) -> Result<Self, String> {
        for id in [&*raw.node_type, &*raw.group] {
            if !id.is_empty() {
                check_id(id)?;
            }
        }
        let kind = match (&*raw.node_type, &*raw.group) {
            ("", "") => return Err("the node has neither type nor group: write type: \"…\" or group: \"…\"".into()),
            (_, "") => NodeKind::Type { id: NodeTypeId::from(&*raw.node_type), revision: raw.revision },
            ("", _) if raw.revision != 0 => return Err("a group has no revision: remove it".into()),
            ("", group) => NodeKind::Group(GraphId::from(group)),
            _ => return Err("the node has both type and group: remove one of them".into()),
        };
        let saved = SavedSockets { inputs: raw.sockets.inputs.0, outputs: raw.sockets.outputs.0 };
        Ok(Self(Node {
            kind,
            label: raw.label,
            position: raw.at,
            knobs: raw.knobs.0.into_iter().map(|(knob, value)| (knob, value.0)).collect(),
            muted: raw.muted,
            saved: (saved != SavedSockets::default()).then(|| Arc::new(saved)),
        }))
    }
}

impl TryFrom<KnobValue> for FileValue {
    type Error = String;

    fn try_from(value: KnobValue) -> Result<Self, String> {
        if value.is_finite() { Ok(Self(value)) } else { Err("the value is not a finite number".into()) }
    }
}

impl TryFrom<FileDocument> for Document {
    type Error = String;

    fn try_from(file: FileDocument) -> Result<Self, String> {
        let types: OrdMap<NodeTypeId, Arc<SavedSockets>> = file.types.0.into_iter().map(saved).collect();
        let graphs: OrdMap<GraphId, Graph> =
            file.graphs.0.into_iter().map(|(id, graph)| (id, graph.into_graph(&types))).collect();
        if !graphs.contains_key(&file.main) {
            return Err(format!("the main graph {:?} is not among the graphs: name one that is", file.main));
        }
        Ok(Self { main: file.main, graphs })
    }
}

fn saved((id, sockets): (NodeTypeId, FileSockets)) -> (NodeTypeId, Arc<SavedSockets>) {
    (id, Arc::new(SavedSockets { inputs: sockets.inputs.0, outputs: sockets.outputs.0 }))
}

impl FileGraph {
    fn into_graph(self, types: &OrdMap<NodeTypeId, Arc<SavedSockets>>) -> Graph {
        let mut sources: BTreeMap<InputEnd, Vec<OutputEnd>> = BTreeMap::new();
        for Wire { from, to } in self.wires {
            sources.entry(to.into()).or_default().push(from.into());
        }
        let node = |(id, FileNode(mut node)): (NodeId, FileNode)| {
            if let (NodeKind::Type { id, .. }, None) = (&node.kind, &node.saved) {
                node.saved = types.get(id).cloned();
            }
            (id, Arc::new(node))
        };
        let frame = |(id, f): (FrameId, FileFrame)| {
            (id, Arc::new(Frame { title: f.title, text: f.text, area: f.area, colour: f.colour }))
        };
        let input = |(id, i): (SocketId, FileInput)| {
            let targets = i.to.into_iter().map(Into::into).collect();
            (id, Arc::new(GraphInput { label: i.label, help: i.help, targets }))
        };
        let knob = |(id, k): (KnobId, FileKnob)| {
            let targets = k.to.into_iter().map(|end| (end.node, KnobId::from(end.socket.as_str()))).collect();
            (id, Arc::new(GraphKnob { label: k.label, targets }))
        };
        let output = |(id, o): (SocketId, FileOutput)| {
            (id, Arc::new(GraphOutput { label: o.label, help: o.help, source: o.from.into() }))
        };
        Graph {
            label: self.label,
            help: self.help,
            nodes: self.nodes.0.into_iter().map(node).collect(),
            wires: sources.into_iter().map(|(end, sources)| (end, Arc::from(sources))).collect(),
            frames: self.frames.0.into_iter().map(frame).collect(),
            inputs: self.inputs.0.into_iter().map(input).collect(),
            knobs: self.knobs.0.into_iter().map(knob).collect(),
            outputs: self.outputs.0.into_iter().map(output).collect(),
        }
    }
}
