//! What is computed, what is not, and why.

use sinew_graph::evaluate::{Cause, NodeState, Unavailable};

use crate::kit::*;

#[test]
fn what_is_wanted_is_computed_and_nothing_else() {
    let (registry, counts) = registry(vec![]);
    let evaluator = evaluator(&registry, 2);
    let doc = chain(5).num("n0", "value", 2.0).add("aside", "test.number");
    let evaluation = evaluator.evaluate(doc.ask(&["n3"]));
    assert_eq!(value(&evaluation, "n3"), 5.0);
    assert_eq!((runs(&counts), evaluation.ran().len()), (4, 4));
}

#[test]
fn undo_shows_the_old_result_without_running_anything() {
    let (registry, counts) = registry(vec![]);
    let evaluator = evaluator(&registry, 2);
    let before = chain(20);
    let after = before.clone().num("n0", "value", 7.0);
    assert_eq!(value(&evaluator.evaluate(before.ask(&["n19"])), "n19"), 19.0);
    assert_eq!(value(&evaluator.evaluate(after.ask(&["n19"])), "n19"), 26.0);
    assert_eq!(runs(&counts), 40);
    let undone = evaluator.evaluate(before.ask(&["n19"]));
    assert_eq!((value(&undone, "n19"), undone.ran().len(), runs(&counts)), (19.0, 0, 40));
    let redone = evaluator.evaluate(after.ask(&["n19"]));
    assert_eq!((value(&redone, "n19"), runs(&counts)), (26.0, 40));
}

#[test]
fn an_explanation_names_the_knob_that_changed() {
    let (registry, _) = registry(vec![]);
    let evaluator = evaluator(&registry, 2);
    let doc = chain(3);
    let first = evaluator.evaluate(doc.ask(&["n2"]));
    assert_eq!(first.nodes[&"n1".into()].explanation.as_ref().unwrap().causes, [Cause::First]);
    let second = evaluator.evaluate(doc.num("n1", "offset", 1e-5).ask(&["n2"]));
    let why = |node: &str| second.nodes[&node.into()].explanation.as_ref().unwrap().to_string();
    assert_eq!(why("n1"), "ran because knob offset changed from 1 to 1e-5");
    assert_eq!(why("n2"), "ran because input inputs comes from n1, which changed");
    assert_eq!(second.ran().len(), 2);
}

#[test]
fn a_failure_belongs_to_its_node_and_all_else_computes() {
    let (registry, counts) = registry(vec![]);
    let evaluator = evaluator(&registry, 2);
    let doc = chain(3)
        .num("n0", "value", -4.0)
        .add("root", "test.root")
        .wire(&["n0"], ("root", "input"))
        .add("behind", "test.sum")
        .wire(&["root", "n2"], ("behind", "inputs"));
    let evaluation = evaluator.evaluate(doc.ask(&["behind", "n2", "root"]));
    assert_eq!(value(&evaluation, "n2"), -2.0);
    assert_eq!(evaluation.nodes[&"behind".into()].state, NodeState::Blocked("root".into()));
    let error = evaluation.value(&out("behind")).unwrap_err();
    assert_eq!(error.to_string(), "behind is blocked by root, which failed: input: it is negative");
    let before = runs(&counts);
    let again = evaluator.evaluate(doc.ask(&["root"]));
    assert!(matches!(again.value(&out("root")), Err(Unavailable::Failed { .. })));
    assert_eq!(runs(&counts), before, "a failure is known by its key");
    evaluator.evaluate(doc.ask(&["root"]).retry());
    assert_eq!(runs_of(&counts, "test.root"), 2);
}

#[test]
fn a_panic_costs_one_node() {
    let (registry, _) = registry(vec![]);
    let evaluator = evaluator(&registry, 1);
    let doc = chain(3).num("n0", "value", 9.0).add("root", "test.root").wire(&["n0"], ("root", "input"));
    let broken = doc.clone().num("root", "limit", 3.0);
    let evaluation = evaluator.evaluate(broken.ask(&["root", "n2"]));
    assert_eq!(value(&evaluation, "n2"), 11.0);
    let error = evaluation.value(&out("root")).unwrap_err().to_string();
    assert!(error.contains("the node panicked: 9 is above 3 (graphs/tests/evaluator/kit.rs:"), "{error}");
    assert_eq!(value(&evaluator.evaluate(doc.ask(&["root"])), "root"), 3.0);
}

#[test]
fn equal_output_stops_a_recomputation() {
    let (registry, counts) = registry(vec![]);
    let evaluator = evaluator(&registry, 2);
    let doc = Doc::default()
        .add("a", "test.number")
        .add("floor", "test.floor")
        .wire(&["a"], ("floor", "input"))
        .add("b", "test.sum")
        .wire(&["floor"], ("b", "inputs"))
        .add("c", "test.sum")
        .wire(&["b"], ("c", "inputs"));
    assert_eq!(value(&evaluator.evaluate(doc.clone().num("a", "value", 2.1).ask(&["c"])), "c"), 4.0);
    assert_eq!(runs_of(&counts, "test.sum"), 2);
    let second = evaluator.evaluate(doc.clone().num("a", "value", 2.9).ask(&["c"]));
    assert_eq!((value(&second, "c"), runs_of(&counts, "test.sum")), (4.0, 2));
    assert_eq!(runs_of(&counts, "test.floor"), 2);
    let third = evaluator.evaluate(doc.num("a", "value", 3.5).ask(&["c"]));
    assert_eq!((value(&third, "c"), runs_of(&counts, "test.sum")), (5.0, 4));
}

#[test]
fn warnings_come_with_a_cached_result() {
    let (registry, counts) = registry(vec![]);
    let evaluator = evaluator(&registry, 2);
    let doc = Doc::default().add("a", "test.number").add("root", "test.root").wire(&["a"], ("root", "input"));
    for _ in 0..2 {
        let evaluation = evaluator.evaluate(doc.ask(&["root"]));
        assert_eq!(evaluation.nodes[&"root".into()].warnings[0].what, "it is zero");
        assert_eq!(runs(&counts), 2);
    }
}
