//! What a document promises whatever is done to it: random edits undo and redo to the byte, random bytes never panic.

#![allow(clippy::unwrap_used, reason = "a helper of tests fails as a test does")]

mod nodes;

use std::sync::Arc;

use nodes::registry;
use proptest::prelude::*;
use sinew_graph::document::{Document, Frame, GraphInput, GraphKnob, GraphOutput, InputEnd, Node, NodeKind, OutputEnd};
use sinew_graph::edit::Edit;
use sinew_graph::file::{self, Fragment};
use sinew_graph::history::History;
use sinew_graph::knob::KnobValue;
use sinew_graph::registry::Registry;
use sinew_graph::{FrameId, GraphId, NodeId};

const SAMPLE: &str = include_str!("graphs/sample.ron");
const PLACEHOLDER: &str = include_str!("graphs/placeholder.ron");

/// Raw choices; what they choose among depends on the document that they meet.
type Dice = (u8, u16, u16, u16, u16, f64, String);

fn dice() -> impl Strategy<Value = Dice> {
    (0u8..24, any::<u16>(), any::<u16>(), any::<u16>(), any::<u16>(), -120.0..120.0, ".{0,6}")
}

fn pick<T: Clone>(mut from: impl ExactSizeIterator<Item = T>, die: u16) -> Option<T> {
    let count = from.len();
    if count == 0 { None } else { from.nth(usize::from(die) % count) }
}

/// An edit that has a good chance to be made.
fn edit(document: &Document, registry: &Registry, dice: &Dice) -> Option<Edit> {
    let (kind, a, b, c, d, number, text) = dice;
    let ids: Vec<GraphId> = document.graphs.keys().cloned().collect();
    let graph = pick(ids.iter().cloned(), *a)?;
    let content = &document.graphs[&graph];
    let nodes: Vec<NodeId> = content.nodes.keys().cloned().collect();
    let node = |die: u16| pick(nodes.iter().cloned(), die);
    let some = || -> Vec<NodeId> {
        let chosen = nodes.iter().enumerate().filter(|(k, _)| (c >> (k % 16)) & 1 == 1);
        chosen.map(|(_, id)| id.clone()).collect()
    };
    let output = |die: u16| {
        let node = node(die)?;
        let sockets = document.sockets(&graph, &node, registry)?;
        let socket = pick(sockets.outputs().iter().map(|output| output.id.clone()), die >> 3)?;
        Some(OutputEnd { node, socket })
    };
    let input = |die: u16| {
        let node = node(die)?;
        let sockets = document.sockets(&graph, &node, registry)?;
        let inputs = sockets.inputs().iter().map(|input| input.id.clone());
        let all: Vec<_> = inputs.chain(sockets.knobs().iter().map(|knob| (&knob.id).into())).collect();
        Some(InputEnd { node, socket: pick(all.into_iter(), die >> 3)? })
    };
    let knob = |die: u16| {
        let node = node(die)?;
        let sockets = document.sockets(&graph, &node, registry)?;
        let spec = pick(sockets.knobs().iter().cloned(), die >> 3)?;
        Some((node, spec))
    };
    let place = [f32::from(*c) / 7.0, *number as f32];
    Some(match kind {
        0..=3 => {
            let types = ["test.number", "test.fold", "test.write"];
            let kind = match pick(ids.iter().cloned(), *c) {
                Some(group) if *d % 4 == 0 => NodeKind::Group(group),
                _ => NodeKind::Type { id: pick(types.iter().copied(), *b)?.into(), revision: 0 },
            };
            let node = Node { kind, ..Node::new("any", 0, place) };
            Edit::AddNode { id: content.fresh_node_id("n"), graph, node: Arc::new(node) }
        }
        4 => Edit::RemoveNodes { nodes: vec![node(*b)?], graph },
        5 => Edit::MoveNodes { to: some().into_iter().map(|id| (id, place)).collect(), graph },
        6 | 7 => {
            let (node, spec) = knob(*b)?;
            let value = match spec.default {
                _ if d % 5 == 0 => None,
                KnobValue::Number(_) => Some(KnobValue::Number(*number)),
                KnobValue::Text(_) => Some(KnobValue::Text(text.as_str().into())),
                KnobValue::Choice(_) => Some(KnobValue::Choice(pick(["add", "multiply"].into_iter(), *c)?.into())),
                _ => return None,
            };
            Edit::SetKnob { graph, node, knob: spec.id, value }
        }
        8 => Edit::Relabel { node: node(*b)?, graph, label: text.as_str().into() },
        9 => Edit::SetMuted { nodes: some(), graph, muted: d % 2 == 0 },
        10..=13 => Edit::Connect { from: output(*b)?, to: input(*c)?, graph },
        14 => {
            let (from, to) = content.all_wires().nth(usize::from(*b) % content.all_wires().count().max(1))?;
            Edit::Disconnect { from: from.clone(), to: to.clone(), graph }
        }
        15 => Edit::SetWires { to: input(*b)?, from: vec![output(*c)?, output(*d)?], graph },
        16 => {
            let id = pick([FrameId::from("f1"), "f2".into()].into_iter(), *b)?;
            let frame = Frame {
                title: text.as_str().into(),
                text: "".into(),
                area: [place[0], place[1], 9.0, 0.1],
                colour: [*b as u8, *c as u8, *d as u8],
            };
            Edit::SetFrame { graph, id, frame: (d % 3 != 0).then(|| Arc::new(frame)) }
        }
        17 => {
            let end = input(*b)?;
            let input = GraphInput { label: text.as_str().into(), help: "".into(), targets: vec![end] };
            let id = pick(["in1", "in2", "first"].into_iter(), *c)?.into();
            Edit::PromoteInput { graph, id, input: (d % 3 != 0).then(|| Arc::new(input)) }
        }
        18 => {
            let (node, spec) = knob(*b)?;
            let knob = GraphKnob { label: text.as_str().into(), targets: vec![(node, spec.id)] };
            let id = pick(["k1", "k2", "how"].into_iter(), *c)?.into();
            Edit::PromoteKnob { graph, id, knob: (d % 3 != 0).then(|| Arc::new(knob)) }
        }
        19 => {
            let output = GraphOutput { label: "Out".into(), help: text.as_str().into(), source: output(*b)? };
            let id = pick(["out1", "total"].into_iter(), *c)?.into();
            Edit::PromoteOutput { graph, id, output: (d % 3 != 0).then(|| Arc::new(output)) }
        }
        20 => Edit::Group {
            nodes: some(),
            into: document.fresh_graph_id("g"),
            node: content.fresh_node_id("g"),
            label: text.as_str().into(),
            graph,
        },
        21 => Edit::Ungroup { node: node(*b)?, graph },
        22 => {
            Fragment::copy(document, &graph, &some(), &[])
                .paste(document, &pick(ids.into_iter(), *b)?, place)
                .ok()?
                .edit
        }
        _ => Edit::Many(vec![
            Edit::Describe { graph: graph.clone(), label: text.as_str().into(), help: "h".into() },
            Edit::Connect { from: output(*b)?, to: input(*c)?, graph },
        ]),
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 200 } else { 2000 }))]

    #[test]
    fn undoing_and_redoing_everything_gives_the_same_bytes(all in prop::collection::vec(dice(), 1..60)) {
        let registry = registry();
        let start = file::load(SAMPLE, &registry).unwrap().document;
        let mut document = start.clone();
        let mut history = History::new();
        let mut states = vec![file::save(&document, &registry)];
        for dice in &all {
            let Some(edit) = edit(&document, &registry, dice) else { continue };
            let before = document.clone();
            match history.apply(&mut document, &edit, &registry) {
                Ok(true) => states.push(file::save(&document, &registry)),
                Ok(false) | Err(_) => prop_assert_eq!(&document, &before),
            }
        }
        prop_assert_eq!(history.position() + 1, states.len());
        // Edits make no document that a file could not hold, and none with faults.
        let end = document.clone();
        let loaded = file::load(states.last().unwrap(), &registry).unwrap();
        prop_assert_eq!(&loaded.document, &end);
        prop_assert_eq!(loaded.problems, vec![]);
        for state in states.iter().rev().skip(1) {
            history.undo(&mut document, &registry).unwrap();
            prop_assert_eq!(&file::save(&document, &registry), state);
        }
        prop_assert_eq!(&document, &start);
        for state in &states[1..] {
            history.redo(&mut document, &registry).unwrap();
            prop_assert_eq!(&file::save(&document, &registry), state);
        }
        prop_assert_eq!(document, end);
    }

    #[test]
    fn a_damaged_file_is_an_error_or_a_document_and_never_a_panic(
        which in any::<bool>(),
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
        cut in any::<bool>(),
    ) {
        let mut bytes = if which { SAMPLE } else { PLACEHOLDER }.as_bytes().to_vec();
        let at = at.index(bytes.len());
        if cut { bytes.truncate(at) } else { bytes[at] = byte }
        if let Ok(loaded) = file::load(&String::from_utf8_lossy(&bytes), &registry()) {
            let saved = file::save(&loaded.document, &registry());
            let again = file::load(&saved, &registry()).unwrap();
            prop_assert_eq!(&again.document, &loaded.document);
            prop_assert_eq!(file::save(&again.document, &registry()), saved);
        }
    }

    #[test]
    fn any_text_and_number_comes_back_from_a_file(text in any::<String>(), number in any::<f64>(), x in any::<f32>()) {
        prop_assume!(number.is_finite() && x.is_finite());
        let mut document = Document::new();
        let mut node = Node::new("acme.any", 3, [x, -0.0]);
        node.saved = Some(Arc::default());
        node.label = text.as_str().into();
        node.knobs.insert("text".into(), KnobValue::Text(text.as_str().into()));
        node.knobs.insert("number".into(), KnobValue::Number(number));
        node.knobs.insert("vector".into(), KnobValue::Vector([number, -number, 0.0]));
        let add = Edit::AddNode { graph: "main".into(), id: "ünï🦊".into(), node: Arc::new(node) };
        document.apply(&add, &registry()).unwrap();
        let saved = file::save(&document, &registry());
        let loaded = file::load(&saved, &registry()).unwrap().document;
        prop_assert_eq!(&loaded, &document);
        prop_assert_eq!(file::save(&loaded, &registry()), saved);
    }
}

#[test]
fn deep_nesting_is_an_error_and_not_a_crash() {
    for open in ["(", "[", "{", "(main:", "Some("] {
        let text = format!("// sinew graph 1\n{}", open.repeat(200_000));
        assert!(file::load(&text, &registry()).is_err());
    }
}

#[test]
fn groups_in_groups_open_in_time_that_grows_with_their_number() {
    // Every level shows three sockets of the one within: following all of them at every level would never end.
    let mut text = String::from("// sinew graph 1\n(main: \"g0\", graphs: {\n");
    for level in 0..60 {
        let inner = level + 1;
        text += &format!(
            "\"g{level}\": (inputs: {{\"first\": (to: [\"n.first\"]), \"others\": (to: [\"n.others\"])}}, \
             knobs: {{\"rule\": (to: [\"n.rule\"])}}, outputs: {{\"number\": (from: \"n.number\")}}, \
             nodes: {{\"n\": (group: \"g{inner}\", at: (0, 0))}}),\n"
        );
    }
    text += "\"g60\": (inputs: {\"first\": (to: [\"n.first\"]), \"others\": (to: [\"n.others\"])}, \
             knobs: {\"rule\": (to: [\"n.rule\"])}, outputs: {\"number\": (from: \"n.number\")}, \
             nodes: {\"n\": (type: \"test.fold\", at: (0, 0))})\n})";
    let loaded = file::load(&text, &registry()).unwrap();
    assert_eq!(loaded.problems, []);
    let outermost = loaded.document.group_sockets(&loaded.document.graphs["g0"], &registry());
    assert_eq!(outermost.inputs[0].socket_type.label(), "Number");
    assert_eq!(outermost.knobs[0].default, KnobValue::Choice("add".into()));
    assert_eq!(outermost.outputs[0].socket_type.label(), "Number");
}
