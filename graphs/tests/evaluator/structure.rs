//! Groups, muted nodes, driven knobs, and documents that are not in order.

use std::sync::Arc;

use sinew_graph::document::{Graph, GraphInput, GraphKnob, GraphOutput, InputEnd, Node, NodeKind, OutputEnd};
use sinew_graph::evaluate::{NodePath, NodeState, OutputPath, Request};
use sinew_graph::knob::KnobValue;

use crate::kit::*;

fn group_node(group: &str) -> Arc<Node> {
    Arc::new(Node { kind: NodeKind::Group(group.into()), ..Node::new("x", 1, [0.0; 2]) })
}

fn end(node: &str, socket: &str) -> InputEnd {
    InputEnd { node: node.into(), socket: socket.into() }
}

fn start(node: &str, socket: &str) -> OutputEnd {
    OutputEnd { node: node.into(), socket: socket.into() }
}

/// A group `add`: `inner` adds `offset` (a promoted knob) to its input, by default 5 from a number inside.
fn add_group() -> Graph {
    let inside = Doc::default()
        .add("five", "test.number")
        .num("five", "value", 5.0)
        .add("inner", "test.sum")
        .wire(&["five"], ("inner", "inputs"));
    let mut graph = inside.0.main_graph().unwrap().clone();
    let (label, help) = ("".into(), "".into());
    graph.inputs.insert("in".into(), Arc::new(GraphInput { label, help, targets: vec![end("inner", "inputs")] }));
    graph.knobs.insert(
        "by".into(),
        Arc::new(GraphKnob { label: "".into(), targets: vec![("inner".into(), "offset".into())] }),
    );
    graph.outputs.insert(
        "sum".into(),
        Arc::new(GraphOutput { label: "".into(), help: "".into(), source: start("inner", "number") }),
    );
    graph
}

fn with_groups(mut doc: Doc, groups: &[(&str, Graph)], nodes: &[(&str, &str)]) -> Doc {
    for (id, graph) in groups {
        doc.0.graphs.insert((*id).into(), graph.clone());
    }
    for (id, group) in nodes {
        doc.main().nodes.insert((*id).into(), group_node(group));
    }
    doc
}

#[test]
fn a_group_computes_with_what_is_given_and_else_with_what_is_inside() {
    let (registry, counts) = registry(vec![]);
    let evaluator = evaluator(&registry, 2);
    let doc = with_groups(Doc::default(), &[("add", add_group())], &[("g", "add"), ("h", "add")])
        .add("n", "test.number")
        .num("n", "value", 10.0)
        .wire(&["n"], ("g", "in"))
        .num("g", "by", 2.0);
    let evaluation = evaluator.evaluate(doc.ask(&["g.sum", "h.sum"]));
    assert_eq!((value(&evaluation, "g.sum"), value(&evaluation, "h.sum")), (12.0, 6.0));
    // The inside of a group can be looked at on its own.
    let inner = OutputPath::new("g/inner", "number");
    let inside = evaluator.evaluate(Request::new(doc.0.clone()).ask([inner.clone()]));
    assert_eq!(inside.value(&inner).unwrap().get::<sinew_graph::basic::Number>().unwrap().0, 12.0);
    let before = runs(&counts);
    // A knob of the group, a wire into it, an edit inside it: each follows.
    let doc = doc.num("g", "by", 3.0);
    assert_eq!(value(&evaluator.evaluate(doc.ask(&["g.sum"])), "g.sum"), 13.0);
    let mut edited = doc.clone();
    let five =
        Doc::default().add("five", "test.number").num("five", "value", 6.0).0.main_graph().unwrap().nodes["five"]
            .clone();
    edited.0.graphs.get_mut("add").unwrap().nodes.insert("five".into(), five);
    let evaluation = evaluator.evaluate(edited.ask(&["g.sum", "h.sum"]));
    assert_eq!((value(&evaluation, "g.sum"), value(&evaluation, "h.sum")), (13.0, 7.0));
    let mut unwired = edited.clone();
    unwired.main().wires.remove(&end("g", "in"));
    assert_eq!(value(&evaluator.evaluate(unwired.ask(&["g.sum"])), "g.sum"), 9.0);
    assert_eq!(runs(&counts) - before, 1 + 2 + 1);
}

#[test]
fn a_group_in_a_group_passes_inputs_and_knobs_down() {
    let (registry, _) = registry(vec![]);
    let evaluator = evaluator(&registry, 2);
    let mut outer = Graph::default();
    outer.nodes.insert("g".into(), group_node("add"));
    let (label, help) = ("".into(), "".into());
    outer.inputs.insert("x".into(), Arc::new(GraphInput { label, help, targets: vec![end("g", "in")] }));
    outer.knobs.insert("k".into(), Arc::new(GraphKnob { label: "".into(), targets: vec![("g".into(), "by".into())] }));
    let source = start("g", "sum");
    outer.outputs.insert("y".into(), Arc::new(GraphOutput { label: "".into(), help: "".into(), source }));
    let doc = with_groups(Doc::default(), &[("add", add_group()), ("outer", outer)], &[("o", "outer")]);
    assert_eq!(value(&evaluator.evaluate(doc.ask(&["o.y"])), "o.y"), 6.0);
    let doc = doc.add("n", "test.number").num("n", "value", 10.0).wire(&["n"], ("o", "x")).num("o", "k", 0.5);
    assert_eq!(value(&evaluator.evaluate(doc.ask(&["o.y"])), "o.y"), 10.5);
    let driven = doc.wire(&["n"], ("o", "k"));
    let evaluation = evaluator.evaluate(driven.ask(&["o.y"]));
    assert_eq!(value(&evaluation, "o.y"), 20.0);
    assert!(evaluation.nodes.contains_key(&NodePath::from("o/g/inner")));
}

#[test]
fn a_group_that_contains_itself_is_an_error_and_no_hang() {
    let (registry, _) = registry(vec![]);
    let evaluator = evaluator(&registry, 2);
    let mut group = add_group();
    group.nodes.insert("again".into(), group_node("add"));
    group.wires.insert(end("inner", "inputs"), Arc::from([start("again", "sum")]));
    let doc = with_groups(chain(2), &[("add", group)], &[("g", "add")]);
    let evaluation = evaluator.evaluate(doc.ask(&["g.sum", "n1"]));
    let error = evaluation.value(&out("g.sum")).unwrap_err().to_string();
    assert!(error.contains("g/again") && error.contains("contains itself"), "{error}");
    assert_eq!(value(&evaluation, "n1"), 1.0);
}

#[test]
fn a_muted_node_passes_its_input_through_without_running() {
    let (registry, counts) = registry(vec![]);
    let evaluator = evaluator(&registry, 2);
    let doc = chain(4).num("n0", "value", 3.0);
    let muted = doc.clone().mute("n1", true).mute("n2", true);
    assert_eq!(value(&evaluator.evaluate(muted.ask(&["n3"])), "n3"), 4.0);
    assert_eq!(runs(&counts), 2);
    assert_eq!(value(&evaluator.evaluate(muted.ask(&["n2"])), "n2"), 3.0);
    assert_eq!(value(&evaluator.evaluate(doc.ask(&["n3"])), "n3"), 6.0);
    assert_eq!(value(&evaluator.evaluate(muted.ask(&["n3", "n1"])), "n3"), 4.0);
    // The muted chain's last node is the other one's second by recipe: it does not run again.
    assert_eq!(runs(&counts), 4);
    let alone = Doc::default().add("a", "test.sum").mute("a", true);
    assert!(evaluator.evaluate(alone.ask(&["a"])).value(&out("a")).unwrap_err().to_string().contains("muted"));
}

#[test]
fn a_driven_knob_takes_what_fits() {
    let (registry, _) = registry(vec![]);
    let evaluator = evaluator(&registry, 2);
    let doc = chain(2).add("by", "test.integer").set("by", "value", KnobValue::Integer(7));
    let doc = doc.wire(&["by.integer"], ("n1", "offset"));
    assert_eq!(value(&evaluator.evaluate(doc.ask(&["n1"])), "n1"), 7.0);
    let doc = doc.set("by", "value", KnobValue::Integer(8));
    assert_eq!(value(&evaluator.evaluate(doc.ask(&["n1"])), "n1"), 8.0);
    // A number that is not whole does not fit a whole knob, and the error names the knob.
    let doc = doc.num("n0", "value", 0.5).wire(&["n0"], ("by", "value"));
    let error = evaluator.evaluate(doc.ask(&["by.integer"])).value(&out("by.integer")).unwrap_err().to_string();
    assert!(error.contains("value: the wire brings what does not fit: 0.5 is not a whole number"), "{error}");
    let error = evaluator.evaluate(chain(2).num("n1", "offset", 1e12).ask(&["n1"])).value(&out("n1")).unwrap_err();
    assert!(error.to_string().contains("offset: 1000000000000 is outside"), "{error}");
}

#[test]
fn an_unknown_type_fails_by_name_and_blocks_what_hangs_on_it() {
    let (registry, _) = registry(vec![]);
    let evaluator = evaluator(&registry, 2);
    let doc = chain(3).add("p", "plugin.thing").add("q", "test.sum").wire(&["p.whatever", "n1"], ("q", "inputs"));
    let evaluation = evaluator.evaluate(doc.ask(&["q", "n2"]));
    assert_eq!(value(&evaluation, "n2"), 2.0);
    let error = evaluation.value(&out("q")).unwrap_err().to_string();
    assert!(error.contains("q is blocked by p") && error.contains("plugin.thing is not known"), "{error}");
    let lost = chain(2).wire(&["nobody"], ("n1", "inputs"));
    let error = evaluator.evaluate(lost.ask(&["n1"])).value(&out("n1")).unwrap_err().to_string();
    assert!(error.contains("nobody, which does not exist"), "{error}");
    let none = evaluator.evaluate(chain(2).ask(&["n7"]));
    assert!(none.value(&out("n7")).unwrap_err().to_string().contains("there is no node n7"));
}

#[test]
fn a_circle_is_an_error_and_no_hang_and_opens_again() {
    let (registry, _) = registry(vec![]);
    let evaluator = evaluator(&registry, 2);
    let doc = chain(4);
    let circle = doc.clone().wire(&["n0", "n3"], ("n1", "inputs"));
    for start_with_circle in [true, false] {
        if !start_with_circle {
            assert_eq!(value(&evaluator.evaluate(doc.ask(&["n3"])), "n3"), 3.0);
        }
        let evaluation = evaluator.evaluate(circle.ask(&["n3", "n0"]));
        assert_eq!(value(&evaluation, "n0"), 0.0);
        let error = evaluation.value(&out("n3")).unwrap_err().to_string();
        assert!(error.contains("closes a circle"), "{error}");
        assert_eq!(value(&evaluator.evaluate(doc.ask(&["n3"])), "n3"), 3.0);
    }
}

#[test]
fn nodes_come_and_go() {
    let (registry, _) = registry(vec![]);
    let evaluator = evaluator(&registry, 2);
    let events = evaluator.events();
    let doc = chain(3);
    assert_eq!(value(&evaluator.evaluate(doc.ask(&["n2"])), "n2"), 2.0);
    let mut without = doc.clone();
    without.main().nodes.remove("n1");
    let evaluation = evaluator.evaluate(without.ask(&["n2"]));
    assert!(matches!(evaluation.nodes[&"n2".into()].state, NodeState::Failed(_)));
    let with = without.add("x", "test.number").num("x", "value", 4.0).wire(&["x"], ("n2", "inputs"));
    assert_eq!(value(&evaluator.evaluate(with.ask(&["n2"])), "n2"), 5.0);
    assert_eq!(value(&evaluator.evaluate(doc.ask(&["n2"])), "n2"), 2.0);
    // Another type in the place of a node: what hangs on it looks its output up anew.
    let mut retyped = doc.clone();
    retyped.main().nodes.insert("n1".into(), Arc::new(Node::new("test.integer", 1, [0.0; 2])));
    let error = evaluator.evaluate(retyped.ask(&["n2"])).value(&out("n2")).unwrap_err().to_string();
    assert!(error.contains("n1.number, which does not exist"), "{error}");
    events.try_iter().for_each(drop);
    let paths: Vec<String> = evaluator.status().nodes.keys().map(ToString::to_string).collect();
    assert_eq!(paths, ["n0", "n1", "n2"]);
}
