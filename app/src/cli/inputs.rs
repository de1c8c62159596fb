//! What the call changes in a graph before it runs: `--set` and `--input`. Both are edits, with the same checks as in the
//! editor.

use std::path::Path;
use std::sync::Arc;

use sinew_graph::document::{Document, Graph, InputEnd, Node, OutputEnd, knob_socket_type};
use sinew_graph::edit::Edit;
use sinew_graph::knob::{KnobKind, KnobValue};
use sinew_graph::registry::{Arity, NodeType, SocketType};
use sinew_graph::{KnobId, NodeId, Registry};

use super::CliError;

/// Applies `NODE.KNOB=VALUE`, or `KNOB=VALUE` for a knob that the graph itself shows.
pub fn set(document: &mut Document, registry: &Registry, text: &str) -> Result<(), CliError> {
    let wrong = |what: String| CliError::Usage(format!("--set {text}: {what}"));
    let (target, value) = text.split_once('=').ok_or_else(|| wrong("write it as NODE.KNOB=VALUE".into()))?;
    let graph = main(document)?;
    let targets = match target.split_once('.') {
        Some((node, knob)) => vec![(NodeId::from(node), KnobId::from(knob))],
        None => match graph.knobs.get(target) {
            Some(knob) => knob.targets.clone(),
            None => return Err(wrong(format!("the graph shows no knob {target:?}: write it as NODE.KNOB=VALUE"))),
        },
    };
    for (node, knob) in targets {
        let Some(sockets) = document.sockets(&document.main, &node, registry) else {
            let nodes: Vec<&str> = main(document)?.nodes.keys().map(NodeId::as_str).collect();
            return Err(wrong(format!("there is no node {node:?}: the graph has {}", nodes.join(", "))));
        };
        let Some(spec) = sockets.knob(knob.as_str()) else {
            let knobs: Vec<&str> = sockets.knobs().iter().map(|knob| knob.id.as_str()).collect();
            return Err(wrong(format!("{node:?} has no knob {knob:?}: it has {}", knobs.join(", "))));
        };
        let value = match (&spec.kind, value) {
            (KnobKind::File { .. }, path) => KnobValue::File(absolute(Path::new(path))?),
            (kind, value) => kind.parse(value).map_err(wrong)?,
        };
        let graph = document.main.clone();
        document
            .apply(&Edit::SetKnob { graph, node, knob, value: Some(value) }, registry)
            .map_err(|error| wrong(error.to_string()))?;
    }
    Ok(())
}

/// Applies `NAME=FILE`.
pub fn input(document: &mut Document, registry: &Registry, text: &str) -> Result<(), CliError> {
    let wrong = |what: String| CliError::Usage(format!("--input {text}: {what}"));
    let (name, file) = text.split_once('=').ok_or_else(|| wrong("write it as NAME=FILE".into()))?;
    feed(document, registry, name, Path::new(file)).map_err(wrong)
}

/// Gives a file to the first input of the graph that takes files.
pub fn first_input(document: &mut Document, registry: &Registry, file: &Path) -> Result<(), CliError> {
    let inputs: Vec<String> = main(document)?.inputs.keys().map(ToString::to_string).collect();
    let mut reasons = Vec::new();
    for name in &inputs {
        match feed(document, registry, name, file) {
            Ok(()) => return Ok(()),
            Err(reason) => reasons.push(reason),
        }
    }
    let reason = if reasons.is_empty() { "the graph takes no input".into() } else { reasons.join("; ") };
    Err(CliError::Usage(format!("{}: {reason}", file.display())))
}

/// Puts a node that reads the file in front of an input of the graph.
fn feed(document: &mut Document, registry: &Registry, name: &str, file: &Path) -> Result<(), String> {
    let graph = document.main_graph().ok_or("the document has no main graph")?;
    let Some(input) = graph.inputs.get(name).cloned() else {
        let names: Vec<&str> = graph.inputs.keys().map(sinew_graph::SocketId::as_str).collect();
        return Err(format!("the graph has no input {name:?}: it has {}", names.join(", ")));
    };
    if !file.is_file() {
        return Err(format!("there is no file {}: check the path", file.display()));
    }
    let takes = input
        .targets
        .first()
        .and_then(|end| takes(document, registry, end))
        .ok_or_else(|| format!("the input {name:?} leads nowhere: promote an input of a node"))?;
    let (reader, knob, output) = reader(registry, file, takes)?;
    let mut node = Node::new(reader.id.clone(), reader.revision, [0.0, 0.0]);
    node.knobs.insert(knob, KnobValue::File(absolute(file).map_err(|error| error.to_string())?));
    let id = graph.fresh_node_id(&format!("input_{name}"));
    let graph = document.main.clone();
    let from = OutputEnd { node: id.clone(), socket: output };
    let mut edits = vec![Edit::AddNode { graph: graph.clone(), id, node: Arc::new(node) }];
    edits.extend(input.targets.iter().map(|to| Edit::SetWires {
        graph: graph.clone(),
        to: to.clone(),
        from: vec![from.clone()],
    }));
    document.apply(&Edit::Many(edits), registry).map(drop).map_err(|error| error.to_string())
}

fn takes(document: &Document, registry: &Registry, end: &InputEnd) -> Option<SocketType> {
    let sockets = document.sockets(&document.main, &end.node, registry)?;
    let input = sockets.input(end.socket.as_str()).map(|input| input.socket_type);
    input.or_else(|| sockets.knob(end.socket.as_str()).map(|knob| knob_socket_type(&knob.kind)))
}

/// The node type that reads such a file and gives what the input takes; its file knob; its output.
fn reader<'a>(
    registry: &'a Registry,
    file: &Path,
    takes: SocketType,
) -> Result<(&'a NodeType, KnobId, sinew_graph::SocketId), String> {
    let extension = file.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default();
    let mut known = Vec::new();
    for node in registry.nodes() {
        if node.inputs.iter().any(|input| input.arity == Arity::One) {
            continue;
        }
        let Some(output) = node.outputs.iter().find(|output| output.socket_type == takes) else { continue };
        for knob in &node.knobs {
            let KnobKind::File { extensions } = &knob.kind else { continue };
            if extensions.is_empty() || extensions.iter().any(|e| **e == *extension) {
                return Ok((node, knob.id.clone(), output.id.clone()));
            }
            known.extend(extensions.iter().map(ToString::to_string));
        }
    }
    known.sort();
    known.dedup();
    Err(if known.is_empty() {
        format!("no node reads a file as {}", takes.label())
    } else {
        format!("this is none of the files that are read as {}: {}", takes.label(), known.join(", "))
    })
}

/// A path as it is stored in a knob: absolute, so that it means the same wherever the graph lies.
fn absolute(path: &Path) -> Result<Arc<str>, CliError> {
    let absolute = std::path::absolute(path)
        .map_err(|error| CliError::Usage(format!("{}: {error}: check the path", path.display())))?;
    absolute
        .to_str()
        .map(Into::into)
        .ok_or_else(|| CliError::Usage(format!("{}: the path is not Unicode: rename it", path.display())))
}

fn main(document: &Document) -> Result<&Graph, CliError> {
    document.main_graph().ok_or_else(|| CliError::Usage("the document has no main graph".into()))
}
