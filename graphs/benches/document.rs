//! Opening, saving and editing a document of 10,000 nodes.

use std::hint::black_box;
use std::sync::Arc;

use criterion::{Criterion, criterion_group, criterion_main};
use sinew_graph::document::{Document, Graph, InputEnd, Node, OutputEnd};
use sinew_graph::edit::Edit;
use sinew_graph::file::{self, Fragment};
use sinew_graph::knob::KnobValue;
use sinew_graph::{NodeId, Registry};

#[path = "../tests/nodes/mod.rs"]
mod nodes;

const NODES: usize = 10_000;

/// Nodes in a row, each fed by the one before it and two further back.
fn large(registry: &Registry) -> Document {
    let mut graph = Graph::default();
    let id = |k: usize| NodeId::from(format!("fold{k}"));
    let output = |k: usize| OutputEnd { node: id(k), socket: "number".into() };
    let node_type = registry.node(&"test.fold".into()).map_or(1, |node_type| node_type.revision);
    for k in 0..NODES {
        let mut node = Node::new("test.fold", node_type, [(k % 100) as f32 * 220.0, (k / 100) as f32 * 90.5]);
        if k % 2 == 0 {
            node.knobs.insert("rule".into(), KnobValue::Choice("multiply".into()));
        }
        graph.nodes.insert(id(k), Arc::new(node));
        if k >= 8 {
            graph.wires.insert(InputEnd { node: id(k), socket: "first".into() }, Arc::from([output(k - 1)]));
            let others = Arc::from([output(k - 3), output(k - 8)]);
            graph.wires.insert(InputEnd { node: id(k), socket: "others".into() }, others);
        }
    }
    let mut document = Document::new();
    document.graphs.insert("main".into(), graph);
    document
}

fn document(c: &mut Criterion) {
    let registry = nodes::registry();
    let large = large(&registry);
    let text = file::save(&large, &registry);
    let mut group = c.benchmark_group("10,000 nodes, 30,000 wires");
    group.sample_size(20);
    group.bench_function("open", |b| b.iter(|| file::load(black_box(&text), &registry)));
    group.bench_function("save", |b| b.iter(|| file::save(black_box(&large), &registry)));
    let knob = |value| Edit::SetKnob { graph: "main".into(), node: "fold5001".into(), knob: "rule".into(), value };
    let set = knob(Some(KnobValue::Choice("multiply".into())));
    group.bench_function("set a knob and undo", |b| {
        let mut document = large.clone();
        b.iter(|| {
            let inverse = document.apply(&set, &registry)?;
            document.apply(&inverse, &registry)
        });
    });
    let connect = Edit::Connect {
        graph: "main".into(),
        from: OutputEnd { node: "fold9998".into(), socket: "number".into() },
        to: InputEnd { node: "fold9999".into(), socket: "others".into() },
    };
    group.bench_function("try a wire whose start hangs on all other nodes", |b| {
        b.iter(|| large.check(&connect, &registry))
    });
    let into_the_middle = Edit::Connect {
        graph: "main".into(),
        from: OutputEnd { node: "fold4990".into(), socket: "number".into() },
        to: InputEnd { node: "fold5001".into(), socket: "others".into() },
    };
    group.bench_function("try a wire into the middle of it", |b| b.iter(|| large.check(&into_the_middle, &registry)));
    let all: Vec<NodeId> = large.graphs["main"].nodes.keys().cloned().collect();
    let remove = Edit::RemoveNodes { graph: "main".into(), nodes: all.clone() };
    group.bench_function("remove all nodes and undo", |b| {
        let mut document = large.clone();
        b.iter(|| {
            let inverse = document.apply(&remove, &registry)?;
            document.apply(&inverse, &registry)
        });
    });
    group.bench_function("paste all nodes again", |b| {
        let fragment = Fragment::copy(&large, &"main".into(), &all, &[]);
        b.iter(|| large.preview(&fragment.paste(&large, &"main".into(), [0.0, 0.0])?.edit, &registry));
    });
    group.finish();
}

criterion_group!(benches, document);
criterion_main!(benches);
