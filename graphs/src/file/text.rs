//! Writes a document as RON: sorted, one line per node, wire and frame, the same bytes for the same document.
//!
//! The writer is our own because version control reads these files too: a line is what changes together.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

use crate::basic::Curve;
use crate::document::{Document, Frame, Graph, GraphInput, GraphKnob, GraphOutput, Node, NodeKind, SavedSockets};
use crate::ids::{KnobId, NodeId, NodeTypeId, SocketId};
use crate::knob::KnobValue;
use crate::registry::{NodeType, Registry, SocketType};

type Types = BTreeMap<NodeTypeId, Arc<SavedSockets>>;

/// The text of a file, its header apart.
pub(super) fn write(document: &Document, registry: &Registry) -> String {
    let types = types(document, registry);
    let mut out = String::with_capacity(64 * 1024);
    out.push_str("(\n  main: ");
    text(&mut out, document.main.as_str());
    out.push_str(",\n  graphs: {\n");
    for (id, graph) in &document.graphs {
        out.push_str("    ");
        text(&mut out, id.as_str());
        out.push_str(": (\n");
        write_graph(&mut out, graph, &types, registry);
        out.push_str("    ),\n");
    }
    out.push_str("  },\n");
    if !types.is_empty() {
        out.push_str("  types: {\n");
        for (id, sockets) in &types {
            out.push_str("    ");
            text(&mut out, id.as_str());
            out.push_str(": ");
            write_sockets(&mut out, sockets);
            out.push_str(",\n");
        }
        out.push_str("  },\n");
    }
    out.push_str(")\n");
    out
}

/// The sockets of every node type in use, so that the file can be shown, wired and saved where a type is missing.
fn types(document: &Document, registry: &Registry) -> Types {
    let mut types = Types::new();
    for node in document.graphs.values().flat_map(|graph| graph.nodes.values()) {
        if let NodeKind::Type { id, .. } = &node.kind
            && !types.contains_key(id)
        {
            match registry.node(id) {
                Some(node_type) => types.insert(id.clone(), Arc::new(SavedSockets::of(node_type))),
                None => node.saved.as_ref().and_then(|saved| types.insert(id.clone(), Arc::clone(saved))),
            };
        }
    }
    types
}

impl SavedSockets {
    /// What a file remembers of a node type.
    pub fn of(node_type: &NodeType) -> Self {
        let name = |socket_type: SocketType| match socket_type {
            SocketType::Any => "any".into(),
            SocketType::Of(data_type) => data_type.id.0.into(),
        };
        Self {
            inputs: node_type.inputs.iter().map(|input| (input.id.clone(), name(input.socket_type))).collect(),
            outputs: node_type.outputs.iter().map(|output| (output.id.clone(), name(output.socket_type))).collect(),
        }
    }
}

fn write_graph(out: &mut String, graph: &Graph, types: &Types, registry: &Registry) {
    for (name, content) in [("label", &graph.label), ("help", &graph.help)] {
        if !content.is_empty() {
            let _ = write!(out, "      {name}: ");
            text(out, content);
            out.push_str(",\n");
        }
    }
    section(out, "inputs", &graph.inputs, |id| id.as_str(), write_input);
    section(out, "knobs", &graph.knobs, |id| id.as_str(), write_knob);
    section(out, "outputs", &graph.outputs, |id| id.as_str(), write_output);
    section(out, "nodes", &graph.nodes, |id: &NodeId| id.as_str(), |out, node| write_node(out, node, types, registry));
    if !graph.wires.is_empty() {
        out.push_str("      wires: [\n");
        for (to, sources) in &graph.wires {
            for from in sources.iter() {
                out.push_str("        \"");
                for part in
                    [from.node.as_str(), ".", from.socket.as_str(), " -> ", to.node.as_str(), ".", to.socket.as_str()]
                {
                    escaped(out, part);
                }
                out.push_str("\",\n");
            }
        }
        out.push_str("      ],\n");
    }
    section(out, "frames", &graph.frames, |id| id.as_str(), write_frame);
}

fn section<K: Ord, V>(
    out: &mut String,
    name: &str,
    entries: &imbl::OrdMap<K, Arc<V>>,
    id: impl Fn(&K) -> &str,
    write_one: impl Fn(&mut String, &V),
) {
    if entries.is_empty() {
        return;
    }
    let _ = writeln!(out, "      {name}: {{");
    for (key, value) in entries {
        out.push_str("        ");
        text(out, id(key));
        out.push_str(": ");
        write_one(out, value);
        out.push_str(",\n");
    }
    out.push_str("      },\n");
}

fn write_node(out: &mut String, node: &Node, types: &Types, registry: &Registry) {
    match &node.kind {
        NodeKind::Type { id, revision } => {
            field(out, "(type: ", id.as_str());
            if *revision != 0 {
                let _ = write!(out, ", revision: {revision}");
            }
        }
        NodeKind::Group(graph) => field(out, "(group: ", graph.as_str()),
    }
    let [x, y] = node.position;
    let _ = write!(out, ", at: ({x}, {y})");
    optional(out, ", label: ", &node.label);
    if node.muted {
        out.push_str(", muted: true");
    }
    if !node.knobs.is_empty() {
        out.push_str(", knobs: {");
        for (k, (knob, value)) in node.knobs.iter().enumerate() {
            out.push_str(if k == 0 { "" } else { ", " });
            text(out, knob.as_str());
            out.push_str(": ");
            write_value(out, value);
        }
        out.push('}');
    }
    if let (NodeKind::Type { id, .. }, Some(saved)) = (&node.kind, &node.saved)
        && registry.node(id).is_none()
        && types.get(id) != Some(saved)
    {
        out.push_str(", sockets: ");
        write_sockets(out, saved);
    }
    out.push(')');
}

fn write_sockets(out: &mut String, sockets: &SavedSockets) {
    let list = |out: &mut String, name: &str, ends: &[(SocketId, Arc<str>)]| {
        let _ = write!(out, "{name}: {{");
        for (k, (socket, data_type)) in ends.iter().enumerate() {
            out.push_str(if k == 0 { "" } else { ", " });
            text(out, socket.as_str());
            out.push_str(": ");
            text(out, data_type);
        }
        out.push('}');
    };
    out.push('(');
    list(out, "inputs", &sockets.inputs);
    out.push_str(", ");
    list(out, "outputs", &sockets.outputs);
    out.push(')');
}

fn write_frame(out: &mut String, frame: &Frame) {
    let [x, y, width, height] = frame.area;
    let [r, g, b] = frame.colour;
    field(out, "(title: ", &frame.title);
    optional(out, ", text: ", &frame.text);
    let _ = write!(out, ", area: ({x}, {y}, {width}, {height}), colour: ({r}, {g}, {b}))");
}

fn write_input(out: &mut String, input: &GraphInput) {
    field(out, "(label: ", &input.label);
    optional(out, ", help: ", &input.help);
    write_ends(out, input.targets.iter().map(|end| (end.node.as_str(), end.socket.as_str())));
}

fn write_knob(out: &mut String, knob: &GraphKnob) {
    field(out, "(label: ", &knob.label);
    write_ends(out, knob.targets.iter().map(|(node, knob): &(NodeId, KnobId)| (node.as_str(), knob.as_str())));
}

fn write_ends<'a>(out: &mut String, ends: impl Iterator<Item = (&'a str, &'a str)>) {
    out.push_str(", to: [");
    for (k, (node, socket)) in ends.enumerate() {
        out.push_str(if k == 0 { "" } else { ", " });
        write_end(out, node, socket);
    }
    out.push_str("])");
}

fn write_output(out: &mut String, output: &GraphOutput) {
    field(out, "(label: ", &output.label);
    optional(out, ", help: ", &output.help);
    out.push_str(", from: ");
    write_end(out, output.source.node.as_str(), output.source.socket.as_str());
    out.push(')');
}

fn write_end(out: &mut String, node: &str, socket: &str) {
    out.push('"');
    for part in [node, ".", socket] {
        escaped(out, part);
    }
    out.push('"');
}

/// A value as RON. Numbers are the shortest that read back as the same number.
fn write_value(out: &mut String, value: &KnobValue) {
    let mut numbers = |name: &str, numbers: &[f64]| {
        let list: Vec<String> = numbers.iter().map(|x| format!("{x:?}")).collect();
        let _ = write!(out, "{name}(({}))", list.join(", "));
    };
    let _ = match value {
        KnobValue::Toggle(v) => write!(out, "Toggle({v})"),
        KnobValue::Integer(v) => write!(out, "Integer({v})"),
        KnobValue::Number(v) => write!(out, "Number({v:?})"),
        KnobValue::Vector(v) => return numbers("Vector", v),
        KnobValue::Colour(v) => return numbers("Colour", v),
        KnobValue::Text(v) => return tagged(out, "Text(", v),
        KnobValue::Choice(v) => return tagged(out, "Choice(", v),
        KnobValue::File(v) => return tagged(out, "File(", v),
        KnobValue::Curve(v) => return write_curve(out, v),
    };
}

fn write_curve(out: &mut String, curve: &Curve) {
    out.push_str("Curve((keys: [");
    for (k, key) in curve.keys.iter().enumerate() {
        out.push_str(if k == 0 { "" } else { ", " });
        let _ = write!(out, "(at: {:?}, value: {:?}, slope: {:?})", key.at, key.value, key.slope);
    }
    out.push_str("]))");
}

fn tagged(out: &mut String, tag: &str, content: &str) {
    field(out, tag, content);
    out.push(')');
}

fn field(out: &mut String, name: &str, content: &str) {
    out.push_str(name);
    text(out, content);
}

fn optional(out: &mut String, name: &str, content: &str) {
    if !content.is_empty() {
        field(out, name, content);
    }
}

fn text(out: &mut String, content: &str) {
    out.push('"');
    escaped(out, content);
    out.push('"');
}

/// Escapes what would end the text, break the line, or not be seen: controls, separators, marks of direction.
fn escaped(out: &mut String, content: &str) {
    for c in content.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' => {
                let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
            }
            c if c.is_control() => {
                let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
            }
            c => out.push(c),
        }
    }
}
