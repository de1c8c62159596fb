//! The plan: every node of a document with its groups opened up, in topological order, kept up with each snapshot.
//!
//! Owned by the scheduling thread. A snapshot costs what changed in it; only a change to what groups show outside, or
//! to which groups there are, plans anew.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use imbl::ordmap::DiffItem;
use petgraph::Direction;
use petgraph::acyclic::{Acyclic, TopologicalPosition};
use petgraph::data::Build;
use petgraph::graph::NodeIndex;
use petgraph::stable_graph::StableDiGraph;
use petgraph::visit::EdgeRef;

use super::define::{Definition, Work, define};
use super::groups::{Groups, Leaf, Origin};
use super::path::{NodePath, OutputPath};
use crate::document::{Document, Graph, InputEnd, NodeKind};
use crate::error::NodeError;
use crate::registry::Registry;

/// A node's number in the plan.
pub(super) type Slot = u32;

/// An output of a node of the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Feed {
    pub slot: Slot,
    /// Which of its outputs, by number.
    pub output: u32,
}

/// A node of the plan.
pub(super) struct Planned {
    pub leaf: Leaf,
    pub work: Work,
    pub feeds: Vec<Feed>,
}

/// What a new snapshot did to the plan.
#[derive(Default)]
pub(super) struct Changes {
    /// These nodes are new or do something else.
    pub dirty: Vec<Slot>,
    /// These are gone; their numbers may have been given away again.
    pub removed: Vec<(Slot, NodePath)>,
    /// All was planned anew: the numbers as they were.
    pub renumbered: Option<BTreeMap<NodePath, Slot>>,
}

type Order = Acyclic<StableDiGraph<(), ()>>;

pub(super) struct Plan {
    pub groups: Groups,
    registry: Arc<Registry>,
    folder: Option<PathBuf>,
    slots: Vec<Option<Planned>>,
    numbers: BTreeMap<NodePath, Slot>,
    order: Order,
    /// Nodes whose wires close a loop, or start at a node that is not there: looked at again when wires change.
    unsettled: BTreeSet<Slot>,
    /// Counts changes to anything but knobs: while it stands, outputs are found where they were.
    pub shape: u64,
}

impl Plan {
    pub fn new(document: Arc<Document>, registry: Arc<Registry>, folder: Option<PathBuf>) -> Self {
        let (groups, leaves) = Groups::new(document, Arc::clone(&registry));
        let definitions: Vec<Definition> =
            leaves.iter().map(|leaf| define(&groups, &registry, folder.as_deref(), leaf)).collect();
        let mut plan = Self {
            groups,
            registry,
            folder,
            slots: Vec::with_capacity(leaves.len()),
            numbers: BTreeMap::new(),
            order: Order::new(),
            unsettled: BTreeSet::new(),
            shape: 0,
        };
        // Added in topological order, no edge ever moves another one.
        let ranks = sorted(&leaves, &definitions);
        let mut nodes: Vec<Option<(Leaf, Definition)>> = leaves.into_iter().zip(definitions).map(Some).collect();
        let mut definitions = Vec::with_capacity(nodes.len());
        for rank in ranks {
            if let Some((leaf, definition)) = nodes[rank].take() {
                definitions.push((plan.add(leaf), definition));
            }
        }
        for (slot, definition) in definitions {
            plan.set(slot, definition);
        }
        plan
    }

    /// Follows a new snapshot.
    pub fn update(&mut self, document: Arc<Document>, folder: Option<&Path>) -> Changes {
        if self.folder.as_deref() != folder || !same_groups(&self.groups.document, &document) {
            let new = Self::new(document, Arc::clone(&self.registry), folder.map(Path::to_owned));
            let old = std::mem::replace(self, new);
            self.shape = old.shape + 1;
            return Changes { renumbered: Some(old.numbers), ..Changes::default() };
        }
        let old = std::mem::replace(&mut self.groups.document, document);
        let new = Arc::clone(&self.groups.document);
        let mut dirty = BTreeSet::new();
        let (mut added, mut removed, mut touched) = (Vec::new(), Vec::new(), Vec::new());
        let mut retyped: Vec<Slot> = Vec::new();
        for (id, graph) in &new.graphs {
            let Some(before) = old.graphs.get(id) else { continue };
            let uses = self.groups.uses(id);
            if !before.nodes.ptr_eq(&graph.nodes) {
                for item in before.nodes.diff(&graph.nodes) {
                    let (node, is) = match item {
                        DiffItem::Add(id, node) => ((id, node), Some(true)),
                        DiffItem::Remove(id, node) => ((id, node), Some(false)),
                        DiffItem::Update { old, new } => {
                            if old.1.kind == new.1.kind && old.1.muted == new.1.muted && old.1.knobs == new.1.knobs {
                                continue;
                            }
                            if old.1.kind != new.1.kind || old.1.muted != new.1.muted {
                                self.shape += 1;
                            }
                            if old.1.kind != new.1.kind {
                                // Who takes its outputs looks them up in another type.
                                let paths = uses.iter().map(|instance| instance.path.child(new.0));
                                retyped.extend(paths.filter_map(|path| self.numbers.get(&path)));
                            }
                            (new, None)
                        }
                    };
                    for instance in uses {
                        let path = instance.path.child(node.0);
                        match (is, &node.1.kind) {
                            (Some(true), _) => {
                                added.push(Leaf { path, instance: Arc::clone(instance), broken: None });
                            }
                            (Some(false), _) => removed.push(path),
                            (None, NodeKind::Type { .. }) => touched.push(path),
                            (None, NodeKind::Group(group)) => {
                                for knob in new.graphs.get(group).into_iter().flat_map(|g| g.knobs.keys()) {
                                    let end = InputEnd { node: node.0.clone(), socket: knob.into() };
                                    self.groups.leaves_behind(instance, &end, &mut touched);
                                }
                            }
                        }
                    }
                }
            }
            if !before.wires.ptr_eq(&graph.wires) {
                self.shape += 1;
                for item in before.wires.diff(&graph.wires) {
                    let (DiffItem::Add(end, _) | DiffItem::Remove(end, _) | DiffItem::Update { new: (end, _), .. }) =
                        item;
                    for instance in uses {
                        self.groups.leaves_behind(instance, end, &mut touched);
                    }
                }
            }
        }
        if !added.is_empty() || !removed.is_empty() {
            self.shape += 1;
        }
        let mut gone = Vec::new();
        for path in removed {
            if let Some(slot) = self.numbers.remove(&path) {
                gone.push((slot, path));
                let consumers: Vec<Slot> = self.consumers(slot).collect();
                // Their wires are laid anew: the number may soon be another node's.
                for &consumer in &consumers {
                    self.cut(NodeIndex::new(consumer as usize));
                    if let Some(planned) = &mut self.slots[consumer as usize] {
                        planned.feeds.clear();
                    }
                }
                self.order.remove_node(NodeIndex::new(slot as usize));
                self.slots[slot as usize] = None;
                self.unsettled.remove(&slot);
                dirty.remove(&slot);
                dirty.extend(consumers.into_iter().filter(|&consumer| consumer != slot));
            }
        }
        for slot in retyped {
            dirty.extend(self.consumers(slot));
        }
        dirty.extend(added.into_iter().map(|leaf| self.add(leaf)));
        dirty.extend(touched.iter().filter_map(|path| self.numbers.get(path)));
        if !dirty.is_empty() {
            dirty.extend(&self.unsettled);
        }
        dirty.retain(|&slot| self.get(slot).is_some());
        for &slot in &dirty {
            if let Some(planned) = self.get(slot) {
                let definition = define(&self.groups, &self.registry, self.folder.as_deref(), &planned.leaf);
                self.set(slot, definition);
            }
        }
        // A wire that was refused may fit now that others are gone.
        for slot in self.unsettled.clone() {
            if let Some(planned) = self.get(slot) {
                let definition = define(&self.groups, &self.registry, self.folder.as_deref(), &planned.leaf);
                self.set(slot, definition);
            }
        }
        Changes { dirty: dirty.into_iter().collect(), removed: gone, renumbered: None }
    }

    pub fn get(&self, slot: Slot) -> Option<&Planned> {
        self.slots.get(slot as usize)?.as_ref()
    }

    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// All nodes with their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (Slot, &Planned)> {
        self.slots.iter().enumerate().filter_map(|(k, planned)| Some((k as Slot, planned.as_ref()?)))
    }

    /// All nodes in the order of their paths.
    pub fn by_path(&self) -> impl Iterator<Item = (&NodePath, Slot)> {
        self.numbers.iter().map(|(path, &slot)| (path, slot))
    }

    pub fn slot(&self, path: &NodePath) -> Option<Slot> {
        self.numbers.get(path).copied()
    }

    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// The nodes that take an output of this one; one that takes several comes several times.
    pub fn consumers(&self, slot: Slot) -> impl Iterator<Item = Slot> + '_ {
        self.order
            .neighbors_directed(NodeIndex::new(slot as usize), Direction::Outgoing)
            .map(|node| node.index() as Slot)
    }

    /// Where a node stands in the topological order; `None` if it is gone.
    pub fn position(&self, slot: Slot) -> Option<TopologicalPosition> {
        self.get(slot).map(|_| self.order.get_position(NodeIndex::new(slot as usize)))
    }

    /// The output that someone wants, by node or group.
    pub fn find(&self, output: &OutputPath) -> Result<Feed, NodeError> {
        let origin = self.groups.resolve(&output.node, &output.socket)?;
        self.feed(&origin)
    }

    /// An output past muted nodes; `None` if a muted node has nothing to pass.
    pub fn real(&self, mut feed: Feed) -> Option<Feed> {
        loop {
            let planned = self.get(feed.slot)?;
            let Work::Pass(passes) = &planned.work else { return Some(feed) };
            let through = (*passes.get(feed.output as usize)?)?;
            feed = *planned.feeds.get(through as usize)?;
        }
    }

    fn add(&mut self, leaf: Leaf) -> Slot {
        let slot = self.order.add_node(()).index();
        if slot >= self.slots.len() {
            self.slots.resize_with(slot + 1, || None);
        }
        self.numbers.insert(leaf.path.clone(), slot as Slot);
        let new = Arc::new(NodeError::new("the node is new"));
        self.slots[slot] = Some(Planned { leaf, work: Work::Broken(new), feeds: Vec::new() });
        slot as Slot
    }

    fn feed(&self, origin: &Origin) -> Result<Feed, NodeError> {
        let lost = || {
            NodeError::new(format!("a wire starts at {}.{}, which does not exist", origin.path, origin.socket))
                .help("remove the wire or connect another output")
        };
        let slot = self.slot(&origin.path).ok_or_else(lost)?;
        let planned = self.get(slot).ok_or_else(lost)?;
        let node_type = match self.groups.node(&planned.leaf.instance, &origin.path).map(|node| &node.kind) {
            Some(NodeKind::Type { id, .. }) => self.registry.node(id),
            _ => None,
        };
        // A node of unknown type keeps its wires: whatever hangs on it is blocked by it.
        let Some(node_type) = node_type else { return Ok(Feed { slot, output: 0 }) };
        let output = node_type.outputs.iter().position(|spec| spec.id == origin.socket).ok_or_else(lost)?;
        Ok(Feed { slot, output: output as u32 })
    }

    /// Gives a node its definition and its place in the order.
    fn set(&mut self, slot: Slot, definition: Definition) {
        let feeds: Result<Vec<Feed>, NodeError> = definition.feeds.iter().map(|origin| self.feed(origin)).collect();
        let (mut work, mut feeds, mut settled) = match feeds {
            Ok(feeds) => (definition.work, feeds, true),
            Err(error) => (Work::Broken(Arc::new(error)), Vec::new(), false),
        };
        let node = NodeIndex::new(slot as usize);
        let unchanged = self.get(slot).is_some_and(|planned| planned.feeds == feeds);
        if !unchanged {
            self.cut(node);
            for feed in &feeds {
                if self.order.try_add_edge(NodeIndex::new(feed.slot as usize), node, ()).is_err() {
                    let from = self.get(feed.slot).map(|planned| planned.leaf.path.to_string()).unwrap_or_default();
                    let error = NodeError::new(format!("the wire from {from} closes a circle"))
                        .help("remove one wire of the circle");
                    (work, settled) = (Work::Broken(Arc::new(error)), false);
                    break;
                }
            }
            if !settled {
                feeds = Vec::new();
                self.cut(node);
            }
        }
        if settled {
            self.unsettled.remove(&slot);
        } else {
            self.unsettled.insert(slot);
        }
        if let Some(planned) = &mut self.slots[slot as usize] {
            (planned.work, planned.feeds) = (work, feeds);
        }
    }

    fn cut(&mut self, node: NodeIndex) {
        while let Some(edge) = self.order.edges_directed(node, Direction::Incoming).map(|edge| edge.id()).next() {
            self.order.remove_edge(edge);
        }
    }
}

/// Whether two snapshots have the same groups in the same places, showing the same outside.
fn same_groups(old: &Document, new: &Document) -> bool {
    if old.main != new.main || old.graphs.len() != new.graphs.len() {
        return false;
    }
    old.graphs.iter().zip(&new.graphs).all(|((old_id, old), (new_id, new))| {
        old_id == new_id
            && old.inputs == new.inputs
            && old.knobs == new.knobs
            && old.outputs == new.outputs
            && same_group_nodes(old, new)
    })
}

fn same_group_nodes(old: &Graph, new: &Graph) -> bool {
    let group = |kind: &NodeKind| matches!(kind, NodeKind::Group(_));
    old.nodes.ptr_eq(&new.nodes)
        || old.nodes.diff(&new.nodes).all(|item| match item {
            DiffItem::Add(_, node) | DiffItem::Remove(_, node) => !group(&node.kind),
            DiffItem::Update { old: (_, old), new: (_, new) } => {
                let either = group(&old.kind) || group(&new.kind);
                !either || (old.kind == new.kind && old.muted == new.muted)
            }
        })
}

/// The leaves in topological order by number; those on a circle and behind it last, in the order they came.
fn sorted(leaves: &[Leaf], definitions: &[Definition]) -> Vec<usize> {
    let numbers: BTreeMap<&NodePath, usize> = leaves.iter().enumerate().map(|(k, leaf)| (&leaf.path, k)).collect();
    let mut waiting = vec![0usize; leaves.len()];
    let mut consumers = vec![Vec::new(); leaves.len()];
    for (k, definition) in definitions.iter().enumerate() {
        for source in definition.feeds.iter().filter_map(|origin| numbers.get(&origin.path)) {
            consumers[*source].push(k);
            waiting[k] += 1;
        }
    }
    let mut ready: VecDeque<usize> = (0..leaves.len()).filter(|&k| waiting[k] == 0).collect();
    let mut order = Vec::with_capacity(leaves.len());
    while let Some(k) = ready.pop_front() {
        order.push(k);
        for &consumer in &consumers[k] {
            waiting[consumer] -= 1;
            if waiting[consumer] == 0 {
                ready.push_back(consumer);
            }
        }
    }
    order.extend((0..leaves.len()).filter(|&k| waiting[k] > 0));
    order
}
