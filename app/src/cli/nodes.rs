//! `sinew nodes`: the catalogue, straight from the doc comments.

use std::fmt::Write;

use serde_json::json;
use sinew_graph::Registry;
use sinew_graph::knob::{KnobKind, KnobSpec, KnobValue};
use sinew_graph::registry::{Arity, NodeType};

use super::{CliError, NodesArgs, print};

pub fn nodes(args: &NodesArgs, registry: &Registry) -> Result<(), CliError> {
    let prefix = args.prefix.as_deref().unwrap_or_default();
    let nodes: Vec<&NodeType> =
        registry.nodes().map(AsRef::as_ref).filter(|node| node.id.as_str().starts_with(prefix)).collect();
    if nodes.is_empty() {
        return Err(CliError::Usage(format!("no node begins with {prefix:?}: `sinew nodes` lists all")));
    }
    if args.json {
        let list: Vec<_> = nodes.iter().map(|node| as_json(node)).collect();
        return print(&format!("{:#}\n", serde_json::Value::Array(list)));
    }
    let mut text = String::new();
    for node in &nodes {
        describe(&mut text, node);
    }
    if nodes.len() > 1 {
        let _ = writeln!(text, "{} nodes", nodes.len());
    }
    print(&text)
}

fn describe(text: &mut String, node: &NodeType) {
    let _ = writeln!(text, "{}  —  {}", node.id, node.label);
    for line in node.help.lines() {
        let _ = writeln!(text, "    {line}");
    }
    for input in &node.inputs {
        let arity = match input.arity {
            Arity::One => "",
            Arity::Optional => ", optional",
            Arity::Many => ", many",
        };
        let _ = writeln!(text, "  > {}: {}{arity}. {}", input.id, input.socket_type.label(), input.help);
    }
    for knob in &node.knobs {
        let _ = writeln!(text, "  = {}: {}. {}", knob.id, knob_text(knob), knob.help);
        if let KnobKind::Choice { items } = &knob.kind {
            for item in items {
                let _ = writeln!(text, "      {}: {}", item.id, item.help);
            }
        }
    }
    for output in &node.outputs {
        let _ = writeln!(text, "  < {}: {}. {}", output.id, output.socket_type.label(), output.help);
    }
    text.push('\n');
}

fn knob_text(knob: &KnobSpec) -> String {
    let mut text = knob.kind.name().to_owned();
    match &knob.kind {
        KnobKind::Number { range, unit } => {
            if let Some(unit) = unit {
                let _ = write!(text, " in {unit}");
            }
            if let Some((lo, hi)) = range {
                let _ = write!(text, ", {lo} to {hi}");
            }
        }
        KnobKind::Integer { range: Some((lo, hi)) } => {
            let _ = write!(text, ", {lo} to {hi}");
        }
        _ => {}
    }
    let _ = write!(text, ", default {}", show(&knob.default));
    text
}

/// A knob's value as it is typed behind `--set`.
pub fn show(value: &KnobValue) -> String {
    match value {
        KnobValue::Toggle(on) => if *on { "on" } else { "off" }.into(),
        KnobValue::Integer(v) => v.to_string(),
        KnobValue::Number(v) => v.to_string(),
        KnobValue::Text(v) | KnobValue::File(v) if v.is_empty() => "none".into(),
        KnobValue::Text(v) | KnobValue::Choice(v) | KnobValue::File(v) => v.to_string(),
        KnobValue::Vector([x, y, z]) => format!("{x} {y} {z}"),
        KnobValue::Colour(c) => {
            let [r, g, b, a] = c.map(|x| (x * 255.0).round() as u8);
            format!("#{r:02x}{g:02x}{b:02x}{a:02x}")
        }
        KnobValue::Curve(curve) => format!("a curve of {} keys", curve.keys.len()),
    }
}

fn as_json(node: &NodeType) -> serde_json::Value {
    json!({
        "id": node.id,
        "revision": node.revision,
        "label": node.label,
        "help": node.help,
        "inputs": node.inputs.iter().map(|input| json!({
            "id": input.id,
            "type": input.socket_type.label(),
            "arity": match input.arity { Arity::One => "one", Arity::Optional => "optional", Arity::Many => "many" },
            "help": input.help,
        })).collect::<Vec<_>>(),
        "knobs": node.knobs.iter().map(|knob| {
            let (range, unit) = match &knob.kind {
                KnobKind::Number { range, unit } => (range.map(|(lo, hi)| json!([lo, hi])), unit.clone()),
                KnobKind::Integer { range } => (range.map(|(lo, hi)| json!([lo, hi])), None),
                KnobKind::Vector { unit } => (None, unit.clone()),
                _ => (None, None),
            };
            let choices = match &knob.kind {
                KnobKind::Choice { items } => Some(
                    items.iter().map(|item| json!({"id": item.id, "label": item.label, "help": item.help}))
                        .collect::<Vec<_>>(),
                ),
                _ => None,
            };
            json!({
                "id": knob.id,
                "kind": knob.kind.name(),
                "default": show(&knob.default),
                "range": range,
                "unit": unit,
                "choices": choices,
                "help": knob.help,
            })
        }).collect::<Vec<_>>(),
        "outputs": node.outputs.iter().map(|output| json!({
            "id": output.id, "type": output.socket_type.label(), "help": output.help,
        })).collect::<Vec<_>>(),
    })
}
