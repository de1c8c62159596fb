//! Workers: threads that run nodes, one job at a time.
//!
//! A job is a chain of runs, each of which may take outputs of earlier ones, so that cheap nodes do not cost a round
//! trip between threads each. A worker waits for nothing but its next job; it tells of results before it starts
//! anything that is not known to be cheap, so that others can go on with them.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use crossbeam_channel::{Receiver, Sender};
use smallvec::SmallVec;

use super::checked::{Difference, compare};
use super::define::{Recipe, in_folder};
use super::disk::DiskReader;
use super::engine::Message;
use super::flights::FlightId;
use super::knobs::adapt;
use super::panics::catch;
use super::results::{Memory, Results};
use crate::cx::{Cx, FileRead};
use crate::error::{NodeError, Result};
use crate::knob::KnobValue;
use crate::registry::{Call, Registry, SocketType};
use crate::value::{Digest, Value};

/// Where a step's input comes from.
pub(super) enum Source {
    /// A result made before.
    Value(Value),
    /// An output of an earlier step of the job.
    Step { step: u32, output: u32 },
}

/// What to do for a node.
pub(super) enum Task {
    /// Run it.
    Run,
    /// Run it, and compare with the result that it had before.
    Check(Before),
    /// Read its result from the disk tier.
    Load(Digest),
}

/// What a checked run is compared with.
pub(super) enum Before {
    Known(Vec<Value>),
    OnDisk(Digest),
    /// There is no result: it runs twice.
    Unknown,
}

/// One node's turn in a job.
pub(super) struct Step {
    pub flight: FlightId,
    pub recipe: Arc<Recipe>,
    pub sources: Range<u32>,
    pub cx: Cx,
    pub task: Task,
    /// Whether it is known to take next to no time.
    pub cheap: bool,
}

/// A chain of runs for one worker.
pub(super) struct Job {
    pub steps: Vec<Step>,
    pub sources: Vec<Source>,
    pub folder: Option<Arc<Path>>,
}

/// How a step ended.
pub(super) enum Ended {
    Done {
        results: Box<Results>,
        reads: Vec<FileRead>,
        digests: Option<Vec<Digest>>,
        differences: Vec<Difference>,
    },
    Loaded {
        results: Box<Results>,
        digests: Option<Vec<Digest>>,
    },
    Failed {
        error: NodeError,
        reads: Vec<FileRead>,
    },
    /// The disk tier did not have it after all.
    NotLoaded,
    /// It was cancelled, or an input did not come from an earlier step.
    Cancelled,
}

/// What became of a step.
pub(super) struct Report {
    pub flight: FlightId,
    pub ended: Ended,
}

/// Results are told of at least this often.
const FLUSH_NANOS: u64 = 200_000;
/// And whenever so many are there: the scheduler takes them in while the next ones are made.
const BATCH: usize = 64;
/// And whenever this much memory is not yet metered.
const FLUSH_BYTES: usize = 1 << 20;

/// A worker's thread: ends when the channel of jobs is closed.
pub(super) fn work(registry: &Registry, disk: Option<&DiskReader>, jobs: &Receiver<Job>, reports: &Sender<Message>) {
    for job in jobs {
        if !run(registry, disk, job, reports) {
            return;
        }
    }
}

fn run(registry: &Registry, disk: Option<&DiskReader>, job: Job, to: &Sender<Message>) -> bool {
    let mut given = Given { values: Vec::with_capacity(job.steps.len()), steps: Vec::with_capacity(job.steps.len()) };
    let mut reports = Vec::with_capacity(if job.steps.len() > 1 { BATCH } else { 1 });
    let (mut flushed, mut unmetered) = (Instant::now(), 0);
    let mut started = flushed;
    for step in &job.steps {
        let late = started.duration_since(flushed).as_nanos() as u64 > FLUSH_NANOS;
        if !step.cheap || late || unmetered > FLUSH_BYTES || reports.len() >= BATCH {
            let starting = (!step.cheap).then_some(step.flight);
            let reports = std::mem::replace(&mut reports, Vec::with_capacity(BATCH));
            if to.send(Message::Reports { reports, starting, free: false }).is_err() {
                return false;
            }
            (flushed, unmetered) = (started, 0);
        }
        let mut ended = perform(registry, disk, &job, step, &given);
        let now = Instant::now();
        let nanos = now.duration_since(started).as_nanos() as u64;
        started = now;
        let values = match &mut ended {
            Ended::Done { results, reads, .. } => {
                results.nanos = nanos;
                unmetered += results.memory.bytes();
                // What depends on files has another key than was thought: the scheduler sorts that out first.
                // What is checked goes on with the result it is compared with, so that only the impure node differs.
                let values = match &step.task {
                    Task::Check(Before::Known(before)) => before,
                    _ => &results.values,
                };
                if reads.is_empty() { &values[..] } else { &[] }
            }
            _ => &[],
        };
        given.push(values);
        reports.push(Report { flight: step.flight, ended });
    }
    drop(given);
    to.send(Message::Reports { reports, starting: None, free: true }).is_ok()
}

/// What the steps of a job have given so far.
struct Given {
    values: Vec<Value>,
    /// Per step, where its outputs are.
    steps: Vec<Range<usize>>,
}

impl Given {
    fn push(&mut self, values: &[Value]) {
        let start = self.values.len();
        self.values.extend_from_slice(values);
        self.steps.push(start..self.values.len());
    }

    fn get(&self, step: u32, output: u32) -> Option<&Value> {
        self.values[self.steps.get(step as usize)?.clone()].get(output as usize)
    }
}

fn perform(registry: &Registry, disk: Option<&DiskReader>, job: &Job, step: &Step, given: &Given) -> Ended {
    if step.cx.is_cancelled() {
        return Ended::Cancelled;
    }
    let digests = |values: &[Value]| {
        let cut_off = step.recipe.node_type.cut_off;
        cut_off.then(|| values.iter().map(Value::digest).collect::<Vec<_>>())
    };
    if let Task::Load(key) = step.task {
        return match disk.and_then(|disk| disk.load(key)) {
            Some((values, warnings, nanos)) if fits(&step.recipe, &values).is_ok() => {
                let digests = digests(&values);
                let memory = Memory::of(&values);
                Ended::Loaded { results: Box::new(Results { values, warnings, nanos, memory }), digests }
            }
            _ => Ended::NotLoaded,
        };
    }
    let feeds = &job.sources[step.sources.start as usize..step.sources.end as usize];
    let mut values: SmallVec<[&Value; 8]> = SmallVec::new();
    for source in feeds {
        let value = match source {
            Source::Value(value) => Some(value),
            Source::Step { step, output } => given.get(*step, *output),
        };
        let Some(value) = value else { return Ended::Cancelled };
        values.push(value);
    }
    let call = match call(registry, &step.recipe, &values, job.folder.as_deref()) {
        Ok(call) => call,
        Err(error) => return Ended::Failed { error, reads: Vec::new() },
    };
    let result = attempt(&step.recipe, &call, &step.cx);
    // A run that was cancelled may have stopped half-way, whatever it says.
    if step.cx.is_cancelled() {
        return Ended::Cancelled;
    }
    let (warnings, reads) = step.cx.finish();
    let values = match result {
        Ok(values) => values,
        Err(error) if error.is_cancelled() => {
            let error = NodeError::new("the node says that it was cancelled, but it was not")
                .help("this is a bug of the node: please report it");
            return Ended::Failed { error, reads };
        }
        Err(error) => return Ended::Failed { error, reads },
    };
    let mut differences = Vec::new();
    if let Task::Check(before) = &step.task {
        let stored = match before {
            Before::OnDisk(key) => disk.and_then(|disk| disk.load(*key)).map(|(values, ..)| values),
            _ => None,
        };
        match (before, stored) {
            (Before::Known(before), _) => differences = compare(before, &values),
            (_, Some(stored)) if fits(&step.recipe, &stored).is_ok() => differences = compare(&stored, &values),
            _ => match attempt(&step.recipe, &call, &step.cx) {
                Ok(again) => differences = compare(&values, &again),
                Err(_) if step.cx.is_cancelled() => return Ended::Cancelled,
                Err(error) => return Ended::Failed { error, reads },
            },
        }
    }
    drop(call);
    let (digests, memory) = (digests(&values), Memory::of(&values));
    let results = Box::new(Results { values, warnings, nanos: 0, memory });
    Ended::Done { results, reads, digests, differences }
}

/// The arguments: inputs converted to their types, driven knobs taken from their wires.
fn call(registry: &Registry, recipe: &Recipe, values: &[&Value], folder: Option<&Path>) -> Result<Call> {
    let mut values = values.iter();
    let mut inputs = Vec::with_capacity(recipe.counts.len());
    for (spec, &count) in recipe.node_type.inputs.iter().zip(&recipe.counts) {
        let mut converted = Vec::with_capacity(count as usize);
        for value in values.by_ref().take(count as usize) {
            converted.push(registry.convert(value, spec.socket_type).map_err(|error| error.at(spec.id.as_str()))?);
        }
        inputs.push(converted);
    }
    let mut knobs = recipe.knobs.clone();
    for &k in &recipe.driven {
        let spec = &recipe.node_type.knobs[k as usize];
        let Some(value) = values.next() else { continue };
        let driven = KnobValue::from_value(value)
            .ok_or_else(|| format!("a {} cannot drive a parameter", value.data_type().label))
            .and_then(|value| adapt(&spec.kind, value))
            .map_err(|reason| {
                NodeError::new(format!("the wire brings what does not fit: {reason}"))
                    .at(spec.id.as_str())
                    .help("remove the wire or connect a fitting value")
            })?;
        knobs[k as usize] = in_folder(driven, folder);
    }
    Ok(Call { inputs, knobs })
}

fn attempt(recipe: &Recipe, call: &Call, cx: &Cx) -> Result<Vec<Value>> {
    let values = catch(|| (recipe.node_type.run)(call, cx)).unwrap_or_else(|what| Err(NodeError::panicked(&what)))?;
    fits(recipe, &values)?;
    Ok(values)
}

fn fits(recipe: &Recipe, values: &[Value]) -> Result<()> {
    let bug = |what: String| NodeError::new(what).help("this is a bug of the node: please report it");
    let outputs = &recipe.node_type.outputs;
    if outputs.len() != values.len() {
        return Err(bug(format!("gave {} outputs but says it has {}", values.len(), outputs.len())));
    }
    for (spec, value) in outputs.iter().zip(values) {
        if let SocketType::Of(data_type) = spec.socket_type
            && data_type.id != value.data_type().id
        {
            let what = format!("gave {} where it says {}", value.data_type().label, data_type.label);
            return Err(bug(what).at(spec.id.as_str()));
        }
    }
    Ok(())
}
