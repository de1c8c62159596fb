//! What an edit is called in the history.

use super::Edit;
use crate::document::Document;
use crate::ids::{GraphId, NodeId};

impl Edit {
    /// A short name, such as `Connect weld to regions`, told by the document before the edit.
    pub fn name(&self, document: &Document) -> String {
        let title = |graph: &GraphId, node: &NodeId| {
            let label = document.graphs.get(graph).and_then(|graph| graph.nodes.get(node)).map(|node| &node.label);
            label.filter(|label| !label.is_empty()).map_or_else(|| node.to_string(), |label| label.to_string())
        };
        let titles = |graph: &GraphId, nodes: &[NodeId]| match nodes {
            [node] => title(graph, node),
            _ => format!("{} nodes", nodes.len()),
        };
        let graph_title = |graph: &GraphId| {
            let label = document.graphs.get(graph).map(|graph| &graph.label);
            label.filter(|label| !label.is_empty()).map_or_else(|| graph.to_string(), |label| label.to_string())
        };
        match self {
            Self::Many(edits) => {
                // What a gesture adds says what it was about: a node dropped on a wire is added, and then connected.
                let adds = |edit: &&Self| matches!(edit, Self::AddNode { .. } | Self::Insert { .. });
                let telling = edits.iter().find(adds).or_else(|| edits.first());
                telling.map_or_else(|| "Nothing".into(), |edit| edit.name(document))
            }
            Self::AddNode { id, node, .. } => {
                format!("Add {}", if node.label.is_empty() { id.as_str() } else { &*node.label })
            }
            Self::Insert { part, .. } => match part.nodes.keys().next() {
                Some(node) if part.nodes.len() == 1 => format!("Paste {node}"),
                _ => format!("Paste {} nodes", part.nodes.len()),
            },
            Self::RemoveNodes { graph, nodes } => format!("Remove {}", titles(graph, nodes)),
            Self::MoveNodes { graph, to } => match to.as_slice() {
                [(node, _)] => format!("Move {}", title(graph, node)),
                _ => format!("Move {} nodes", to.len()),
            },
            Self::SetKnob { graph, node, knob, value: Some(_) } => format!("Set {knob} of {}", title(graph, node)),
            Self::SetKnob { graph, node, knob, value: None } => format!("Reset {knob} of {}", title(graph, node)),
            Self::Relabel { node, label, .. } if label.is_empty() => format!("Clear the name of {node}"),
            Self::Relabel { graph, node, label } => format!("Rename {} to {label}", title(graph, node)),
            Self::SetMuted { graph, nodes, muted: true } => format!("Mute {}", titles(graph, nodes)),
            Self::SetMuted { graph, nodes, muted: false } => format!("Unmute {}", titles(graph, nodes)),
            Self::Connect { graph, from, to } => {
                format!("Connect {} to {}", title(graph, &from.node), title(graph, &to.node))
            }
            Self::Disconnect { graph, from, to } => {
                format!("Disconnect {} from {}", title(graph, &from.node), title(graph, &to.node))
            }
            Self::SetWires { graph, to, from } if from.is_empty() => {
                format!("Disconnect {} of {}", to.socket, title(graph, &to.node))
            }
            Self::SetWires { graph, to, .. } => format!("Rewire {} of {}", to.socket, title(graph, &to.node)),
            Self::SetFrame { graph, id, frame } => {
                let there = document.graphs.get(graph).is_some_and(|graph| graph.frames.contains_key(id));
                match (there, frame) {
                    (false, _) => "Add a frame".into(),
                    (true, Some(_)) => "Change a frame".into(),
                    (true, None) => "Remove a frame".into(),
                }
            }
            Self::PromoteInput { id, input: Some(_), .. } => format!("Show input {id}"),
            Self::PromoteInput { id, input: None, .. } => format!("Hide input {id}"),
            Self::PromoteKnob { id, knob: Some(_), .. } => format!("Show knob {id}"),
            Self::PromoteKnob { id, knob: None, .. } => format!("Hide knob {id}"),
            Self::PromoteOutput { id, output: Some(_), .. } => format!("Show output {id}"),
            Self::PromoteOutput { id, output: None, .. } => format!("Hide output {id}"),
            Self::Group { graph, nodes, .. } => format!("Group {}", titles(graph, nodes)),
            Self::Ungroup { graph, node } => format!("Ungroup {}", title(graph, node)),
            Self::AddGraph { id, content } if content.label.is_empty() => format!("Add graph {id}"),
            Self::AddGraph { content, .. } => format!("Add graph {}", content.label),
            Self::RemoveGraph { id } => format!("Remove graph {}", graph_title(id)),
            Self::Describe { graph, .. } => format!("Describe {}", graph_title(graph)),
            Self::SetMain { graph } => format!("Make {} the main graph", graph_title(graph)),
            Self::Changes(_) => "Restore".into(),
        }
    }
}
