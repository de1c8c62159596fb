//! What runs side by side, what is cancelled, what is shared.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::Receiver;
use sinew_graph::evaluate::{Event, NodeState, Reason, Unavailable};

use crate::kit::*;

const LONG: Duration = Duration::from_secs(20);

/// The events one by one; they end if none comes for long.
fn each(events: &Receiver<Vec<Event>>) -> impl Iterator<Item = Event> {
    std::iter::from_fn(|| events.recv_timeout(LONG).ok()).flatten()
}

#[test]
fn an_edit_never_waits_for_a_running_node() {
    // A node that ignores cancellation altogether until it is told.
    let (started, starts) = crossbeam_channel::unbounded();
    let (go, gone) = crossbeam_channel::unbounded::<()>();
    let stubborn = like_sum(
        "test.stubborn",
        Arc::new(move |_, _| {
            started.send(()).unwrap();
            gone.recv().unwrap();
            Ok(vec![])
        }),
    );
    let (registry, _) = registry(vec![stubborn]);
    let evaluator = evaluator(&registry, 2);
    let doc = chain(3).add("s", "test.stubborn");
    evaluator.submit(doc.ask(&["s"]));
    starts.recv_timeout(LONG).unwrap();
    // While it runs: submissions return, and one that needs it no longer is computed beside it.
    for k in 0..100 {
        evaluator.submit(doc.clone().num("n0", "value", f64::from(k)).ask(&["s", "n2"]));
    }
    let evaluation = evaluator.evaluate(doc.clone().num("n0", "value", 100.0).ask(&["n2"]));
    assert_eq!(value(&evaluation, "n2"), 102.0);
    go.send(()).unwrap();
}

#[test]
fn a_newer_generation_cancels_only_what_it_no_longer_wants() {
    let (kept, kept_starts, keep_on) = gate("test.kept");
    let (dropped, dropped_starts, _never) = gate("test.dropped");
    let (registry, counts) = registry(vec![kept, dropped]);
    let evaluator = evaluator(&registry, 2);
    let events = evaluator.events();
    let doc = Doc::default().add("kept", "test.kept").add("dropped", "test.dropped").num("kept", "offset", 5.0);
    evaluator.submit(doc.ask(&["kept", "dropped"]));
    kept_starts.recv_timeout(LONG).unwrap();
    dropped_starts.recv_timeout(LONG).unwrap();
    let second = evaluator.submit(doc.ask(&["kept"]));
    let mut events = each(&events);
    loop {
        match events.next().unwrap() {
            Event::Cancelled(_, path) => break assert_eq!(path, "dropped".into()),
            Event::Finished(_) => panic!("nothing was to finish yet"),
            _ => {}
        }
    }
    keep_on.send_timeout((), LONG).unwrap();
    assert!(events.any(|event| matches!(event, Event::Finished(generation) if generation == second)));
    let status = evaluator.status();
    let outcome = status.outputs[&out("kept")].as_ref().unwrap();
    assert_eq!(outcome.get::<sinew_graph::basic::Number>().unwrap().0, 5.0);
    assert_eq!(runs_of(&counts, "test.kept"), 1, "it was not started again");
    assert_eq!(status.node(&"dropped".into()).map(|node| node.state.clone()), Some(NodeState::Idle));
}

#[test]
fn a_cancelled_run_starts_again_when_it_is_wanted_again() {
    let (gate, starts, go) = gate("test.gate");
    let (registry, _) = registry(vec![gate]);
    let evaluator = evaluator(&registry, 1);
    let doc = Doc::default().add("gate", "test.gate").add("n", "test.number");
    evaluator.submit(doc.ask(&["gate"]));
    starts.recv_timeout(LONG).unwrap();
    evaluator.evaluate(doc.ask(&["n"]));
    evaluator.submit(doc.ask(&["gate"]));
    starts.recv_timeout(LONG).unwrap();
    go.send_timeout((), LONG).unwrap();
    assert_eq!(value(&evaluator.evaluate(doc.ask(&["gate"])), "gate"), 1.0);
}

#[test]
fn one_key_is_computed_once_at_a_time() {
    let (gate, starts, go) = gate("test.gate");
    let (registry, counts) = registry(vec![gate]);
    let evaluator = evaluator(&registry, 4);
    // Four nodes with the same recipe, and one behind them all.
    let mut doc = Doc::default().add("all", "test.sum");
    for id in ["a", "b", "c", "d"] {
        doc = doc.add(id, "test.gate").num(id, "offset", 2.0);
    }
    let doc = doc.wire(&["a", "b", "c", "d"], ("all", "inputs"));
    evaluator.submit(doc.ask(&["all"]));
    starts.recv_timeout(LONG).unwrap();
    assert!(starts.recv_timeout(Duration::from_millis(50)).is_err(), "a second one started");
    go.send_timeout((), LONG).unwrap();
    assert_eq!(value(&evaluator.evaluate(doc.ask(&["all"])), "all"), 9.0);
    assert_eq!(runs_of(&counts, "test.gate"), 1);
}

#[test]
fn branches_run_side_by_side() {
    let (a, a_starts, a_go) = gate("test.a");
    let (b, b_starts, b_go) = gate("test.b");
    let (registry, _) = registry(vec![a, b]);
    let evaluator = evaluator(&registry, 2);
    let doc =
        Doc::default().add("a", "test.a").add("b", "test.b").add("c", "test.sum").wire(&["a", "b"], ("c", "inputs"));
    evaluator.submit(doc.ask(&["c"]));
    // Both have started before either may end.
    a_starts.recv_timeout(LONG).unwrap();
    b_starts.recv_timeout(LONG).unwrap();
    a_go.send_timeout((), LONG).unwrap();
    b_go.send_timeout((), LONG).unwrap();
    assert_eq!(value(&evaluator.evaluate(doc.ask(&["c"])), "c"), 3.0);
}

#[test]
fn a_newer_snapshot_ends_the_wait_for_an_older_one() {
    let (gate, starts, _go) = gate("test.gate");
    let (registry, _) = registry(vec![gate]);
    let evaluator = Arc::new(evaluator(&registry, 1));
    let doc = Doc::default().add("gate", "test.gate").add("n", "test.number");
    let waiting = std::thread::spawn({
        let (evaluator, doc) = (Arc::clone(&evaluator), doc.clone());
        move || evaluator.evaluate(doc.ask(&["gate"]))
    });
    starts.recv_timeout(LONG).unwrap();
    evaluator.submit(doc.ask(&["n"]));
    let superseded = waiting.join().unwrap();
    assert_eq!(superseded.value(&out("gate")).unwrap_err(), Unavailable::Superseded);
}

#[test]
fn events_come_in_order_and_after_the_status_that_shows_them() {
    let (registry, _) = registry(vec![]);
    let evaluator = evaluator(&registry, 2);
    let events = evaluator.events();
    let doc = chain(3);
    let output = out("n2");
    let generation =
        evaluator.submit(sinew_graph::evaluate::Request::new(doc.0.clone()).want(output.clone(), Reason::Displayed));
    let deadline = Instant::now() + LONG;
    let mut done = Vec::new();
    let mut events = each(&events);
    loop {
        assert!(Instant::now() < deadline);
        match events.next().unwrap() {
            Event::Done(_, path) => done.push(path.to_string()),
            Event::Finished(finished) => break assert_eq!(finished, generation),
            _ => {}
        }
    }
    assert_eq!(done, ["n0", "n1", "n2"]);
    let status = evaluator.status();
    assert!(status.finished && status.outputs[&output].is_ok());
    assert_eq!(status.nodes.len(), 3);
}
