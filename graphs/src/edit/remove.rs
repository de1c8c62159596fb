//! Removing nodes, and all that hangs on them: wires, and what the graph shows of them outside.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{EditError, Editing};
use crate::document::{GraphInput, GraphKnob, InputEnd, OutputEnd};
use crate::ids::{GraphId, KnobId, NodeId, SocketId};

impl Editing<'_> {
    pub(super) fn remove_nodes(&mut self, graph: &GraphId, nodes: &[NodeId]) -> Result<(), EditError> {
        let gone: BTreeSet<&NodeId> = nodes.iter().collect();
        for node in &gone {
            self.node(graph, node)?;
        }
        self.cut_wires(graph, |end| gone.contains(&end.node), |end| gone.contains(&end.node))?;
        self.hide_inputs(graph, |end| gone.contains(&end.node))?;
        self.hide_knobs(graph, |node, _| gone.contains(node))?;
        self.hide_outputs(graph, |end| gone.contains(&end.node))?;
        gone.iter().try_for_each(|node| self.put_node(graph, node, None))
    }

    /// Removes the wires that end at, or start at, any of these.
    pub(super) fn cut_wires(
        &mut self,
        graph: &GraphId,
        ends: impl Fn(&InputEnd) -> bool,
        starts: impl Fn(&OutputEnd) -> bool,
    ) -> Result<(), EditError> {
        let touched = |to: &InputEnd, sources: &[OutputEnd]| ends(to) || sources.iter().any(&starts);
        let cut = self.graph(graph)?.wires.iter().filter(|(to, sources)| touched(to, sources));
        let left = |to: &InputEnd, sources: &[OutputEnd]| {
            if ends(to) { Vec::new() } else { sources.iter().filter(|from| !starts(from)).cloned().collect() }
        };
        let cut: Vec<(InputEnd, Vec<OutputEnd>)> = cut.map(|(to, sources)| (to.clone(), left(to, sources))).collect();
        cut.into_iter().try_for_each(|(to, sources)| self.put_wires(graph, &to, sources))
    }

    /// Takes targets from what the graph shows as inputs; what has none left goes.
    pub(super) fn hide_inputs(&mut self, graph: &GraphId, gone: impl Fn(&InputEnd) -> bool) -> Result<(), EditError> {
        let shown = self.graph(graph)?.inputs.clone();
        for (id, input) in shown.iter().filter(|(_, input)| input.targets.iter().any(&gone)) {
            let targets: Vec<InputEnd> = input.targets.iter().filter(|end| !gone(end)).cloned().collect();
            if targets.is_empty() {
                self.promote_input(graph, id, None)?;
            } else {
                self.promote_input(graph, id, Some(&Arc::new(GraphInput { targets, ..(**input).clone() })))?;
            }
        }
        Ok(())
    }

    /// The same for knobs.
    pub(super) fn hide_knobs(
        &mut self,
        graph: &GraphId,
        gone: impl Fn(&NodeId, &KnobId) -> bool,
    ) -> Result<(), EditError> {
        let shown = self.graph(graph)?.knobs.clone();
        let hit = |(node, knob): &(NodeId, KnobId)| gone(node, knob);
        for (id, knob) in shown.iter().filter(|(_, knob)| knob.targets.iter().any(hit)) {
            let targets: Vec<(NodeId, KnobId)> = knob.targets.iter().filter(|target| !hit(target)).cloned().collect();
            if targets.is_empty() {
                self.promote_knob(graph, id, None)?;
            } else {
                self.promote_knob(graph, id, Some(&Arc::new(GraphKnob { targets, ..(**knob).clone() })))?;
            }
        }
        Ok(())
    }

    /// The same for outputs.
    pub(super) fn hide_outputs(&mut self, graph: &GraphId, gone: impl Fn(&OutputEnd) -> bool) -> Result<(), EditError> {
        let shown = &self.graph(graph)?.outputs;
        let hidden: Vec<SocketId> =
            shown.iter().filter(|(_, output)| gone(&output.source)).map(|(id, _)| id.clone()).collect();
        hidden.iter().try_for_each(|id| self.promote_output(graph, id, None))
    }
}
