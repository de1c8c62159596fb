//! What the evaluator itself costs, beside the plainest way to do the same. Run with
//! `cargo run --release -p sinew-graph --example overhead`.

use std::sync::Arc;
use std::time::{Duration, Instant};

use sinew_graph::basic::Number;
use sinew_graph::document::{Document, InputEnd, Node, OutputEnd};
use sinew_graph::evaluate::{DiskOptions, Event, Options, OutputPath, Reason, Request};
use sinew_graph::knob::KnobValue;
use sinew_graph::registry::Call;
use sinew_graph::{Cx, Evaluator, Registry, Result, Value, node};

/// Adds up, and adds a knob.
#[node(id = "bench.sum", revision = 1)]
fn sum(
    /// What to add.
    inputs: &[&Number],
    /// Added.
    #[param(default = 1.0)]
    offset: f64,
) -> Number {
    Number(inputs.iter().map(|n| n.0).sum::<f64>() + offset)
}

mod slow {
    use super::*;

    /// Works for a long time and asks every 5 ms whether it should.
    #[node(id = "bench.slow", revision = 1)]
    pub fn slow(
        /// Makes another result of it.
        #[param(default = 0.0)]
        salt: f64,
        cx: &Cx,
    ) -> Result<Number> {
        for _ in 0..400 {
            std::thread::sleep(Duration::from_millis(5));
            cx.check()?;
        }
        Ok(Number(salt))
    }
}

fn id(k: usize) -> String {
    format!("n{k}")
}

/// A chain, or a wide graph in which each node takes the two at half its number.
fn document(nodes: usize, chain: bool) -> Document {
    let mut document = Document::new();
    let main = document.main.clone();
    if let Some(graph) = document.graphs.get_mut(&main) {
        for k in 0..nodes {
            graph.nodes.insert(id(k).as_str().into(), Arc::new(Node::new("bench.sum", 1, [0.0; 2])));
            let sources = if k == 0 {
                vec![]
            } else if chain {
                vec![k - 1]
            } else {
                vec![k / 2, k / 3]
            };
            let ends: Vec<OutputEnd> = sources
                .into_iter()
                .filter(|&source| source != k)
                .map(|source| OutputEnd { node: id(source).as_str().into(), socket: "number".into() })
                .collect();
            if !ends.is_empty() {
                graph.wires.insert(InputEnd { node: id(k).as_str().into(), socket: "inputs".into() }, ends.into());
            }
        }
    }
    document
}

fn set(document: &Document, node: &str, value: f64) -> Document {
    let mut document = document.clone();
    let main = document.main.clone();
    if let Some(graph) = document.graphs.get_mut(&main)
        && let Some(old) = graph.nodes.get(node)
    {
        let mut new = (**old).clone();
        new.knobs.insert(if node == "slow" { "salt" } else { "offset" }.into(), KnobValue::Number(value));
        graph.nodes.insert(node.into(), Arc::new(new));
    }
    document
}

fn want(document: &Arc<Document>, nodes: impl Iterator<Item = usize>) -> Request {
    let request = Request::new(Arc::clone(document));
    nodes.fold(request, |request, k| request.want(OutputPath::new(id(k).as_str(), "number"), Reason::Displayed))
}

fn times(mut samples: Vec<Duration>) -> String {
    samples.sort();
    let at = |share: f64| samples[((samples.len() - 1) as f64 * share) as usize];
    format!("median {:.3?}, p99 {:.3?}, worst {:.3?}", at(0.5), at(0.99), at(1.0))
}

fn main() {
    let mut registry = Registry::default();
    for node in [node(), slow::node()] {
        registry.add(node).unwrap_or_else(|error| panic!("{error}"));
    }
    let registry = Arc::new(registry);
    let start = |options: Options| Evaluator::new(Arc::clone(&registry), options).unwrap_or_else(|e| panic!("{e}"));
    let mut lines = Vec::new();

    // Nothing changed, 10,000 nodes, all wanted; until the event that says so.
    let evaluator = start(Options::default());
    let wide = Arc::new(document(10_000, false));
    let request = want(&wide, 0..10_000);
    let events = evaluator.events();
    let finished = |generation| loop {
        match events.recv() {
            Ok(Event::Finished(done)) if done == generation => return,
            Ok(_) => {}
            Err(error) => panic!("{error}"),
        }
    };
    let started = Instant::now();
    finished(evaluator.submit(request.clone()));
    lines.push(format!("10,000 nodes, first time, all of them run: {:.2?}", started.elapsed()));
    let sample = |request: &dyn Fn(usize) -> Request, rounds: usize| {
        let samples = (0..rounds).map(|round| {
            let request = request(round);
            let started = Instant::now();
            finished(evaluator.submit(request));
            started.elapsed()
        });
        times(samples.collect())
    };
    lines.push(format!("10,000 nodes, nothing changed: {}", sample(&|_| request.clone(), 200)));
    let moved = Arc::new(set(&wide, "n9999", 1.0));
    lines.push(format!(
        "  the same, another last knob back and forth, both known: {}",
        sample(
            &|round| Request { document: Arc::clone(if round % 2 == 0 { &moved } else { &wide }), ..request.clone() },
            200
        )
    ));
    drop(evaluator);

    // One knob, 1,000 nodes downstream; and the nodes alone, called one after the other.
    let evaluator = start(Options::default());
    let chain = document(1_001, true);
    let snapshots: Vec<Arc<Document>> = (0..300).map(|k| Arc::new(set(&chain, "n0", f64::from(k)))).collect();
    let mut samples = Vec::new();
    for snapshot in &snapshots {
        let request = want(snapshot, 1_000..1_001);
        let started = Instant::now();
        evaluator.evaluate(request);
        samples.push(started.elapsed());
    }
    lines.push(format!("one knob, 1,000 nodes downstream, with a report on all: {}", times(samples)));
    let evaluator = start(Options::default());
    let events = evaluator.events();
    let mut samples = Vec::new();
    for snapshot in &snapshots {
        let request = want(snapshot, 1_000..1_001);
        let started = Instant::now();
        let generation = evaluator.submit(request);
        while !matches!(events.recv(), Ok(Event::Finished(done)) if done == generation) {}
        samples.push(started.elapsed());
    }
    lines.push(format!("one knob, 1,000 nodes downstream, with events and status: {}", times(samples)));
    let run = node().run;
    let mut samples = Vec::new();
    for k in 0..300 {
        let started = Instant::now();
        let mut value: Vec<Value> = vec![];
        for _ in 0..1_001 {
            let call = Call { inputs: vec![std::mem::take(&mut value)], knobs: vec![KnobValue::Number(f64::from(k))] };
            value = run(&call, &Cx::detached()).unwrap_or_default();
        }
        samples.push(started.elapsed());
        assert!(!value.is_empty());
    }
    lines.push(format!("  the nodes alone, called in a row: {}", times(samples)));
    let mut samples = Vec::new();
    for snapshot in &snapshots[..30] {
        let fresh = start(Options::default());
        let request = want(snapshot, 1_000..1_001);
        let started = Instant::now();
        fresh.evaluate(request);
        samples.push(started.elapsed());
    }
    lines.push(format!("  planned, keyed and run from nothing: {}", times(samples)));

    // Submissions while a node runs, and how soon a cancelled one stops.
    let mut busy = document(1_000, true);
    let main = busy.main.clone();
    if let Some(graph) = busy.graphs.get_mut(&main) {
        graph.nodes.insert("slow".into(), Arc::new(Node::new("bench.slow", 1, [0.0; 2])));
    }
    let (mut submits, mut cancels) = (Vec::new(), Vec::new());
    for k in 0..200 {
        let snapshot = Arc::new(set(&busy, "slow", f64::from(k)));
        let slow = OutputPath::new("slow", "number");
        let request = want(&snapshot, 999..1_000).want(slow, Reason::Displayed);
        let started = Instant::now();
        evaluator.submit(request);
        submits.push(started.elapsed());
        while !matches!(events.recv(), Ok(Event::Running(_, path)) if path == "slow".into()) {}
        let request = want(&snapshot, 999..1_000);
        let started = Instant::now();
        evaluator.submit(request);
        submits.push(started.elapsed());
        while !matches!(events.recv(), Ok(Event::Cancelled(_, path)) if path == "slow".into()) {}
        cancels.push(started.elapsed());
    }
    lines.push(format!("a submission returns after: {}", times(submits)));
    lines.push(format!("a cancelled node that asks every 5 ms has stopped after: {}", times(cancels)));

    // A thousand results from disk.
    let folder = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
    let disk = || {
        let disk = DiskOptions { folder: folder.path().into(), quota: 1 << 30, least: Duration::ZERO };
        start(Options { disk: Some(disk), ..Options::default() })
    };
    let document = Arc::new(document(1_000, false));
    let request = want(&document, 0..1_000);
    // The disk drops what it cannot keep up with, so it takes a few rounds.
    for _ in 0..40 {
        disk().evaluate(request.clone());
    }
    let mut samples = Vec::new();
    let mut ran = 0;
    for _ in 0..20 {
        let started = Instant::now();
        let evaluation = disk().evaluate(request.clone());
        samples.push(started.elapsed());
        ran += evaluation.ran().len();
    }
    lines.push(format!("1,000 nodes from disk, all wanted, {ran} ran: {}", times(samples)));
    #[expect(clippy::print_stdout, reason = "this is a program")]
    for line in lines {
        println!("{line}");
    }
}
