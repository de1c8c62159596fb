//! What a document promises: files that version control can read, edits that can be undone exactly.

#![allow(clippy::unwrap_used, reason = "a helper of tests fails as a test does")]

mod nodes;

use std::sync::Arc;

use nodes::registry;
use sinew_graph::document::{Document, Graph, GraphInput, GraphOutput, InputEnd, Node, NodeKind, OutputEnd, Severity};
use sinew_graph::edit::{Edit, EditError};
use sinew_graph::file::{self, Fragment, LoadError};
use sinew_graph::history::History;
use sinew_graph::knob::KnobValue;
use sinew_graph::registry::{Registry, SavedNode};
use sinew_graph::{GraphId, NodeId};

const SAMPLE: &str = include_str!("graphs/sample.ron");
const PLACEHOLDER: &str = include_str!("graphs/placeholder.ron");

fn sample() -> Document {
    let loaded = file::load(SAMPLE, &registry()).unwrap();
    assert_eq!(loaded.problems, []);
    loaded.document
}

fn main() -> GraphId {
    "main".into()
}

fn from(text: &str) -> OutputEnd {
    let (node, socket) = text.split_once('.').unwrap();
    OutputEnd { node: node.into(), socket: socket.into() }
}

fn to(text: &str) -> InputEnd {
    let (node, socket) = text.split_once('.').unwrap();
    InputEnd { node: node.into(), socket: socket.into() }
}

fn connect(a: &str, b: &str) -> Edit {
    Edit::Connect { graph: main(), from: from(a), to: to(b) }
}

fn set_value(node: &str, value: Option<KnobValue>) -> Edit {
    Edit::SetKnob { graph: main(), node: node.into(), knob: "value".into(), value }
}

fn add(id: &str, node_type: &str) -> Edit {
    Edit::AddNode { graph: main(), id: id.into(), node: Arc::new(Node::new(node_type, 0, [0.0, 0.0])) }
}

/// Applies an edit, checks that its inverse restores the document to the byte, and leaves it applied.
fn make(document: &mut Document, edit: &Edit) {
    let registry = registry();
    let before = document.clone();
    let inverse = document.apply(edit, &registry).unwrap_or_else(|error| panic!("{edit:?}: {error}"));
    let after = document.clone();
    let redo = document.apply(&inverse, &registry).unwrap();
    assert_eq!(*document, before, "{edit:?}");
    assert_eq!(file::save(document, &registry), file::save(&before, &registry), "{edit:?}");
    document.apply(&redo, &registry).unwrap();
    assert_eq!(*document, after, "{edit:?}");
}

/// Applies an edit that must be refused, checks that nothing changed, and gives the reason.
fn refused(document: &Document, edit: &Edit) -> String {
    let mut touched = document.clone();
    let error = touched.apply(edit, &registry()).expect_err("the edit was made");
    assert_eq!(touched, *document);
    error.to_string()
}

#[test]
fn a_saved_file_loads_and_saves_as_the_same_bytes() {
    assert_eq!(file::save(&sample(), &registry()), SAMPLE);
}

#[test]
fn one_knob_changes_exactly_one_line() {
    let mut document = sample();
    make(&mut document, &set_value("b", Some(KnobValue::Number(0.25))));
    let saved = file::save(&document, &registry());
    let changed: Vec<(&str, &str)> = SAMPLE.lines().zip(saved.lines()).filter(|(old, new)| old != new).collect();
    assert_eq!(SAMPLE.lines().count(), saved.lines().count());
    assert_eq!(
        changed,
        [(
            r#"        "b": (type: "test.number", revision: 1, at: (0, 80.5), label: "Second", knobs: {"value": Number(1e-6)}),"#,
            r#"        "b": (type: "test.number", revision: 1, at: (0, 80.5), label: "Second", knobs: {"value": Number(0.25)}),"#,
        )]
    );
}

#[test]
fn a_new_wire_adds_exactly_one_line() {
    let mut document = sample();
    make(&mut document, &connect("b.number", "write.number"));
    let saved = file::save(&document, &registry());
    let new: Vec<&str> = saved.lines().filter(|line| !SAMPLE.contains(line)).collect();
    // The input takes one wire, so that the old one makes way.
    assert_eq!(new, [r#"        "b.number -> write.number","#]);
    assert_eq!(saved.lines().count(), SAMPLE.lines().count());
}

#[test]
fn a_node_of_an_unknown_type_saves_back_as_the_same_bytes() {
    let loaded = file::load(PLACEHOLDER, &registry()).unwrap();
    assert_eq!(file::save(&loaded.document, &registry()), PLACEHOLDER);
    let told: Vec<String> = loaded.problems.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "main/bend: no node type is called acme.bend: the node is kept as it is but does not run; \
         install the plugin that brings it, or replace the node",
            "main/bend2: no node type is called acme.bend: the node is kept as it is but does not run; \
         install the plugin that brings it, or replace the node",
            "main/write: a wire ends at its input \"gone\", which it does not have; \
         connect another input, or disconnect the wire",
        ]
    );
    let sockets = loaded.document.sockets(&main(), &"bend".into(), &registry()).unwrap();
    assert!(sockets.is_placeholder());
    assert_eq!(sockets.input("mesh").unwrap().socket_type.label(), "Any");
    assert_eq!(sockets.input("amount_from").unwrap().socket_type.label(), "Number");
    assert_eq!(sockets.output("number").unwrap().socket_type.label(), "Number");
}

#[test]
fn a_placeholder_can_be_edited_and_undone() {
    let mut document = file::load(PLACEHOLDER, &registry()).unwrap().document;
    make(&mut document, &connect("bend.number", "write.number"));
    make(&mut document, &Edit::RemoveNodes { graph: main(), nodes: vec!["bend".into(), "write".into()] });
    assert!(!file::save(&document, &registry()).contains("gone"));
}

#[test]
fn a_placeholder_becomes_a_node_when_its_type_comes() {
    let mut document = file::load(SAMPLE, &Registry::default()).unwrap().document;
    assert_eq!(file::save(&document, &Registry::default()), SAMPLE);
    document.resolve(&registry());
    assert_eq!(document, sample());
}

fn upgrade(from: u32, saved: &mut SavedNode) {
    assert_eq!(from, 1);
    saved.renamed_inputs.insert("head".into(), "first".into());
    saved.renamed_outputs.insert("total".into(), "number".into());
    if let Some(KnobValue::Toggle(product)) = saved.knobs.remove("product") {
        let rule = if product { "multiply" } else { "add" };
        saved.knobs.insert("rule".into(), KnobValue::Choice(rule.into()));
    }
}

#[test]
fn a_renamed_and_revised_node_is_brought_up_to_date_with_its_wires() {
    let mut registry = Registry::default();
    for node_type in nodes::registry().nodes() {
        let mut node_type = (**node_type).clone();
        if node_type.id == "test.fold" {
            node_type.upgrade = Some(upgrade);
        }
        registry.add(node_type).unwrap();
    }
    registry.rename("test.reduce", "test.fold");
    let old = r#"// sinew graph 1
(
  main: "main",
  graphs: {
    "main": (
      inputs: {"in": (label: "In", to: ["fold.head"])},
      outputs: {"out": (label: "Out", from: "fold.total")},
      nodes: {
        "a": (type: "test.number", revision: 1, at: (0, 0)),
        "fold": (type: "test.reduce", revision: 1, at: (0, 0), knobs: {"product": Toggle(true)}),
        "write": (type: "test.write", revision: 1, at: (0, 0)),
      },
      wires: ["a.number -> fold.head", "fold.total -> write.number"],
    ),
  },
)
"#;
    let loaded = file::load(old, &registry).unwrap();
    let graph = &loaded.document.graphs["main"];
    let node = &graph.nodes["fold"];
    assert_eq!(node.kind, NodeKind::Type { id: "test.fold".into(), revision: 2 });
    assert_eq!(node.knobs.get("rule"), Some(&KnobValue::Choice("multiply".into())));
    assert_eq!(node.knobs.len(), 1);
    assert_eq!(graph.sources(&to("fold.first")), [from("a.number")]);
    assert_eq!(graph.sources(&to("write.number")), [from("fold.number")]);
    assert_eq!(graph.inputs["in"].targets, [to("fold.first")]);
    assert_eq!(graph.outputs["out"].source, from("fold.number"));
    let told: Vec<(Severity, String)> = loaded.problems.iter().map(|p| (p.severity, p.to_string())).collect();
    assert_eq!(
        told,
        [
            (Severity::Notice, "main/fold: test.reduce is called test.fold now".into()),
            (Severity::Notice, "main/fold: test.fold was brought from revision 1 to 2: results may differ".into()),
        ]
    );
    let saved = file::save(&loaded.document, &registry);
    assert_eq!(file::load(&saved, &registry).unwrap().problems, []);
}

#[test]
fn a_bad_file_is_refused_with_line_and_reason() {
    let registry = registry();
    let error = |text: &str| file::load(text, &registry).unwrap_err().to_string();
    let with = |old: &str, new: &str| {
        assert!(SAMPLE.contains(old), "{old}");
        error(&SAMPLE.replacen(old, new, 1))
    };
    assert_eq!(error("{}"), "this is not a Sinew graph: the first line must be \"// sinew graph 1\", but it is \"{}\"");
    assert_eq!(
        with("graph 1", "graph 2"),
        "the file has format 2, and this program reads up to 1: open it with a newer Sinew"
    );
    assert!(with("graph 1", "graph 0").contains("open and save it with an older Sinew"));
    let twice = with("\"b\": (type", "\"a\": (type");
    assert!(twice.starts_with("line 10, column "), "{twice}");
    assert!(twice.ends_with("the node \"a\" is there twice: rename or remove one"), "{twice}");
    let wire = with("a.number -> sum.first", "a.number sum.first");
    assert!(wire.starts_with("line 15, column "), "{wire}");
    assert!(
        wire.ends_with("\"a.number sum.first\" is not a wire: write it as \"node.output -> node.input\""),
        "{wire}"
    );
    assert!(with("muted: true", "mutde: true").contains("mutde"));
    assert!(with("(group: \"sum\",", "(").contains("neither type nor group"));
    assert!(with("at: (440, -20)", "at: (inf, -20)").contains("not a finite number"));
    assert!(with("main: \"main\"", "main: \"other\"").contains("\"other\" is not among the graphs"));
    assert!(with("\"write\": (", "\"wr ite\": (").contains("without spaces"));
}

#[test]
fn a_file_with_circles_opens_and_tells_them() {
    let text = SAMPLE
        .replace("\"b.number -> sum.others\",", "\"b.number -> sum.others\",\n        \"sum.total -> sum.others\",")
        .replace("(type: \"test.fold\", revision: 2, at: (0, 0))", "(group: \"sum\", at: (0, 0))");
    let problems = file::load(&text, &registry()).unwrap().problems;
    let told: Vec<String> = problems.iter().map(ToString::to_string).collect();
    assert!(told.contains(&"main: the wires go in a circle: sum; remove one of its wires".to_owned()), "{told:#?}");
    assert!(told.contains(&"sum/fold: the group holds itself: sum -> sum; remove the node".to_owned()), "{told:#?}");
}

#[test]
fn an_edit_is_refused_with_the_reason_and_changes_nothing() {
    let document = sample();
    let reason = |edit: Edit| refused(&document, &edit);
    assert_eq!(reason(add("a", "test.number")), "\"a\" is taken by another node: choose another id");
    assert_eq!(reason(add("c", "test.none")), "no node type is called test.none: install the plugin that brings it");
    assert_eq!(
        reason(add("c.d", "test.number")),
        "\"c.d\" has a dot: a node id is a word without dots, such as \"weld2\""
    );
    assert_eq!(reason(set_value("a", Some(KnobValue::Number(101.0)))), "a.value: 101 is outside -100 to 100");
    assert_eq!(
        reason(Edit::SetKnob { graph: main(), node: "a".into(), knob: "size".into(), value: None }),
        "\"a\" has no knob called \"size\": it has value"
    );
    assert_eq!(reason(connect("a.number", "x.first")), "there is no node called \"x\" in \"main\"");
    assert_eq!(
        reason(connect("a.number", "sum.third")),
        "\"sum\" has no input called \"third\": it has first, others, how"
    );
    assert_eq!(reason(connect("a.text", "sum.first")), "\"a\" has no output called \"text\": it has number");
    assert_eq!(
        reason(connect("write.text", "sum.first")),
        "sum.first takes Number, and write.text gives Text: connect an output of a fitting type"
    );
    assert_eq!(reason(connect("a.number", "sum.first")), "a.number is connected to sum.first already");
    let many = Edit::Many(vec![
        add("fold", "test.fold"),
        connect("sum.total", "fold.first"),
        connect("fold.number", "sum.first"),
    ]);
    assert_eq!(reason(many), "a node cannot feed itself: the wire would close the circle sum -> fold");
    assert_eq!(
        reason(connect("sum.total", "sum.first")),
        "a node cannot feed itself: the wire would close the circle sum"
    );
    let inside = Edit::AddNode {
        graph: "sum".into(),
        id: "again".into(),
        node: Arc::new(Node { kind: NodeKind::Group(main()), ..Node::new("x", 1, [0.0, 0.0]) }),
    };
    assert_eq!(reason(inside), "a group cannot hold itself: sum -> main -> sum");
    assert_eq!(
        reason(Edit::RemoveGraph { id: "sum".into() }),
        "\"sum\" is used by \"sum\" in \"main\": remove or ungroup that node first"
    );
    let nowhere = Edit::MoveNodes { graph: main(), to: vec![("a".into(), [f32::NAN, 0.0])] };
    assert_eq!(reason(nowhere), "\"a\" has no place on the canvas: its numbers must be finite");
}

#[test]
fn a_knob_at_its_default_is_not_stored() {
    let mut document = sample();
    make(&mut document, &set_value("a", Some(KnobValue::Number(0.0))));
    assert!(document.graphs["main"].nodes["a"].knobs.is_empty());
    make(&mut document, &set_value("b", None));
    assert!(document.graphs["main"].nodes["b"].knobs.is_empty());
}

#[test]
fn hiding_a_socket_takes_the_wires_outside_along_and_undo_brings_them_back() {
    let mut document = sample();
    make(&mut document, &Edit::RemoveNodes { graph: "sum".into(), nodes: vec!["fold".into()] });
    let graph = &document.graphs["main"];
    assert!(graph.wires.is_empty());
    assert!(graph.nodes["sum"].knobs.is_empty());
    let group = &document.graphs["sum"];
    assert!(group.inputs.is_empty() && group.outputs.is_empty() && group.knobs.is_empty());
}

#[test]
fn a_group_keeps_what_the_nodes_computed_and_ungrouping_gives_them_back() {
    let mut document = sample();
    make(&mut document, &Edit::Ungroup { graph: main(), node: "sum".into() });
    assert!(!document.graphs.contains_key("sum"));
    let flat = document.graphs["main"].clone();
    assert_eq!(flat.nodes["fold"].knobs.get("rule"), Some(&KnobValue::Choice("multiply".into())));
    assert_eq!(flat.nodes["fold"].position, [220.0, 0.0]);
    assert_eq!(flat.sources(&to("fold.others")), [from("b.number"), from("a.number")]);
    assert_eq!(flat.sources(&to("write.number")), [from("fold.number")]);

    let group = Edit::Group {
        graph: main(),
        nodes: vec!["fold".into(), "b".into()],
        into: "pair".into(),
        node: "pair".into(),
        label: "Pair".into(),
    };
    assert_eq!(
        refused(&document, &group),
        "wires into fold.others come from both inside and outside: group those nodes as well"
    );
    make(&mut document, &Edit::Disconnect { graph: main(), from: from("a.number"), to: to("fold.others") });
    let flat = document.graphs["main"].clone();
    make(&mut document, &group);
    let outer = &document.graphs["main"];
    assert_eq!(outer.sources(&to("pair.first")), [from("a.number")]);
    assert_eq!(outer.sources(&to("write.number")), [from("pair.number")]);
    assert_eq!(document.graphs["pair"].sources(&to("fold.others")), [from("b.number")]);
    assert_eq!(document.problems(&registry()), []);
    make(&mut document, &Edit::Ungroup { graph: main(), node: "pair".into() });
    assert_eq!(document.graphs["main"].wires, flat.wires);
    assert_eq!(document.graphs["main"].nodes["fold"].knobs, flat.nodes["fold"].knobs);
}

#[test]
fn a_group_that_a_wire_leaves_and_enters_again_is_refused() {
    let mut document = sample();
    let nodes: Vec<NodeId> = vec!["a".into(), "write".into()];
    let group = |nodes| Edit::Group { graph: main(), nodes, into: "g".into(), node: "g".into(), label: "".into() };
    assert_eq!(
        refused(&document, &group(nodes)),
        "a node cannot feed itself: the wire would close the circle sum -> g"
    );
    make(&mut document, &group(vec!["sum".into(), "write".into()]));
    assert_eq!(document.problems(&registry()), []);
}

#[test]
fn what_a_graph_shows_outside_goes_on_through_a_group_of_its_nodes() {
    let mut document = sample();
    let before = document.group_sockets(&document.graphs["sum"], &registry());
    make(
        &mut document,
        &Edit::Group {
            graph: "sum".into(),
            nodes: vec!["fold".into()],
            into: "deep".into(),
            node: "deep".into(),
            label: "Deep".into(),
        },
    );
    assert_eq!(document.group_sockets(&document.graphs["sum"], &registry()), before);
    assert_eq!(document.problems(&registry()), []);
    make(&mut document, &Edit::Ungroup { graph: "sum".into(), node: "deep".into() });
    assert_eq!(document, sample());
}

#[test]
fn what_a_group_shows_is_checked() {
    let document = sample();
    let input = |targets: &[&str]| Edit::PromoteInput {
        graph: "sum".into(),
        id: "more".into(),
        input: Some(Arc::new(GraphInput {
            label: "More".into(),
            help: "".into(),
            targets: targets.iter().map(|end| to(end)).collect(),
        })),
    };
    assert_eq!(refused(&document, &input(&["fold.first"])), "fold.first is shown as the input \"first\" already");
    assert_eq!(refused(&document, &input(&["fold.rule"])), "fold.rule is shown as the knob \"how\" already");
    assert_eq!(refused(&document, &input(&[])), "there is no socket that the input \"more\" feeds: name one");
    let output = Edit::PromoteOutput {
        graph: "sum".into(),
        id: "total".into(),
        output: Some(Arc::new(GraphOutput { label: "T".into(), help: "".into(), source: from("fold.other") })),
    };
    assert_eq!(refused(&document, &output), "\"fold\" has no output called \"other\": it has number");
}

#[test]
fn one_gesture_is_one_step_and_previews_are_none() {
    let registry = registry();
    let mut document = sample();
    let mut history = History::new();
    let drag: Vec<Edit> =
        (1..=20).map(|k| Edit::MoveNodes { graph: main(), to: vec![("a".into(), [k as f32, 0.0])] }).collect();
    let previews: Vec<Document> = drag.iter().map(|edit| document.preview(edit, &registry).unwrap()).collect();
    assert_eq!(previews[19].graphs["main"].nodes["a"].position, [20.0, 0.0]);
    assert_eq!(document, sample());
    assert!(history.apply(&mut document, &drag[19], &registry).unwrap());
    assert!(!history.apply(&mut document, &drag[19], &registry).unwrap());
    let drop = Edit::Many(vec![add("c", "test.number"), connect("c.number", "write.number")]);
    history.apply(&mut document, &drop, &registry).unwrap();
    history.apply(&mut document, &connect("b.number", "write.number"), &registry).unwrap();
    assert_eq!(history.names().collect::<Vec<_>>(), ["Move a", "Add c", "Connect Second to write"]);
    assert_eq!(history.undo(&mut document, &registry).unwrap().as_deref(), Some("Connect Second to write"));
    assert_eq!((history.undo_name(), history.redo_name()), (Some("Add c"), Some("Connect Second to write")));
    let there = document.clone();
    history.jump(&mut document, 0, &registry).unwrap();
    assert_eq!(document, sample());
    history.jump(&mut document, 2, &registry).unwrap();
    assert_eq!(document, there);
}

#[test]
fn the_saved_mark_survives_undo_and_redo() {
    let registry = registry();
    let mut document = sample();
    let mut history = History::new();
    let value = |v: f64| set_value("a", Some(KnobValue::Number(v)));
    assert!(!history.is_dirty());
    history.apply(&mut document, &value(1.0), &registry).unwrap();
    assert!(history.is_dirty());
    history.mark_saved();
    history.apply(&mut document, &value(2.0), &registry).unwrap();
    assert!(history.is_dirty());
    history.undo(&mut document, &registry).unwrap();
    assert!(!history.is_dirty());
    history.undo(&mut document, &registry).unwrap();
    assert!(history.is_dirty());
    history.redo(&mut document, &registry).unwrap();
    assert!(!history.is_dirty());
    history.undo(&mut document, &registry).unwrap();
    history.apply(&mut document, &value(3.0), &registry).unwrap();
    history.undo(&mut document, &registry).unwrap();
    assert!(history.is_dirty(), "what was saved is on a branch that is gone");

    let mut short = History::new().with_limit(2);
    for v in [4.0, 5.0, 6.0] {
        short.apply(&mut document, &value(v), &registry).unwrap();
    }
    assert_eq!((short.names().len(), short.position()), (2, 2));
    short.jump(&mut document, 0, &registry).unwrap();
    assert_eq!(document.graphs["main"].nodes["a"].knobs.get("value"), Some(&KnobValue::Number(4.0)));
    assert!(short.is_dirty());
}

#[test]
fn a_step_does_not_undo_another_document() {
    let registry = registry();
    let mut document = sample();
    let undo = document.apply(&set_value("a", Some(KnobValue::Number(1.0))), &registry).unwrap();
    document.apply(&set_value("a", Some(KnobValue::Number(2.0))), &registry).unwrap();
    assert_eq!(refused(&document, &undo), EditError::Stale { graph: main() }.to_string());
}

#[test]
fn a_selection_is_pasted_from_text_with_fresh_ids_and_its_own_wires() {
    let registry = registry();
    let mut document = sample();
    let selection: Vec<NodeId> = vec!["b".into(), "sum".into()];
    let text = Fragment::copy(&document, &main(), &selection, &["note".into()]).to_text(&registry);
    let (fragment, problems) = Fragment::from_text(&text, &registry).unwrap();
    assert_eq!((fragment.len(), problems), (2, vec![]));
    let paste = fragment.paste(&document, &main(), [10.0, 20.0]).unwrap();
    assert_eq!(paste.nodes, [NodeId::from("b2"), NodeId::from("sum2")]);
    make(&mut document, &paste.edit);
    let graph = &document.graphs["main"];
    assert_eq!(graph.sources(&to("sum2.others")), [from("b2.number")]);
    assert_eq!(graph.sources(&to("sum2.first")), []);
    assert_eq!(graph.nodes["b2"].position, [10.0, 100.5]);
    assert_eq!(&*graph.nodes["b2"].label, "Second");
    // The group is the same graph, used twice.
    assert_eq!(document.graphs.len(), 2);
    assert_eq!(paste.edit.name(&document), "Paste 2 nodes");

    let mut other = Document::new();
    let paste = fragment.paste(&other, &main(), [0.0, 0.0]).unwrap();
    make(&mut other, &paste.edit);
    assert_eq!(other.graphs["sum"], document.graphs["sum"]);
    // A group of the same name that is another graph stays, and the pasted one gets another name.
    let mut changed = sample();
    make(&mut changed, &Edit::Describe { graph: "sum".into(), label: "Else".into(), help: "".into() });
    let paste = fragment.paste(&changed, &main(), [0.0, 0.0]).unwrap();
    make(&mut changed, &paste.edit);
    assert_eq!(changed.graphs["main"].nodes["sum2"].kind, NodeKind::Group("sum2".into()));
    assert_eq!(changed.problems(&registry), []);
}

#[test]
fn a_graph_in_a_file_of_another_kind_is_not_taken_for_one() {
    let error = file::load("// something else 1\n()", &registry()).unwrap_err();
    assert_eq!(error, LoadError::NotAGraph { first: "// something else 1".into() });
    let windows = SAMPLE.replace('\n', "\r\n");
    assert_eq!(file::load(&format!("\u{feff}{windows}"), &registry()).unwrap().document, sample());
}

#[test]
fn an_added_graph_must_not_go_in_circles() {
    let mut content = Graph::default();
    for id in ["x", "y"] {
        content.nodes.insert(id.into(), Arc::new(Node::new("test.fold", 2, [0.0, 0.0])));
    }
    content.wires.insert(to("x.first"), Arc::from([from("y.number")]));
    content.wires.insert(to("y.first"), Arc::from([from("x.number")]));
    let reason = refused(&sample(), &Edit::AddGraph { id: "loop".into(), content: Box::new(content) });
    assert!(reason.starts_with("a node cannot feed itself"), "{reason}");
}

#[test]
fn a_node_type_that_is_no_word_is_refused_where_it_stands() {
    let text = SAMPLE.replacen("type: \"test.number\"", "type: \"test number\"", 1);
    let error = file::load(&text, &registry()).unwrap_err().to_string();
    assert!(error.starts_with("line 9") && error.contains("one word"), "{error}");
}
