//! What the evaluator itself costs, beside the plainest way to the same end. Run with
//! `cargo bench -p sinew-tests --bench evaluator`.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::Receiver;
use sinew_graph::basic::Number;
use sinew_graph::column::{Column, ColumnError, Columns};
use sinew_graph::document::{Document, InputEnd, Node, OutputEnd};
use sinew_graph::evaluate::{DiskOptions, Event, Generation, Options, OutputPath, Reason, Request};
use sinew_graph::knob::KnobValue;
use sinew_graph::registry::{Call, RunFn};
use sinew_graph::value::{DataType, DataTypeId};
use sinew_graph::{Cx, Data, Evaluator, Registry, Result, Value, node};
use sinew_tests::stopwatch::{Stopwatch, Unit};

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

/// A shared buffer.
#[derive(Clone, Debug)]
struct Block(Arc<[u8]>);

impl Data for Block {
    const TYPE: DataType = DataType { id: DataTypeId("block"), label: "Block", help: "Bytes.", colour: [0; 3] };

    fn columns(&self) -> Vec<Column> {
        vec![Column::u8("bytes", &self.0)]
    }

    fn from_columns(columns: &Columns) -> Result<Self, ColumnError> {
        Ok(Self(columns.get("bytes")?.as_u8()?))
    }
}

/// Bytes of one block.
const BLOCK: usize = 1 << 20;

mod block {
    use super::*;

    /// A megabyte.
    #[node(id = "bench.block", revision = 1)]
    pub fn block(
        /// Which.
        #[param(default = 0.0)]
        fill: f64,
    ) -> Block {
        Block(vec![fill as u8; BLOCK].into())
    }
}

/// The knob of each node type.
fn knob(node_type: &str) -> &'static str {
    match node_type {
        "bench.slow" => "salt",
        "bench.block" => "fill",
        _ => "offset",
    }
}

fn id(k: usize) -> String {
    format!("n{k}")
}

/// A document of numbered nodes, each behind those that `sources` names.
fn document(nodes: usize, node_type: &str, sources: impl Fn(usize) -> Vec<usize>) -> Document {
    let mut document = Document::new();
    let main = document.main.clone();
    let Some(graph) = document.graphs.get_mut(&main) else { return document };
    for k in 0..nodes {
        graph.nodes.insert(id(k).as_str().into(), Arc::new(Node::new(node_type, 1, [0.0; 2])));
        let end = |source: usize| OutputEnd { node: id(source).as_str().into(), socket: "number".into() };
        let ends: Vec<OutputEnd> = sources(k).into_iter().map(end).collect();
        if !ends.is_empty() {
            graph.wires.insert(InputEnd { node: id(k).as_str().into(), socket: "inputs".into() }, ends.into());
        }
    }
    document
}

/// A chain.
fn chain(nodes: usize) -> Document {
    document(nodes, "bench.sum", |k| k.checked_sub(1).into_iter().collect())
}

/// A wide graph in which each node takes the two at half and a third of its number.
fn wide(nodes: usize) -> Document {
    document(nodes, "bench.sum", |k| if k == 0 { vec![] } else { vec![k / 2, k / 3] })
}

fn set(document: &Document, node: &str, value: f64) -> Arc<Document> {
    let mut document = document.clone();
    let main = document.main.clone();
    if let Some(graph) = document.graphs.get_mut(&main)
        && let Some(old) = graph.nodes.get(node)
    {
        let mut new = (**old).clone();
        let knob = match &new.kind {
            sinew_graph::document::NodeKind::Type { id, .. } => knob(id.as_str()),
            sinew_graph::document::NodeKind::Group(_) => return Arc::new(document),
        };
        new.knobs.insert(knob.into(), KnobValue::Number(value));
        graph.nodes.insert(node.into(), Arc::new(new));
    }
    Arc::new(document)
}

fn want(document: &Arc<Document>, socket: &str, nodes: impl Iterator<Item = usize>) -> Request {
    let request = Request::new(Arc::clone(document));
    nodes.fold(request, |request, k| request.want(OutputPath::new(id(k).as_str(), socket), Reason::Displayed))
}

/// An evaluator that is listened to, as the editor does.
struct Editor {
    evaluator: Evaluator,
    events: Receiver<Vec<Event>>,
}

impl Editor {
    fn new(registry: &Arc<Registry>, options: Options) -> Self {
        let evaluator = Evaluator::new(Arc::clone(registry), options).unwrap_or_else(|error| panic!("{error}"));
        let events = evaluator.events();
        Self { evaluator, events }
    }

    /// Waits for an event.
    fn until(&self, is_it: impl Fn(&Event) -> bool) {
        while !self.events.recv().is_ok_and(|events| events.iter().any(&is_it)) {}
    }

    /// Submits, and waits until all is settled.
    fn settle(&self, request: Request) -> Generation {
        let generation = self.evaluator.submit(request);
        self.until(|event| matches!(event, Event::Finished(done) if *done == generation));
        generation
    }
}

/// The plain way: calls every node of a chain in a row and keeps nothing.
fn in_a_row(run: &RunFn, nodes: usize, offset: f64) -> Vec<Value> {
    let mut value: Vec<Value> = vec![];
    for _ in 0..nodes {
        let call = Call { inputs: vec![std::mem::take(&mut value)], knobs: vec![KnobValue::Number(offset)] };
        value = run(&call, &Cx::detached()).unwrap_or_default();
    }
    assert!(!value.is_empty(), "the chain gave nothing");
    value
}

/// The 99th of 100 times.
fn p99(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    times.get(times.len() * 99 / 100).map_or(0.0, |time| time.as_secs_f64() * 1e3)
}

fn main() {
    let mut registry = Registry::default();
    for node in [node(), slow::node(), block::node()] {
        registry.add(node).unwrap_or_else(|error| panic!("{error}"));
    }
    let registry = Arc::new(registry);
    nothing_changed_and_undo(&registry);
    one_knob(&registry);
    submit_and_cancel(&registry);
    disk(&registry);
    budget(&registry);
}

/// Against planning, keying and running all from nothing.
fn nothing_changed_and_undo(registry: &Arc<Registry>) {
    let watch = Stopwatch::new("Nothing to run, against a fresh evaluator", 9);
    let document = wide(10_000);
    let before = set(&document, "n9999", 0.0);
    let after = set(&document, "n9999", 1.0);
    let editor = Editor::new(registry, Options::default());
    let request = want(&before, "number", 0..10_000);
    let other = Request { document: Arc::clone(&after), ..request.clone() };
    editor.settle(request.clone());
    editor.settle(other.clone());
    editor.settle(request.clone());
    let ran = |generation: Generation| {
        let status = editor.evaluator.status();
        let ran = |node: &sinew_graph::evaluate::NodeStatus| {
            node.explained == generation
                && node.explanation.as_ref().is_some_and(|why| why.outcome() == sinew_graph::evaluate::Outcome::Ran)
        };
        status.nodes.iter().filter(|(_, node)| ran(node)).count()
    };
    let fresh = || Editor::new(registry, Options::default()).settle(request.clone());
    watch.row("nothing changed, 10,000 nodes", 1, Unit::Milliseconds, 1.0, || editor.settle(request.clone()), fresh);
    let mut undone = false;
    let undo = || {
        undone = !undone;
        editor.settle(if undone { other.clone() } else { request.clone() })
    };
    watch.row("undo or redo, 10,000 nodes", 1, Unit::Milliseconds, f64::INFINITY, undo, fresh);
    for request in [&other, &request] {
        assert_eq!(ran(editor.settle(request.clone())), 0, "undo runs nothing");
    }
}

/// Against calling the nodes in a row, and against a fresh evaluator.
fn one_knob(registry: &Arc<Registry>) {
    let watch = Stopwatch::new("One knob, 1,000 nodes downstream; target with the nodes' own time", 101);
    let document = chain(1_001);
    let run = node().run;
    let mut value = 0.0;
    let mut next = || {
        value += 1.0;
        want(&set(&document, "n0", value), "number", 1_000..1_001)
    };
    let alone = {
        let mut times: Vec<Duration> = Vec::new();
        for k in 0..51 {
            times.push(sinew_tests::stopwatch::time(&mut || in_a_row(&run, 1_001, f64::from(k))));
        }
        sinew_tests::stopwatch::median(times).as_secs_f64() * 1e3
    };
    let editor = Editor::new(registry, Options::default());
    let calls = || in_a_row(&run, 1_001, 3.0);
    let name = "against the nodes in a row";
    watch.row(name, 1, Unit::Milliseconds, 0.2 + alone, || editor.settle(next()), calls);
    let watch = Stopwatch::new("One knob, 1,000 nodes downstream, against all from nothing", 21);
    let fresh = || {
        let document = set(&document, "n0", -1.0);
        Editor::new(registry, Options::default()).settle(want(&document, "number", 1_000..1_001))
    };
    let name = "against a fresh evaluator";
    watch.row(name, 1, Unit::Milliseconds, 0.2 + alone, || editor.settle(next()), fresh);
}

/// Submissions while a node runs, against waiting for it to stop first; and how soon a cancelled one has stopped.
fn submit_and_cancel(registry: &Arc<Registry>) {
    let editor = Editor::new(registry, Options::default());
    let mut busy = chain(1_000);
    let main = busy.main.clone();
    if let Some(graph) = busy.graphs.get_mut(&main) {
        graph.nodes.insert("slow".into(), Arc::new(Node::new("bench.slow", 1, [0.0; 2])));
    }
    let slow = |request: Request| request.want(OutputPath::new("slow", "number"), Reason::Displayed);
    let (mut submits, mut cancels) = (Vec::new(), Vec::new());
    for k in 0..200 {
        let snapshot = set(&busy, "slow", f64::from(k));
        let request = slow(want(&snapshot, "number", 999..1_000));
        let started = Instant::now();
        editor.evaluator.submit(request);
        submits.push(started.elapsed());
        editor.until(|event| matches!(event, Event::Running(_, path) if *path == "slow".into()));
        let request = want(&snapshot, "number", 999..1_000);
        let started = Instant::now();
        editor.evaluator.submit(request);
        submits.push(started.elapsed());
        editor.until(|event| matches!(event, Event::Cancelled(_, path) if *path == "slow".into()));
        cancels.push(started.elapsed());
    }
    let (submit, cancel) = (p99(submits), p99(cancels));
    figures(
        "While a node runs, p99; plain: the caller waits until it has stopped",
        &[
            ("an edit blocks its caller", submit, cancel, 2.0),
            ("cancel until idle, asking every 5 ms", cancel, 2_000.0, 30.0),
        ],
    );
}

/// Against running them again.
fn disk(registry: &Arc<Registry>) {
    let folder = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
    let open = || {
        let disk = DiskOptions { folder: folder.path().into(), quota: 1 << 30, least: Duration::ZERO };
        let options = Options { disk: Some(disk), ..Options::default() };
        Evaluator::new(Arc::clone(registry), options).unwrap_or_else(|error| panic!("{error}"))
    };
    let document = Arc::new(wide(1_000));
    let request = want(&document, "number", 0..1_000);
    // The disk drops what it cannot keep up with, so it takes a few rounds.
    let filled = (0..100).any(|_| open().evaluate(request.clone()).ran().is_empty());
    assert!(filled, "all results are on disk in the end");
    let watch = Stopwatch::new("Reopening, against running 1,000 trivial nodes", 9);
    let plain = || Editor::new(registry, Options::default()).settle(request.clone());
    let ours = || assert!(open().evaluate(request.clone()).ran().is_empty(), "nothing runs");
    watch.row("1,000 nodes from the disk tier", 1, Unit::Milliseconds, 200.0, ours, plain);
}

/// Bytes in the cache against what a cache without a budget would hold.
fn budget(registry: &Arc<Registry>) {
    let (budget, blocks) = (16 * BLOCK, 200);
    let editor = Editor::new(registry, Options { budget, ..Options::default() });
    let document = document(1, "bench.block", |_| vec![]);
    let mut most = 0;
    for k in 0..blocks {
        editor.settle(want(&set(&document, "n0", f64::from(k)), "block", 0..1));
        most = most.max(editor.evaluator.status().meter.bytes);
    }
    let mebibytes = |bytes: usize| bytes as f64 / (1 << 20) as f64;
    let (all, limit) = (blocks as usize * BLOCK, budget + BLOCK + 256);
    assert!(most <= limit, "{most} bytes are above the budget and one output");
    figures(
        "Most memory of the cache, MiB; plain: everything is kept",
        &[("200 blocks of 1 MiB, budget 16 MiB", mebibytes(most), mebibytes(all), mebibytes(limit))],
    );
}

/// Rows of figures that were measured otherwise: ours, plain, target.
#[expect(clippy::print_stdout, reason = "a bench prints its figures")]
fn figures(title: &str, rows: &[(&str, f64, f64, f64)]) {
    println!("\n{title}");
    for (name, ours, plain, target) in rows {
        let missed = if ours <= target { "" } else { "  MISSED" };
        println!("{name:<46} {ours:>12.3} {plain:>14.2} {:>7.2}x {target:>12.2}{missed}", plain / ours);
    }
}
