//! Makes a group of nodes. Everything goes on as before: what came from outside comes through the new node's inputs,
//! what went outside leaves through its outputs, and what the graph showed outside it still shows.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use imbl::OrdMap;

use super::{EditError, Editing};
use crate::document::names::{check_id, check_node_id};
use crate::document::{FreshIds, Graph, GraphInput, GraphKnob, GraphOutput, InputEnd, Node, NodeKind, OutputEnd};
use crate::ids::{GraphId, KnobId, NodeId, SocketId};
use crate::registry::{Arity, SocketType};

/// Inputs that can share one input of the group: fed by the same outputs, of the same type, shown as the same input.
#[derive(PartialEq)]
struct Feed {
    sources: Vec<OutputEnd>,
    shown: Option<SocketId>,
    takes: SocketType,
    many: bool,
}

type InnerKnob = (NodeId, KnobId);

/// A group on its way.
struct Grouping<'a> {
    graph: &'a GraphId,
    node: &'a NodeId,
    inside: BTreeSet<&'a NodeId>,
    group: Graph,
    /// The wires that the group's node gets.
    fed: Vec<(InputEnd, Vec<OutputEnd>)>,
}

impl Editing<'_> {
    pub(super) fn group(
        &mut self,
        graph: &GraphId,
        nodes: &[NodeId],
        into: &GraphId,
        node: &NodeId,
        label: &Arc<str>,
    ) -> Result<(), EditError> {
        let inside: BTreeSet<&NodeId> = nodes.iter().collect();
        self.check_group(graph, &inside, into, node)?;
        let before = self.graph(graph)?.clone();
        let mut grouping = Grouping {
            graph,
            node,
            group: Graph {
                label: Arc::clone(label),
                nodes: inside.iter().filter_map(|id| Some(((*id).clone(), before.nodes.get(*id)?.clone()))).collect(),
                ..Graph::default()
            },
            inside,
            fed: Vec::new(),
        };
        let inputs = self.group_inputs(&before, &mut grouping)?;
        let knobs = self.group_knobs(&before, &mut grouping)?;
        let outputs = self.group_outputs(&before, &mut grouping)?;
        let Grouping { inside, group, fed, .. } = grouping;

        let places: Vec<[f32; 2]> = group.nodes.values().map(|node| node.position).collect();
        self.put_graph(into, Some(group))?;
        for (to, _) in before.wires.iter().filter(|(to, _)| inside.contains(&to.node)) {
            self.put_wires(graph, to, Vec::new())?;
        }
        for id in &inside {
            self.put_node(graph, id, None)?;
        }
        let stand_in = Node {
            kind: NodeKind::Group(into.clone()),
            label: "".into(),
            position: middle(&places),
            knobs: OrdMap::new(),
            muted: false,
            saved: None,
        };
        self.put_node(graph, node, Some(Arc::new(stand_in)))?;
        for (to, sources) in fed {
            self.put_wires(graph, &to, sources)?;
        }
        let replaced = |from: &OutputEnd| outputs.get(from).unwrap_or(from).clone();
        for (to, sources) in before.wires.iter().filter(|(to, _)| !inside.contains(&to.node)) {
            self.put_wires(graph, to, sources.iter().map(replaced).collect())?;
        }
        for (id, shown) in &before.inputs {
            // Several targets may have become one.
            let mut targets: Vec<InputEnd> = Vec::new();
            for end in shown.targets.iter().map(|end| inputs.get(end).unwrap_or(end)) {
                if !targets.contains(end) {
                    targets.push(end.clone());
                }
            }
            self.put_input(graph, id, Some(Arc::new(GraphInput { targets, ..(**shown).clone() })))?;
        }
        for (id, shown) in &before.knobs {
            let targets = shown.targets.iter().map(|target| knobs.get(target).unwrap_or(target).clone()).collect();
            self.put_knob(graph, id, Some(Arc::new(GraphKnob { targets, ..(**shown).clone() })))?;
        }
        for (id, shown) in &before.outputs {
            let source = replaced(&shown.source);
            self.put_output(graph, id, Some(Arc::new(GraphOutput { source, ..(**shown).clone() })))?;
        }
        // A wire that left the nodes and came back would now feed the group itself.
        match self.graph(graph)?.find_cycle() {
            Some(path) => Err(EditError::Cycle { path }),
            None => Ok(()),
        }
    }

    fn check_group(
        &self,
        graph: &GraphId,
        inside: &BTreeSet<&NodeId>,
        into: &GraphId,
        node: &NodeId,
    ) -> Result<(), EditError> {
        check_id(into.as_str())
            .and_then(|()| check_node_id(node.as_str()))
            .map_err(|reason| EditError::BadId { reason })?;
        if self.document.graphs.contains_key(into) {
            return Err(EditError::Taken { what: "graph", id: into.to_string() });
        }
        if inside.is_empty() {
            return Err(EditError::Missing { what: "node to group: select some".into() });
        }
        inside.iter().try_for_each(|id| self.node(graph, id).map(|_| ()))?;
        if self.graph(graph)?.nodes.contains_key(node) && !inside.contains(node) {
            return Err(EditError::Taken { what: "node", id: node.to_string() });
        }
        Ok(())
    }

    /// Wires within stay; wires from outside become inputs. Tells which end became which input of the group's node.
    fn group_inputs(&self, before: &Graph, new: &mut Grouping) -> Result<BTreeMap<InputEnd, InputEnd>, EditError> {
        let mut ends: BTreeSet<&InputEnd> = before.wires.keys().filter(|to| new.inside.contains(&to.node)).collect();
        let shown = before.inputs.values().flat_map(|input| &input.targets);
        ends.extend(shown.filter(|end| new.inside.contains(&end.node)));
        let mut feeds: Vec<(Feed, Vec<InputEnd>)> = Vec::new();
        for end in ends {
            let sources = before.sources(end);
            let within = sources.iter().filter(|from| new.inside.contains(&from.node)).count();
            if within > 0 && within < sources.len() {
                let reason = format!("wires into {end} come from both inside and outside: group those nodes as well");
                return Err(EditError::InUse { reason });
            }
            if within > 0 {
                new.group.wires.insert(end.clone(), sources.into());
            }
            let shown = before.inputs.iter().find(|(_, input)| input.targets.contains(end)).map(|(id, _)| id.clone());
            if within > 0 && shown.is_none() {
                continue;
            }
            // What the node does not have any more is kept as a wire is kept.
            let (takes, arity) = self.takes(new.graph, end).unwrap_or((SocketType::Any, Arity::Many));
            let sources = if within > 0 { Vec::new() } else { sources.to_vec() };
            let feed = Feed { sources, shown, takes, many: arity == Arity::Many };
            match feeds.iter_mut().find(|(known, _)| *known == feed) {
                Some((_, ends)) => ends.push(end.clone()),
                None => feeds.push((feed, vec![end.clone()])),
            }
        }
        let mut ids = FreshIds::new(|_| false);
        let mut became = BTreeMap::new();
        for (feed, targets) in feeds {
            let Some(first) = targets.first() else { continue };
            let id = SocketId::from(ids.keep(first.socket.as_str()));
            let (label, help) = self.texts(new.graph, first);
            let outer = InputEnd { node: new.node.clone(), socket: id.clone() };
            became.extend(targets.iter().map(|end| (end.clone(), outer.clone())));
            new.group.inputs.insert(id, Arc::new(GraphInput { label, help, targets }));
            if !feed.sources.is_empty() {
                new.fed.push((outer, feed.sources));
            }
        }
        Ok(became)
    }

    fn group_knobs(&self, before: &Graph, new: &mut Grouping) -> Result<BTreeMap<InnerKnob, InnerKnob>, EditError> {
        let inputs = new.group.inputs.clone();
        let mut ids = FreshIds::new(|id: &str| inputs.contains_key(id));
        let mut became = BTreeMap::new();
        for target in before.knobs.values().flat_map(|knob| &knob.targets) {
            let (node, knob) = target;
            if !new.inside.contains(node) {
                continue;
            }
            let end = InputEnd { node: node.clone(), socket: SocketId::from(knob) };
            if new.group.inputs.values().any(|input| input.targets.contains(&end)) {
                let reason = format!("{end} is shown as a knob and driven by a wire from outside: disconnect it first");
                return Err(EditError::InUse { reason });
            }
            let id = KnobId::from(ids.keep(knob.as_str()));
            let (label, _) = self.texts(new.graph, &end);
            new.group.knobs.insert(id.clone(), Arc::new(GraphKnob { label, targets: vec![target.clone()] }));
            became.insert(target.clone(), (new.node.clone(), id));
        }
        Ok(became)
    }

    fn group_outputs(&self, before: &Graph, new: &mut Grouping) -> Result<BTreeMap<OutputEnd, OutputEnd>, EditError> {
        let leaving = before.all_wires().filter(|(_, to)| !new.inside.contains(&to.node)).map(|(from, _)| from);
        let shown = before.outputs.values().map(|output| &output.source);
        let used: BTreeSet<&OutputEnd> = leaving.chain(shown).filter(|from| new.inside.contains(&from.node)).collect();
        let mut ids = FreshIds::new(|_| false);
        let mut became = BTreeMap::new();
        for from in used {
            let id = SocketId::from(ids.keep(from.socket.as_str()));
            let sockets = self.sockets(new.graph, &from.node)?;
            let (label, help) = sockets.output(from.socket.as_str()).map_or_else(
                || (from.socket.as_str().into(), "".into()),
                |output| (Arc::clone(&output.label), Arc::clone(&output.help)),
            );
            new.group.outputs.insert(id.clone(), Arc::new(GraphOutput { label, help, source: from.clone() }));
            became.insert(from.clone(), OutputEnd { node: new.node.clone(), socket: id });
        }
        Ok(became)
    }

    fn texts(&self, graph: &GraphId, end: &InputEnd) -> (Arc<str>, Arc<str>) {
        let sockets = self.document.sockets(graph, &end.node, self.registry);
        let texts = sockets.and_then(|sockets| {
            let input = sockets.input(end.socket.as_str()).map(|i| (Arc::clone(&i.label), Arc::clone(&i.help)));
            let knob = || sockets.knob(end.socket.as_str()).map(|k| (Arc::clone(&k.label), Arc::clone(&k.help)));
            input.or_else(knob)
        });
        texts.unwrap_or_else(|| (end.socket.as_str().into(), "".into()))
    }
}

/// The middle of these places, on whole numbers so that files stay short.
pub(super) fn middle(places: &[[f32; 2]]) -> [f32; 2] {
    let count = places.len().max(1) as f32;
    [0, 1].map(|axis| (places.iter().map(|place| place[axis] / count).sum::<f32>()).round())
}
