//! The evaluator: runs what is wanted of a document on background threads, and keeps every result.
//!
//! **Contract.** Any thread may call an [`Evaluator`]. [`Evaluator::submit`], [`Evaluator::status`] and
//! [`Evaluator::events`] take no lock that a running node may hold and wait for nothing. What they tell may be a
//! moment old, never inconsistent. [`Evaluator::evaluate`] blocks its caller, and nobody else, until all that is
//! wanted is settled. Dropping an evaluator cancels what runs and waits for the disk tier, not for nodes.
//!
//! One thread schedules (`engine`), and owns all state; workers (`worker`) run nodes; one thread writes to the disk
//! tier, one digests files. They share nothing but messages and immutable values.

mod cache;
mod checked;
mod define;
mod demand;
mod disk;
mod dispatch;
mod engine;
mod explain;
mod files;
mod flights;
mod groups;
mod keys;
mod knobs;
mod panics;
mod path;
mod plan;
mod publish;
mod request;
mod results;
mod status;
mod worker;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Instant;

use crossbeam_channel::{Receiver, Sender, unbounded};

pub use checked::Impurity;
pub use explain::{Cause, Explained, Explanation, Outcome};
pub use path::{NodePath, OutputPath};
pub use request::{DiskOptions, Options, Reason, Request, Wanted};
pub use status::{Evaluation, Event, Generation, Meter, NodeState, NodeStatus, Outputs, Status, Unavailable};

use crate::document::Document;
use crate::registry::Registry;
use cache::Cache;
use engine::{Engine, Message};
use files::Files;
use flights::Flights;
use plan::Plan;
use publish::{Shared, Watch};

/// Why an evaluator could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum EvaluatorError {
    /// A thread could not be started.
    #[error("a thread could not be started: {0}; close other programs")]
    Thread(std::io::Error),
    /// The disk tier's folder could not be opened.
    #[error("the folder {folder} for results could not be opened: {error}; choose another one or do without")]
    Disk {
        /// The folder.
        folder: PathBuf,
        /// Why.
        error: std::io::Error,
    },
}

/// Runs what is wanted of a document in the background. See the module for who may call what.
pub struct Evaluator {
    messages: Sender<Message>,
    generation: AtomicU64,
    status: Arc<Shared>,
    events: (Sender<Vec<Event>>, Receiver<Vec<Event>>),
    engine: Option<JoinHandle<()>>,
}

impl std::fmt::Debug for Evaluator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Evaluator(generation {})", self.generation.load(Ordering::Relaxed))
    }
}

impl Evaluator {
    /// Starts the threads.
    pub fn new(registry: Arc<Registry>, options: Options) -> Result<Self, EvaluatorError> {
        let (messages, inbox) = unbounded();
        let (jobs, to_run) = unbounded();
        let (to_digest, paths) = unbounded();
        let status = Arc::new(Shared::default());
        let (mut disk, mut reader, mut known) = (None, None, Vec::new());
        if let Some(tier) = &options.disk {
            let opened = disk::open(tier, Arc::clone(&registry));
            let (r, w, records) =
                opened.map_err(|error| EvaluatorError::Disk { folder: tier.folder.clone(), error })?;
            (disk, reader, known) = (Some(w), Some(Arc::new(r)), records);
        }
        let spawn = |name: &str, run: Box<dyn FnOnce() + Send>| {
            std::thread::Builder::new().name(name.into()).spawn(run).map_err(EvaluatorError::Thread)
        };
        for _ in 0..options.workers.get() {
            let (registry, reader, to_run, to) =
                (Arc::clone(&registry), reader.clone(), to_run.clone(), messages.clone());
            spawn("sinew worker", Box::new(move || worker::work(&registry, reader.as_deref(), &to_run, &to)))?;
        }
        let to = messages.clone();
        spawn("sinew files", Box::new(move || files::digest_files(&paths, &to)))?;
        let mut engine = Engine {
            inbox,
            jobs,
            idle: options.workers.get(),
            plan: Plan::new(Arc::new(Document::new()), registry, None),
            live: Vec::new(),
            cache: Cache::new(options.budget),
            disk,
            files: Files::new(to_digest),
            flights: Flights::default(),
            ready: VecDeque::new(),
            known: Vec::new(),
            file_waits: BTreeSet::new(),
            file_slots: BTreeSet::new(),
            generation: Generation(0),
            epoch: 1,
            job: 0,
            request: Request::default(),
            wanted: Vec::new(),
            found: None,
            unsettled: Vec::new(),
            entered: Vec::new(),
            finished: false,
            healed: false,
            reply: None,
            impure: Vec::new(),
            watch: Watch::new(Arc::clone(&status)),
            progressed: Instant::now(),
            bytes: Vec::new(),
            options,
        };
        for (base, files) in known {
            let effective = keys::with_files(base, &files);
            engine.remember(base, files, effective);
        }
        let engine = spawn("sinew scheduler", Box::new(move || engine.run()))?;
        let (generation, events) = (AtomicU64::new(0), unbounded());
        Ok(Self { messages, generation, status, events, engine: Some(engine) })
    }

    /// Hands over a snapshot and what is wanted of it. Returns at once; replaces what was submitted before.
    pub fn submit(&self, request: Request) -> Generation {
        self.send(request, None)
    }

    /// Submits and waits until all that is wanted is settled. Another submission meanwhile ends the wait with
    /// [`Unavailable::Superseded`] for what was not.
    pub fn evaluate(&self, request: Request) -> Evaluation {
        let (reply, outcome) = crossbeam_channel::bounded(1);
        let outputs: Vec<OutputPath> = request.wanted.iter().map(|wanted| wanted.output.clone()).collect();
        let generation = self.send(request, Some(reply));
        outcome.recv().unwrap_or_else(|_| Evaluation {
            generation,
            outputs: outputs.into_iter().map(|output| (output, Err(Unavailable::Superseded))).collect(),
            nodes: BTreeMap::new(),
            impure: Vec::new(),
            meter: Meter::default(),
        })
    }

    fn send(&self, request: Request, reply: Option<Sender<Evaluation>>) -> Generation {
        let generation = Generation(self.generation.fetch_add(1, Ordering::Relaxed) + 1);
        // The scheduling thread lives as long as this does.
        let _ = self.messages.send(Message::Submit { generation, request, reply });
        generation
    }

    /// What happens from now on, in order; what happened at about the same time comes together. All receivers share one
    /// queue; it must be drained, or it grows.
    pub fn events(&self) -> Receiver<Vec<Event>> {
        let _ = self.messages.send(Message::Watch(self.events.0.clone()));
        self.events.1.clone()
    }

    /// The status as it was a moment ago. Kept up from the first call of [`Evaluator::events`] on, and brought up to
    /// date before an event is sent.
    pub fn status(&self) -> Status {
        self.status.status()
    }

    /// Drops from memory what is not wanted.
    pub fn clear_memory(&self) {
        let _ = self.messages.send(Message::ClearMemory);
    }
}

impl Drop for Evaluator {
    fn drop(&mut self) {
        let _ = self.messages.send(Message::Close);
        if self.engine.take().is_some_and(|engine| engine.join().is_err()) {
            tracing::error!("the scheduling thread panicked: please report this");
        }
    }
}
