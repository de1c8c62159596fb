//! A graph: nodes, wires, frames, and what it shows to the outside when it is used as a group or a template.

use std::sync::Arc;

use imbl::OrdMap;
use serde::{Deserialize, Serialize};

use super::Node;
use crate::ids::{FrameId, KnobId, NodeId, SocketId};

/// Nodes and the wires between them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Graph {
    /// Its name on screen.
    pub label: Arc<str>,
    /// What it does, for the palette and the catalogue of templates.
    pub help: Arc<str>,
    /// The nodes.
    pub nodes: OrdMap<NodeId, Arc<Node>>,
    /// Per connected input: the outputs wired to it, in order. Inputs that take one value have one.
    pub wires: OrdMap<InputEnd, Arc<[OutputEnd]>>,
    /// Frames and comments.
    pub frames: OrdMap<FrameId, Arc<Frame>>,
    /// Sockets that it takes from outside.
    pub inputs: OrdMap<SocketId, Arc<GraphInput>>,
    /// Knobs that it shows outside.
    pub knobs: OrdMap<KnobId, Arc<GraphKnob>>,
    /// Sockets that it gives outside.
    pub outputs: OrdMap<SocketId, Arc<GraphOutput>>,
}

/// An input of a node: where a wire ends.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InputEnd {
    /// The node.
    pub node: NodeId,
    /// Its input; for a knob driven by wire, the knob's id.
    pub socket: SocketId,
}

/// An output of a node: where a wire starts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OutputEnd {
    /// The node.
    pub node: NodeId,
    /// Its output.
    pub socket: SocketId,
}

/// An input that a graph takes from outside. While nothing is given, the wires inside hold: they are the default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphInput {
    /// The name on screen.
    pub label: Arc<str>,
    /// The help text.
    pub help: Arc<str>,
    /// The inputs inside that it feeds.
    pub targets: Vec<InputEnd>,
}

/// A knob that a graph shows outside: one or several knobs inside, set together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphKnob {
    /// The name on screen.
    pub label: Arc<str>,
    /// The knobs inside, by node; the first gives kind, range and default.
    pub targets: Vec<(NodeId, KnobId)>,
}

/// An output that a graph gives outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphOutput {
    /// The name on screen.
    pub label: Arc<str>,
    /// The help text.
    pub help: Arc<str>,
    /// The output inside.
    pub source: OutputEnd,
}

/// A frame around nodes, or a comment: a frame without nodes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Frame {
    /// The title.
    pub title: Arc<str>,
    /// Text under the title.
    pub text: Arc<str>,
    /// Left, top, width, height on the canvas.
    pub area: [f32; 4],
    /// The colour, sRGB.
    pub colour: [u8; 3],
}
