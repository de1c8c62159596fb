//! Edits: every change of a document is one of these, checked before anything changes, and gives its exact inverse.
//!
//! An edit first becomes a list of changes, each of which sets one entry of one graph and knows what was there. The
//! inverse is that list turned around, so that it restores what was, even what no edit would make today.

mod change;
mod group;
mod insert;
mod name;
mod node;
mod promote;
mod remove;
mod ungroup;
mod wire;

use std::sync::Arc;

pub use change::Changes;

use crate::document::{Document, Frame, Graph, GraphInput, GraphKnob, GraphOutput, InputEnd, Node, OutputEnd};
use crate::ids::{FrameId, GraphId, KnobId, NodeId, SocketId};
use crate::knob::KnobValue;
use crate::registry::Registry;

/// A change of a document. One gesture of the user is one edit, and one step of the history.
#[derive(Clone, Debug, PartialEq)]
pub enum Edit {
    /// Several edits, one after the other: all or none.
    Many(Vec<Edit>),
    /// Adds a node.
    AddNode {
        /// Where.
        graph: GraphId,
        /// Its id, such as one from [`Graph::fresh_node_id`].
        id: NodeId,
        /// The node.
        node: Arc<Node>,
    },
    /// Adds nodes with the wires between them, and frames, as a file would bring them. Groups they use must be there.
    Insert {
        /// Where.
        graph: GraphId,
        /// Nodes, wires and frames; what it shows outside is not taken.
        part: Box<Graph>,
    },
    /// Removes nodes with their wires, and what they show outside.
    RemoveNodes {
        /// Where.
        graph: GraphId,
        /// Which.
        nodes: Vec<NodeId>,
    },
    /// Moves nodes on the canvas.
    MoveNodes {
        /// Where.
        graph: GraphId,
        /// Each node with its new left and top.
        to: Vec<(NodeId, [f32; 2])>,
    },
    /// Sets a knob, or resets it to its default.
    SetKnob {
        /// Where.
        graph: GraphId,
        /// The node.
        node: NodeId,
        /// Its knob.
        knob: KnobId,
        /// The value; `None` for the default. Of a node type, a knob set to its default is not stored.
        value: Option<KnobValue>,
    },
    /// Gives a node a name.
    Relabel {
        /// Where.
        graph: GraphId,
        /// The node.
        node: NodeId,
        /// The name; empty for that of its type.
        label: Arc<str>,
    },
    /// Mutes nodes or lets them run.
    SetMuted {
        /// Where.
        graph: GraphId,
        /// Which.
        nodes: Vec<NodeId>,
        /// Whether they pass their input through.
        muted: bool,
    },
    /// Adds a wire. An input that takes one wire loses the one that it had.
    Connect {
        /// Where.
        graph: GraphId,
        /// Where it starts.
        from: OutputEnd,
        /// Where it ends.
        to: InputEnd,
    },
    /// Removes a wire.
    Disconnect {
        /// Where.
        graph: GraphId,
        /// Where it starts.
        from: OutputEnd,
        /// Where it ends.
        to: InputEnd,
    },
    /// Sets all wires of an input, in order.
    SetWires {
        /// Where.
        graph: GraphId,
        /// Where they end.
        to: InputEnd,
        /// Where they start; none to disconnect the input.
        from: Vec<OutputEnd>,
    },
    /// Adds, changes or removes a frame.
    SetFrame {
        /// Where.
        graph: GraphId,
        /// Its id, such as one from [`Graph::fresh_frame_id`].
        id: FrameId,
        /// The frame; `None` to remove it.
        frame: Option<Arc<Frame>>,
    },
    /// Shows inputs of nodes outside as an input of the graph, changes that, or hides it with the wires outside.
    PromoteInput {
        /// The graph.
        graph: GraphId,
        /// The id of the graph's input.
        id: SocketId,
        /// What it feeds; `None` to hide it.
        input: Option<Arc<GraphInput>>,
    },
    /// Shows knobs of nodes outside as a knob of the graph, changes that, or hides it with wires and values outside.
    PromoteKnob {
        /// The graph.
        graph: GraphId,
        /// The id of the graph's knob.
        id: KnobId,
        /// What it sets; `None` to hide it.
        knob: Option<Arc<GraphKnob>>,
    },
    /// Shows an output of a node outside as an output of the graph, changes that, or hides it with the wires outside.
    PromoteOutput {
        /// The graph.
        graph: GraphId,
        /// The id of the graph's output.
        id: SocketId,
        /// Where it comes from; `None` to hide it.
        output: Option<Arc<GraphOutput>>,
    },
    /// Makes a group of nodes: they move into a new graph, and a node that uses it takes their place.
    Group {
        /// Where they are.
        graph: GraphId,
        /// Which.
        nodes: Vec<NodeId>,
        /// The id of the new graph, such as one from [`Document::fresh_graph_id`].
        into: GraphId,
        /// The id of the node that takes their place.
        node: NodeId,
        /// The name of the new graph.
        label: Arc<str>,
    },
    /// Puts the nodes of a group in place of the node that uses it. The graph goes when nothing else uses it.
    Ungroup {
        /// Where the node is.
        graph: GraphId,
        /// The node.
        node: NodeId,
    },
    /// Adds a graph, for groups to use.
    AddGraph {
        /// Its id.
        id: GraphId,
        /// The graph.
        content: Box<Graph>,
    },
    /// Removes a graph that no node uses.
    RemoveGraph {
        /// Its id.
        id: GraphId,
    },
    /// Says what a graph is.
    Describe {
        /// The graph.
        graph: GraphId,
        /// Its name.
        label: Arc<str>,
        /// What it does.
        help: Arc<str>,
    },
    /// Makes a graph the main one.
    SetMain {
        /// The graph.
        graph: GraphId,
    },
    /// What another edit did, turned around: made by [`Document::apply`] alone, for the very document that it left.
    Changes(Changes),
}

/// Why an edit was refused. Nothing has changed then.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// No graph has the id.
    #[error("there is no graph called {graph:?}")]
    NoGraph {
        /// The id.
        graph: GraphId,
    },
    /// No node has the id.
    #[error("there is no node called {node:?} in {graph:?}")]
    NoNode {
        /// The graph.
        graph: GraphId,
        /// The id.
        node: NodeId,
    },
    /// No node type has the id.
    #[error("no node type is called {id}: install the plugin that brings it")]
    NoType {
        /// The id.
        id: String,
    },
    /// The node has no such input, output or knob.
    #[error("{node:?} has no {what} called {id:?}: it has {there}")]
    NoSocket {
        /// The node, or the graph.
        node: String,
        /// `input`, `output` or `knob`.
        what: &'static str,
        /// The id.
        id: String,
        /// What it has.
        there: String,
    },
    /// There is no such wire, frame or promotion.
    #[error("there is no {what}")]
    Missing {
        /// What.
        what: String,
    },
    /// The id is taken.
    #[error("{id:?} is taken by another {what}: choose another id")]
    Taken {
        /// `node`, `graph` …
        what: &'static str,
        /// The id.
        id: String,
    },
    /// The id cannot be one.
    #[error("{reason}")]
    BadId {
        /// Why.
        reason: String,
    },
    /// The wire is there already.
    #[error("{from} is connected to {to} already")]
    Connected {
        /// Where it starts.
        from: OutputEnd,
        /// Where it ends.
        to: InputEnd,
    },
    /// An input that takes one wire was given several.
    #[error("{to} takes one wire, not {wires}")]
    TooManyWires {
        /// The input.
        to: InputEnd,
        /// How many.
        wires: usize,
    },
    /// The types do not fit.
    #[error("{to} takes {takes}, and {from} gives {gives}: connect an output of a fitting type")]
    Unfit {
        /// Where the wire would start.
        from: String,
        /// What that gives.
        gives: &'static str,
        /// Where it would end.
        to: String,
        /// What that takes.
        takes: &'static str,
    },
    /// The wire would close a circle.
    #[error("a node cannot feed itself: the wire would close the circle {}", joined(.path))]
    Cycle {
        /// The nodes along the circle, in the direction of the wires; the new wire leads from the last to the first.
        path: Vec<NodeId>,
    },
    /// A graph would hold itself as a group.
    #[error("a group cannot hold itself: {}", joined(.path))]
    Recursion {
        /// The graphs, each of which holds the next.
        path: Vec<GraphId>,
    },
    /// The knob does not take the value.
    #[error("{node}.{knob}: {reason}")]
    BadKnob {
        /// The node.
        node: NodeId,
        /// Its knob.
        knob: KnobId,
        /// Why.
        reason: String,
    },
    /// A place on the canvas is no finite number.
    #[error("{what:?} has no place on the canvas: its numbers must be finite")]
    NoPlace {
        /// The node or frame.
        what: String,
    },
    /// It would break something else.
    #[error("{reason}")]
    InUse {
        /// What, and what to do.
        reason: String,
    },
    /// The inverse of an edit met another document than the one that the edit left.
    #[error("the document has changed in {graph:?} since: this step cannot be undone or redone any more")]
    Stale {
        /// Where.
        graph: GraphId,
    },
}

fn joined<T: AsRef<str>>(ids: &[T]) -> String {
    let ids: Vec<&str> = ids.iter().map(AsRef::as_ref).collect();
    ids.join(" -> ")
}

impl Document {
    /// Makes an edit, or refuses it with the reason and changes nothing. Returns the inverse: applied to the document
    /// as it is then, it restores this one exactly, and returns the edit back.
    pub fn apply(&mut self, edit: &Edit, registry: &Registry) -> Result<Edit, EditError> {
        // A clone is a snapshot, so that whatever goes wrong halfway is let go of.
        let mut edited = Editing { document: self.clone(), done: Changes::default(), registry };
        edited.make(edit)?;
        *self = edited.document;
        Ok(Edit::Changes(edited.done.inverse()))
    }

    /// The document as it would be after an edit: for previews, which never enter the history.
    pub fn preview(&self, edit: &Edit, registry: &Registry) -> Result<Self, EditError> {
        let mut document = self.clone();
        document.apply(edit, registry)?;
        Ok(document)
    }

    /// Whether an edit would be made, and if not, why.
    pub fn check(&self, edit: &Edit, registry: &Registry) -> Result<(), EditError> {
        self.preview(edit, registry).map(|_| ())
    }
}

/// A document on its way through an edit, and what was done to it so far.
struct Editing<'a> {
    document: Document,
    done: Changes,
    registry: &'a Registry,
}

impl Editing<'_> {
    fn make(&mut self, edit: &Edit) -> Result<(), EditError> {
        match edit {
            Edit::Many(edits) => edits.iter().try_for_each(|edit| self.make(edit)),
            Edit::AddNode { graph, id, node } => self.add_node(graph, id, node),
            Edit::Insert { graph, part } => self.insert(graph, part),
            Edit::RemoveNodes { graph, nodes } => self.remove_nodes(graph, nodes),
            Edit::MoveNodes { graph, to } => self.move_nodes(graph, to),
            Edit::SetKnob { graph, node, knob, value } => self.set_knob(graph, node, knob, value.as_ref()),
            Edit::Relabel { graph, node, label } => self.relabel(graph, node, label),
            Edit::SetMuted { graph, nodes, muted } => self.set_muted(graph, nodes, *muted),
            Edit::Connect { graph, from, to } => self.connect(graph, from, to),
            Edit::Disconnect { graph, from, to } => self.disconnect(graph, from, to),
            Edit::SetWires { graph, to, from } => self.set_wires(graph, to, from),
            Edit::SetFrame { graph, id, frame } => self.set_frame(graph, id, frame.as_ref()),
            Edit::PromoteInput { graph, id, input } => self.promote_input(graph, id, input.as_ref()),
            Edit::PromoteKnob { graph, id, knob } => self.promote_knob(graph, id, knob.as_ref()),
            Edit::PromoteOutput { graph, id, output } => self.promote_output(graph, id, output.as_ref()),
            Edit::Group { graph, nodes, into, node, label } => self.group(graph, nodes, into, node, label),
            Edit::Ungroup { graph, node } => self.ungroup(graph, node),
            Edit::AddGraph { id, content } => self.add_graph(id, content),
            Edit::RemoveGraph { id } => self.remove_graph(id),
            Edit::Describe { graph, label, help } => self.describe(graph, label, help),
            Edit::SetMain { graph } => self.set_main(graph),
            Edit::Changes(changes) => self.replay(changes),
        }
    }

    fn graph(&self, id: &GraphId) -> Result<&Graph, EditError> {
        self.document.graphs.get(id).ok_or_else(|| EditError::NoGraph { graph: id.clone() })
    }

    fn node(&self, graph: &GraphId, id: &NodeId) -> Result<&Arc<Node>, EditError> {
        let missing = || EditError::NoNode { graph: graph.clone(), node: id.clone() };
        self.graph(graph)?.nodes.get(id).ok_or_else(missing)
    }
}
