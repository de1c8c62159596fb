//! What a graph shows outside, when it is used as a group: inputs, knobs and outputs of the nodes within.
//!
//! What is hidden takes along what hung on it outside: wires, values, and where a graph around it showed it further out.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::node::no_socket;
use super::{EditError, Editing};
use crate::document::names::check_id;
use crate::document::{GraphInput, GraphKnob, GraphOutput, InputEnd, Node, OutputEnd};
use crate::ids::{GraphId, KnobId, NodeId, SocketId};
use crate::registry::Arity;

impl Editing<'_> {
    pub(super) fn promote_input(
        &mut self,
        graph: &GraphId,
        id: &SocketId,
        input: Option<&Arc<GraphInput>>,
    ) -> Result<(), EditError> {
        match input {
            Some(input) => {
                self.check_input(graph, id, input)?;
                self.put_input(graph, id, Some(Arc::clone(input)))?;
                self.recheck_into(graph, id)
            }
            None => {
                self.shown(self.graph(graph)?.inputs.contains_key(id), graph, "input", id.as_str())?;
                for (outer, node) in self.users(graph) {
                    let end = InputEnd { node, socket: id.clone() };
                    self.put_wires(&outer, &end, Vec::new())?;
                    self.hide_inputs(&outer, |shown| *shown == end)?;
                }
                self.put_input(graph, id, None)
            }
        }
    }

    pub(super) fn promote_knob(
        &mut self,
        graph: &GraphId,
        id: &KnobId,
        knob: Option<&Arc<GraphKnob>>,
    ) -> Result<(), EditError> {
        match knob {
            Some(knob) => {
                self.check_knob(graph, id, knob)?;
                self.put_knob(graph, id, Some(Arc::clone(knob)))?;
                self.recheck_into(graph, &SocketId::from(id))
            }
            None => {
                self.shown(self.graph(graph)?.knobs.contains_key(id), graph, "knob", id.as_str())?;
                for (outer, node) in self.users(graph) {
                    let end = InputEnd { node: node.clone(), socket: SocketId::from(id) };
                    self.put_wires(&outer, &end, Vec::new())?;
                    self.hide_inputs(&outer, |shown| *shown == end)?;
                    self.hide_knobs(&outer, |shown, knob| *shown == node && knob == id)?;
                    let user = self.node(&outer, &node)?;
                    let knobs = user.knobs.without(id);
                    let user = Node { knobs, ..(**user).clone() };
                    self.put_node(&outer, &node, Some(Arc::new(user)))?;
                }
                self.put_knob(graph, id, None)
            }
        }
    }

    pub(super) fn promote_output(
        &mut self,
        graph: &GraphId,
        id: &SocketId,
        output: Option<&Arc<GraphOutput>>,
    ) -> Result<(), EditError> {
        match output {
            Some(output) => {
                check_id(id.as_str()).map_err(|reason| EditError::BadId { reason })?;
                self.gives(graph, &output.source)?;
                self.put_output(graph, id, Some(Arc::clone(output)))?;
                self.recheck_from(graph, id)
            }
            None => {
                self.shown(self.graph(graph)?.outputs.contains_key(id), graph, "output", id.as_str())?;
                for (outer, node) in self.users(graph) {
                    let end = OutputEnd { node, socket: id.clone() };
                    self.cut_wires(&outer, |_| false, |from| *from == end)?;
                    self.hide_outputs(&outer, |shown| *shown == end)?;
                }
                self.put_output(graph, id, None)
            }
        }
    }

    fn check_input(&self, graph: &GraphId, id: &SocketId, input: &GraphInput) -> Result<(), EditError> {
        check_id(id.as_str()).map_err(|reason| EditError::BadId { reason })?;
        let content = self.graph(graph)?;
        if content.knobs.contains_key(id.as_str()) {
            return Err(EditError::Taken { what: "knob of the graph", id: id.to_string() });
        }
        let Some(first) = input.targets.first() else {
            return Err(EditError::Missing { what: format!("socket that the input {id:?} feeds: name one") });
        };
        let (gives, arity) = self.takes(graph, first)?;
        for (k, end) in input.targets.iter().enumerate() {
            let (takes, end_arity) = self.takes(graph, end)?;
            if !self.registry.fits(gives, takes) {
                return Err(EditError::Unfit {
                    from: first.to_string(),
                    gives: gives.label(),
                    to: end.to_string(),
                    takes: takes.label(),
                });
            }
            if (arity == Arity::Many) != (end_arity == Arity::Many) {
                let reason = format!("{first} and {end} cannot share one input: only one of them takes many wires");
                return Err(EditError::InUse { reason });
            }
            let other = content.inputs.iter().find(|(other, input)| *other != id && input.targets.contains(end));
            if other.is_some() || input.targets[..k].contains(end) {
                let reason = format!("{end} is shown as the input {:?} already", other.map_or(id, |(other, _)| other));
                return Err(EditError::InUse { reason });
            }
            let knob = (end.node.clone(), KnobId::from(end.socket.as_str()));
            if let Some((other, _)) = content.knobs.iter().find(|(_, shown)| shown.targets.contains(&knob)) {
                return Err(EditError::InUse { reason: format!("{end} is shown as the knob {other:?} already") });
            }
        }
        Ok(())
    }

    fn check_knob(&self, graph: &GraphId, id: &KnobId, knob: &GraphKnob) -> Result<(), EditError> {
        check_id(id.as_str()).map_err(|reason| EditError::BadId { reason })?;
        let content = self.graph(graph)?;
        if content.inputs.contains_key(id.as_str()) {
            return Err(EditError::Taken { what: "input of the graph", id: id.to_string() });
        }
        let mut first = None;
        for (k, (node, inner)) in knob.targets.iter().enumerate() {
            let sockets = self.sockets(graph, node)?;
            let Some(spec) = sockets.knob(inner.as_str()) else {
                let there = sockets.knobs().iter().map(|knob| knob.id.as_str()).collect();
                return Err(no_socket(node.as_str(), "knob", inner.as_str(), there));
            };
            let kind = first.get_or_insert(spec.kind.name());
            if *kind != spec.kind.name() {
                let reason = format!("{node}.{inner} is a {}, and the knob {id:?} sets a {kind}", spec.kind.name());
                return Err(EditError::InUse { reason });
            }
            let target = (node.clone(), inner.clone());
            let other = content.knobs.iter().find(|(other, knob)| *other != id && knob.targets.contains(&target));
            if other.is_some() || knob.targets[..k].contains(&target) {
                let other = other.map_or(id, |(other, _)| other);
                return Err(EditError::InUse {
                    reason: format!("{node}.{inner} is shown as the knob {other:?} already"),
                });
            }
            let end = InputEnd { node: node.clone(), socket: SocketId::from(inner) };
            if let Some((other, _)) = content.inputs.iter().find(|(_, shown)| shown.targets.contains(&end)) {
                return Err(EditError::InUse { reason: format!("{end} is shown as the input {other:?} already") });
            }
        }
        match first {
            Some(_) => Ok(()),
            None => Err(EditError::Missing { what: format!("knob that the knob {id:?} sets: name one") }),
        }
    }

    fn shown(&self, there: bool, graph: &GraphId, what: &str, id: &str) -> Result<(), EditError> {
        if there { Ok(()) } else { Err(EditError::Missing { what: format!("{what} {id:?} of {graph:?} to hide") }) }
    }

    fn users(&self, graph: &GraphId) -> Vec<(GraphId, NodeId)> {
        self.document.users(graph).map(|(outer, node)| (outer.clone(), node.clone())).collect()
    }

    /// What hangs on an input or knob outside must go on fitting: wires, values, and where it is shown further out.
    fn recheck_into(&self, graph: &GraphId, id: &SocketId) -> Result<(), EditError> {
        let mut seen = BTreeSet::new();
        let mut open = vec![(graph.clone(), id.clone())];
        while let Some((graph, id)) = open.pop() {
            if !seen.insert((graph.clone(), id.clone())) {
                continue;
            }
            for (outer, node) in self.users(&graph) {
                let to = InputEnd { node, socket: id.clone() };
                let content = self.graph(&outer)?;
                let sources = content.sources(&to);
                sources.iter().try_for_each(|from| self.recheck_wire(&outer, from, &to, sources.len()))?;
                self.recheck_value(&outer, &to)?;
                for (shown, input) in content.inputs.iter().filter(|(_, input)| input.targets.contains(&to)) {
                    self.check_input(&outer, shown, input)?;
                    open.push((outer.clone(), shown.clone()));
                }
                let target = (to.node.clone(), KnobId::from(to.socket.as_str()));
                for (shown, knob) in content.knobs.iter().filter(|(_, knob)| knob.targets.contains(&target)) {
                    self.check_knob(&outer, shown, knob)?;
                    open.push((outer.clone(), SocketId::from(shown)));
                }
            }
        }
        Ok(())
    }

    /// The same for an output.
    fn recheck_from(&self, graph: &GraphId, id: &SocketId) -> Result<(), EditError> {
        let mut seen = BTreeSet::new();
        let mut open = vec![(graph.clone(), id.clone())];
        while let Some((graph, id)) = open.pop() {
            if !seen.insert((graph.clone(), id.clone())) {
                continue;
            }
            for (outer, node) in self.users(&graph) {
                let end = OutputEnd { node, socket: id.clone() };
                let content = self.graph(&outer)?;
                for (from, to) in content.all_wires().filter(|(from, _)| **from == end) {
                    self.recheck_wire(&outer, from, to, 1)?;
                }
                let shown = content.outputs.iter().filter(|(_, output)| output.source == end);
                open.extend(shown.map(|(id, _)| (outer.clone(), id.clone())));
            }
        }
        Ok(())
    }

    fn recheck_wire(&self, graph: &GraphId, from: &OutputEnd, to: &InputEnd, wires: usize) -> Result<(), EditError> {
        let (gives, (takes, arity)) = (self.gives(graph, from)?, self.takes(graph, to)?);
        if wires > 1 && arity != Arity::Many {
            return Err(EditError::TooManyWires { to: to.clone(), wires });
        }
        if self.registry.fits(gives, takes) {
            return Ok(());
        }
        Err(EditError::Unfit { from: from.to_string(), gives: gives.label(), to: to.to_string(), takes: takes.label() })
    }

    fn recheck_value(&self, graph: &GraphId, to: &InputEnd) -> Result<(), EditError> {
        let (node, knob) = (&to.node, KnobId::from(to.socket.as_str()));
        if let Some(value) = self.node(graph, node)?.knobs.get(&knob)
            && let Some(spec) = self.sockets(graph, node)?.knob(knob.as_str())
        {
            spec.kind.check(value).map_err(|reason| EditError::BadKnob { node: node.clone(), knob, reason })?;
        }
        Ok(())
    }
}
