//! Changes: what edits come down to. Each sets one entry and knows what was there before, so that turning it around
//! is exact, and doing it to another document than the one it was made for is noticed.

use std::sync::Arc;

use super::{EditError, Editing};
use crate::document::{Document, Frame, Graph, GraphInput, GraphKnob, GraphOutput, InputEnd, Node, OutputEnd};
use crate::ids::{FrameId, GraphId, KnobId, NodeId, SocketId};

/// What an edit did, change by change.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changes(Vec<Change>);

/// One entry of one graph, as it was and as it is now.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Change {
    Node(GraphId, NodeId, Swap<Option<Arc<Node>>>),
    Wires(GraphId, InputEnd, Swap<Option<Arc<[OutputEnd]>>>),
    Frame(GraphId, FrameId, Swap<Option<Arc<Frame>>>),
    Input(GraphId, SocketId, Swap<Option<Arc<GraphInput>>>),
    Knob(GraphId, KnobId, Swap<Option<Arc<GraphKnob>>>),
    Output(GraphId, SocketId, Swap<Option<Arc<GraphOutput>>>),
    Description(GraphId, Swap<[Arc<str>; 2]>),
    Graph(GraphId, Box<Swap<Option<Graph>>>),
    Main(Swap<GraphId>),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Swap<T> {
    was: T,
    now: T,
}

impl<T> Swap<T> {
    fn turned(self) -> Self {
        Self { was: self.now, now: self.was }
    }
}

impl Change {
    fn turned(self) -> Self {
        match self {
            Self::Node(graph, id, swap) => Self::Node(graph, id, swap.turned()),
            Self::Wires(graph, end, swap) => Self::Wires(graph, end, swap.turned()),
            Self::Frame(graph, id, swap) => Self::Frame(graph, id, swap.turned()),
            Self::Input(graph, id, swap) => Self::Input(graph, id, swap.turned()),
            Self::Knob(graph, id, swap) => Self::Knob(graph, id, swap.turned()),
            Self::Output(graph, id, swap) => Self::Output(graph, id, swap.turned()),
            Self::Description(graph, swap) => Self::Description(graph, swap.turned()),
            Self::Graph(graph, swap) => Self::Graph(graph, Box::new(swap.turned())),
            Self::Main(swap) => Self::Main(swap.turned()),
        }
    }

    fn graph(&self) -> &GraphId {
        match self {
            Self::Node(graph, ..)
            | Self::Wires(graph, ..)
            | Self::Frame(graph, ..)
            | Self::Input(graph, ..)
            | Self::Knob(graph, ..)
            | Self::Output(graph, ..)
            | Self::Description(graph, _)
            | Self::Graph(graph, _) => graph,
            Self::Main(swap) => &swap.was,
        }
    }

    /// Sets the entry if it is as the change knows it.
    fn make(&self, document: &mut Document) -> bool {
        match self {
            Self::Main(swap) => {
                let fits = document.main == swap.was;
                document.main = swap.now.clone();
                return fits;
            }
            Self::Graph(id, swap) => return set(&mut document.graphs, id, swap),
            _ => {}
        }
        let Some(graph) = document.graphs.get_mut(self.graph()) else { return false };
        match self {
            Self::Node(_, id, swap) => set(&mut graph.nodes, id, swap),
            Self::Wires(_, end, swap) => set(&mut graph.wires, end, swap),
            Self::Frame(_, id, swap) => set(&mut graph.frames, id, swap),
            Self::Input(_, id, swap) => set(&mut graph.inputs, id, swap),
            Self::Knob(_, id, swap) => set(&mut graph.knobs, id, swap),
            Self::Output(_, id, swap) => set(&mut graph.outputs, id, swap),
            Self::Description(_, swap) => {
                let [label, help] = swap.now.clone();
                let was = [std::mem::replace(&mut graph.label, label), std::mem::replace(&mut graph.help, help)];
                was == swap.was
            }
            Self::Graph(..) | Self::Main(_) => true,
        }
    }
}

fn set<K: Ord + Clone, V: Clone + PartialEq>(map: &mut imbl::OrdMap<K, V>, key: &K, swap: &Swap<Option<V>>) -> bool {
    let was = match &swap.now {
        Some(now) => map.insert(key.clone(), now.clone()),
        None => map.remove(key),
    };
    was == swap.was
}

impl Changes {
    /// Whether nothing changed.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What undoes these.
    pub fn inverse(self) -> Self {
        Self(self.0.into_iter().rev().map(Change::turned).collect())
    }

    /// The graphs that change, each once, in order of id.
    pub fn graphs(&self) -> Vec<&GraphId> {
        let mut graphs: Vec<&GraphId> = self.0.iter().map(Change::graph).collect();
        graphs.sort_unstable();
        graphs.dedup();
        graphs
    }
}

impl Editing<'_> {
    /// Makes changes that were recorded before.
    pub(super) fn replay(&mut self, changes: &Changes) -> Result<(), EditError> {
        changes.0.iter().cloned().try_for_each(|change| self.change(change))
    }

    fn change(&mut self, change: Change) -> Result<(), EditError> {
        if !change.make(&mut self.document) {
            return Err(EditError::Stale { graph: change.graph().clone() });
        }
        self.done.0.push(change);
        Ok(())
    }

    pub(super) fn put_node(&mut self, graph: &GraphId, id: &NodeId, now: Option<Arc<Node>>) -> Result<(), EditError> {
        let was = self.graph(graph)?.nodes.get(id).cloned();
        self.put(was, now, |swap| Change::Node(graph.clone(), id.clone(), swap))
    }

    /// No sources and no entry are the same.
    pub(super) fn put_wires(&mut self, graph: &GraphId, to: &InputEnd, now: Vec<OutputEnd>) -> Result<(), EditError> {
        let was = self.graph(graph)?.wires.get(to).cloned();
        let now = (!now.is_empty()).then(|| now.into());
        self.put(was, now, |swap| Change::Wires(graph.clone(), to.clone(), swap))
    }

    pub(super) fn put_frame(
        &mut self,
        graph: &GraphId,
        id: &FrameId,
        now: Option<Arc<Frame>>,
    ) -> Result<(), EditError> {
        let was = self.graph(graph)?.frames.get(id).cloned();
        self.put(was, now, |swap| Change::Frame(graph.clone(), id.clone(), swap))
    }

    pub(super) fn put_input(
        &mut self,
        graph: &GraphId,
        id: &SocketId,
        now: Option<Arc<GraphInput>>,
    ) -> Result<(), EditError> {
        let was = self.graph(graph)?.inputs.get(id).cloned();
        self.put(was, now, |swap| Change::Input(graph.clone(), id.clone(), swap))
    }

    pub(super) fn put_knob(
        &mut self,
        graph: &GraphId,
        id: &KnobId,
        now: Option<Arc<GraphKnob>>,
    ) -> Result<(), EditError> {
        let was = self.graph(graph)?.knobs.get(id).cloned();
        self.put(was, now, |swap| Change::Knob(graph.clone(), id.clone(), swap))
    }

    pub(super) fn put_output(
        &mut self,
        graph: &GraphId,
        id: &SocketId,
        now: Option<Arc<GraphOutput>>,
    ) -> Result<(), EditError> {
        let was = self.graph(graph)?.outputs.get(id).cloned();
        self.put(was, now, |swap| Change::Output(graph.clone(), id.clone(), swap))
    }

    pub(super) fn put_graph(&mut self, id: &GraphId, now: Option<Graph>) -> Result<(), EditError> {
        let was = self.document.graphs.get(id).cloned();
        self.put(was, now, |swap| Change::Graph(id.clone(), Box::new(swap)))
    }

    pub(super) fn describe(&mut self, id: &GraphId, label: &Arc<str>, help: &Arc<str>) -> Result<(), EditError> {
        let graph = self.graph(id)?;
        let was = [Arc::clone(&graph.label), Arc::clone(&graph.help)];
        self.put(was, [Arc::clone(label), Arc::clone(help)], |swap| Change::Description(id.clone(), swap))
    }

    pub(super) fn set_main(&mut self, id: &GraphId) -> Result<(), EditError> {
        self.graph(id)?;
        self.put(self.document.main.clone(), id.clone(), Change::Main)
    }

    fn put<T: PartialEq>(&mut self, was: T, now: T, change: impl FnOnce(Swap<T>) -> Change) -> Result<(), EditError> {
        if was == now { Ok(()) } else { self.change(change(Swap { was, now })) }
    }
}
