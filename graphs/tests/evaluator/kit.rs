//! Node types that tell what they do, and documents in a few words.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crossbeam_channel::{Receiver, Sender, bounded};
use sinew_graph::basic::{Integer, Number};
use sinew_graph::column::{Column, ColumnError, Columns};
use sinew_graph::document::{Document, InputEnd, Node, OutputEnd};
use sinew_graph::evaluate::{Options, OutputPath, Request};
use sinew_graph::knob::{FilePath, KnobValue};
use sinew_graph::registry::{NodeType, RunFn};
use sinew_graph::value::{DataType, DataTypeId};
use sinew_graph::{Cx, Data, Evaluator, Registry, Result, Value, node};

/// A shared buffer of bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct Block(pub Arc<[u8]>);

impl Data for Block {
    const TYPE: DataType = DataType { id: DataTypeId("block"), label: "Block", help: "Bytes.", colour: [0, 0, 0] };

    fn columns(&self) -> Vec<Column> {
        vec![Column::u8("bytes", &self.0)]
    }

    fn from_columns(columns: &Columns) -> Result<Self, ColumnError> {
        Ok(Self(columns.get("bytes")?.as_u8()?))
    }
}

pub mod number {
    use super::*;

    /// A number.
    #[node(id = "test.number", revision = 1)]
    pub fn number(
        /// The number.
        #[param(default = 0.0, range = -1e9..=1e9)]
        value: f64,
    ) -> Number {
        Number(value)
    }
}

pub mod sum {
    use super::*;

    /// Adds up, and adds a knob.
    #[node(id = "test.sum", revision = 1)]
    pub fn sum(
        /// What to add.
        inputs: &[&Number],
        /// Added.
        #[param(default = 1.0, range = -1e9..=1e9)]
        offset: f64,
    ) -> Number {
        Number(inputs.iter().map(|n| n.0).sum::<f64>() + offset)
    }
}

pub mod floor {
    use super::*;

    /// Rounds down; equal outputs stop a recomputation.
    #[node(id = "test.floor", revision = 1, cut_off)]
    pub fn floor(
        /// What to round.
        input: &Number,
    ) -> Number {
        Number(input.0.floor())
    }
}

pub mod root {
    use super::*;

    /// Passes on if it is not negative.
    #[node(id = "test.root", revision = 1)]
    pub fn root(
        /// What to take the root of.
        input: &Number,
        /// Panics at numbers above.
        #[param(default = 1e9)]
        limit: f64,
        cx: &Cx,
    ) -> Result<Number> {
        assert!(input.0 <= limit, "{} is above {limit}", input.0);
        if input.0 < 0.0 {
            return Err(sinew_graph::NodeError::new("it is negative").at("input"));
        }
        if input.0 == 0.0 {
            cx.warn_at("input", "it is zero");
        }
        Ok(Number(input.0.sqrt()))
    }
}

pub mod length {
    use super::*;

    /// Counts a file's bytes.
    #[node(id = "test.length", revision = 1)]
    pub fn length(
        /// The file.
        #[param(default = FilePath::default())]
        file: FilePath,
        cx: &Cx,
    ) -> Result<Number> {
        Ok(Number(cx.read(file.require("file")?)?.iter().map(|&byte| f64::from(byte)).sum()))
    }
}

pub mod block {
    use super::*;

    /// Many bytes.
    #[node(id = "test.block", revision = 1)]
    pub fn block(
        /// How many.
        #[param(default = 1000)]
        size: u32,
        /// Which.
        #[param(default = 0)]
        fill: u32,
    ) -> Block {
        Block(vec![fill as u8; size as usize].into())
    }
}

pub mod share {
    use super::*;

    /// The same bytes again.
    #[node(id = "test.share", revision = 1)]
    pub fn share(
        /// The bytes.
        block: &Block,
        /// Makes another result of it.
        #[param(default = 0)]
        _salt: u32,
    ) -> Block {
        block.clone()
    }
}

pub mod integer {
    use super::*;

    /// A whole number.
    #[node(id = "test.integer", revision = 1)]
    pub fn integer(
        /// The number.
        #[param(default = 0)]
        value: u32,
    ) -> Integer {
        Integer(i64::from(value))
    }
}

/// How often which node type ran.
pub type Counts = Arc<BTreeMap<String, AtomicUsize>>;

/// All node types above, counted, and those given.
pub fn registry(others: Vec<NodeType>) -> (Arc<Registry>, Counts) {
    let types = vec![
        number::node(),
        sum::node(),
        floor::node(),
        root::node(),
        length::node(),
        block::node(),
        share::node(),
        integer::node(),
    ];
    let types: Vec<NodeType> = types.into_iter().chain(others).collect();
    let counts: Counts = Arc::new(types.iter().map(|t| (t.id.to_string(), AtomicUsize::new(0))).collect());
    let mut registry = Registry::default();
    for mut node in types {
        let (run, counts, id) = (node.run, Arc::clone(&counts), node.id.to_string());
        node.run = Arc::new(move |call, cx| {
            counts[&id].fetch_add(1, Ordering::SeqCst);
            run(call, cx)
        });
        registry.add(node).unwrap();
    }
    (Arc::new(registry), counts)
}

/// How often all nodes ran together.
pub fn runs(counts: &Counts) -> usize {
    counts.values().map(|count| count.load(Ordering::SeqCst)).sum()
}

/// How often one type ran.
pub fn runs_of(counts: &Counts, id: &str) -> usize {
    counts[id].load(Ordering::SeqCst)
}

/// A node type like `test.sum`, but with another function.
pub fn like_sum(id: &str, run: RunFn) -> NodeType {
    NodeType { id: id.into(), run, ..sum::node() }
}

/// A node type that tells when it starts and goes on when told; gives up when cancelled.
pub fn gate(id: &str) -> (NodeType, Receiver<f64>, Sender<()>) {
    let (started, starts) = crossbeam_channel::unbounded();
    let (go, gone) = bounded::<()>(0);
    let run: RunFn = Arc::new(move |call, cx| {
        let offset: f64 = call.knob(0, "offset")?;
        started.send(offset).unwrap();
        loop {
            cx.check()?;
            if gone.recv_timeout(std::time::Duration::from_millis(1)).is_ok() {
                let inputs = call.many::<Number>(0, "inputs")?;
                return Ok(vec![Value::new(Number(inputs.iter().map(|n| n.0).sum::<f64>() + offset))]);
            }
        }
    });
    (like_sum(id, run), starts, go)
}

/// An evaluator with so many workers.
pub fn evaluator(registry: &Arc<Registry>, workers: usize) -> Evaluator {
    let options = Options { workers: workers.try_into().unwrap(), ..Options::default() };
    Evaluator::new(Arc::clone(registry), options).unwrap()
}

/// A graph in the making: the main one of a document.
#[derive(Clone, Default)]
pub struct Doc(pub Document);

impl Doc {
    pub fn main(&mut self) -> &mut sinew_graph::document::Graph {
        let main = self.0.main.clone();
        self.0.graphs.get_mut(&main).unwrap()
    }

    pub fn add(mut self, id: &str, node_type: &str) -> Self {
        self.main().nodes.insert(id.into(), Arc::new(Node::new(node_type, 1, [0.0; 2])));
        self
    }

    pub fn set(mut self, id: &str, knob: &str, value: KnobValue) -> Self {
        self.change(id, |node| {
            node.knobs.insert(knob.into(), value);
        });
        self
    }

    pub fn num(self, id: &str, knob: &str, value: f64) -> Self {
        self.set(id, knob, KnobValue::Number(value))
    }

    pub fn mute(mut self, id: &str, muted: bool) -> Self {
        self.change(id, |node| node.muted = muted);
        self
    }

    fn change(&mut self, id: &str, change: impl FnOnce(&mut Node)) {
        let mut node = (*self.main().nodes[id]).clone();
        change(&mut node);
        self.main().nodes.insert(id.into(), Arc::new(node));
    }

    /// Wires outputs called `number` or as said behind a dot.
    pub fn wire(mut self, from: &[&str], to: (&str, &str)) -> Self {
        let ends = from.iter().map(|from| {
            let (node, socket) = from.split_once('.').unwrap_or((from, "number"));
            OutputEnd { node: node.into(), socket: socket.into() }
        });
        let end = InputEnd { node: to.0.into(), socket: to.1.into() };
        self.main().wires.insert(end, ends.collect());
        self
    }

    /// A request for outputs called `number` or as said behind a dot.
    pub fn ask(&self, outputs: &[&str]) -> Request {
        Request::new(self.0.clone()).ask(outputs.iter().map(|output| out(output)))
    }
}

/// An output called `number` or as said behind a dot.
pub fn out(output: &str) -> OutputPath {
    let (node, socket) = output.split_once('.').unwrap_or((output, "number"));
    OutputPath::new(node, socket)
}

/// A chain `n0`, `n1` … of sums behind a number.
pub fn chain(length: usize) -> Doc {
    let mut doc = Doc::default().add("n0", "test.number");
    for k in 1..length {
        let (id, before) = (format!("n{k}"), format!("n{}", k - 1));
        doc = doc.add(&id, "test.sum").wire(&[&before], (&id, "inputs"));
    }
    doc
}

/// The number at an output.
pub fn value(evaluation: &sinew_graph::evaluate::Evaluation, output: &str) -> f64 {
    evaluation.value(&out(output)).unwrap().get::<Number>().unwrap().0
}
