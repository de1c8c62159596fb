//! The scheduling thread: owns plan, keys and caches, and tells workers what to run.
//!
//! All it gets comes as messages over one channel and nothing it owns is shared, so that there is no lock. It never
//! runs a node and never reads a file's content; it waits only for its next message. A newer snapshot is taken in as
//! soon as the message at hand is dealt with.

use std::collections::{BTreeSet, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender};
use smallvec::SmallVec;

use super::cache::{Cache, Place};
use super::checked::Impurity;
use super::define::Work;
use super::disk::DiskWriter;
use super::explain::{Explained, Outcome};
use super::files::Files;
use super::flights::{Flight, FlightId, Flights};
use super::keys::FileList;
use super::path::{NodePath, OutputPath};
use super::plan::{Feed, Plan, Slot};
use super::publish::Watch;
use super::request::{Options, Request};
use super::results::Results;
use super::status::{Evaluation, Event, Generation, NodeState, NodeStatus, Unavailable};
use super::worker::{Ended, Job, Report};
use crate::cx::{FileRead, FileStamp};
use crate::error::NodeError;
use crate::value::{Digest, Value};

/// What the scheduling thread is told.
pub(super) enum Message {
    /// A snapshot to evaluate; the outcome goes to `reply` if someone waits for it.
    Submit { generation: Generation, request: Request, reply: Option<Sender<Evaluation>> },
    /// What became of steps; which one a worker starts now; whether it is free.
    Reports { reports: Vec<Report>, starting: Option<FlightId>, free: bool },
    /// What is in a file.
    File { path: PathBuf, stamp: Option<FileStamp>, digest: Option<Digest> },
    /// Someone listens from now on.
    Watch(Sender<Vec<Event>>),
    /// Drop what is not wanted from memory.
    ClearMemory,
    /// The end.
    Close,
}

/// Where a node stands in the present epoch.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum Phase {
    /// Looked at, not yet decided.
    #[default]
    Open,
    /// Its key is not known before a node upstream has run.
    Keyless,
    /// It waits for inputs.
    Waiting,
    /// It can start.
    Ready,
    /// A worker has it.
    Flying,
    Done,
    Failed(Arc<NodeError>),
    Blocked,
}

impl Phase {
    pub fn is_settled(&self) -> bool {
        matches!(self, Self::Done | Self::Failed(_) | Self::Blocked)
    }
}

/// A node's outputs as they enter the keys of others.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum Outs {
    /// Not known before it has run.
    #[default]
    Unknown,
    /// By its key: of its only output, or of one of several.
    Key(Digest, bool),
    /// By what is in them.
    Content(Arc<[Digest]>),
    /// Muted: by what it passes.
    Passed(Vec<Option<Digest>>),
}

/// What the scheduler knows of a node.
#[derive(Default)]
pub(super) struct Live {
    /// The key without the files that it reads, and with them as far as known.
    pub base: Option<Place>,
    pub key: Option<Place>,
    pub outs: Outs,
    pub links: SmallVec<[Digest; 2]>,
    pub files: Option<FileList>,
    pub phase: Phase,
    /// The epoch that the phase is of.
    pub epoch: u32,
    /// How many of its feeds are not there yet.
    pub missing: u32,
    /// What it holds in the cache, since which epoch.
    pub held: (u32, SmallVec<[Place; 4]>),
    pub wanted: u32,
    /// The job that has most recently been offered some of its feeds, and how many.
    pub offered: (u64, u32),
    /// The job that has it, and its step.
    pub job: (u64, u32),
    /// What its last result was made of.
    pub last: Option<Arc<Explained>>,
    pub explanation: Option<Arc<Explained>>,
    pub explained: Generation,
    /// How long it last ran.
    pub nanos: Option<u64>,
    /// The generation in which it was last compared with itself.
    pub checked: u64,
    pub retried: bool,
    /// Where it stands in the news, in which round of them.
    pub noted: (u64, u32),
    pub touched: bool,
}

pub(super) struct Engine {
    pub options: Options,
    pub inbox: Receiver<Message>,
    pub jobs: Sender<Job>,
    pub idle: usize,
    pub plan: Plan,
    pub live: Vec<Live>,
    pub cache: Cache,
    pub disk: Option<DiskWriter>,
    pub files: Files,
    pub flights: Flights,
    pub ready: VecDeque<Slot>,
    /// Nodes whose outputs became known while others were looked at.
    pub known: Vec<Slot>,
    /// Nodes that wait for a file to be digested, and nodes that read files.
    pub file_waits: BTreeSet<Slot>,
    pub file_slots: BTreeSet<Slot>,
    pub generation: Generation,
    pub epoch: u32,
    pub job: u64,
    pub request: Request,
    pub wanted: Vec<(OutputPath, Result<Feed, NodeError>)>,
    /// The shape of the plan in which they were found.
    pub found: Option<u64>,
    /// Wanted nodes that were not settled when last looked at.
    pub unsettled: Vec<Slot>,
    /// Nodes looked at in this epoch, while someone looks at the status.
    pub entered: Vec<Slot>,
    pub finished: bool,
    pub healed: bool,
    pub reply: Option<Sender<Evaluation>>,
    pub impure: Vec<Impurity>,
    pub watch: Watch,
    /// When progress was last told.
    pub progressed: Instant,
    /// For the parts of a key.
    pub bytes: Vec<u8>,
}

impl Engine {
    /// The thread: ends with [`Message::Close`] or when nobody is left to send.
    pub fn run(mut self) {
        loop {
            let message = if self.watch.is_on() && !self.flights.is_empty() {
                match self.inbox.recv_timeout(Duration::from_millis(100)) {
                    Ok(message) => Some(message),
                    Err(RecvTimeoutError::Timeout) => None,
                    Err(RecvTimeoutError::Disconnected) => return,
                }
            } else {
                match self.inbox.recv() {
                    Ok(message) => Some(message),
                    Err(_) => return,
                }
            };
            let mut newest = None;
            let mut next = message;
            while let Some(message) = next {
                match message {
                    Message::Close => return self.close(),
                    // Only the newest of several snapshots counts.
                    Message::Submit { generation, request, reply } => newest = Some((generation, request, reply)),
                    Message::Reports { reports, starting, free } => self.reports(reports, starting, free),
                    Message::File { path, stamp, digest } => self.file(path, stamp, digest),
                    Message::Watch(events) => self.begin_watch(events),
                    Message::ClearMemory => self.cache.clear(),
                }
                next = self.inbox.try_recv().ok();
            }
            if let Some(disk) = &mut self.disk {
                disk.follow();
            }
            if let Some((generation, request, reply)) = newest {
                self.submit(generation, request, reply);
            }
            self.dispatch();
            self.finish();
            self.publish();
        }
    }

    fn close(mut self) {
        self.flights.values().for_each(|flight| flight.cx.cancel());
        if let Some(disk) = self.disk.take() {
            disk.close();
        }
    }

    /// Takes in a snapshot: what changed, what is wanted now, what is no longer.
    fn submit(&mut self, generation: Generation, mut request: Request, reply: Option<Sender<Evaluation>>) {
        self.generation = generation;
        request.wanted.sort_by_key(|wanted| wanted.reason);
        self.reply = reply;
        self.impure.clear();
        let changed = self.follow(&request);
        let again = request.retry || request.checked || self.request.checked;
        let same = !changed && !again && request.wanted == self.request.wanted && !self.request.wanted.is_empty();
        self.request = request;
        if same && self.finished {
            // Nothing changed and nothing is under way.
            self.finished = false;
            return;
        }
        self.finished = false;
        self.healed = false;
        if self.request.retry {
            self.cache.forget_errors();
        }
        self.demand_all();
    }

    /// Brings the plan and the keys up to the snapshot; whether any key changed.
    fn follow(&mut self, request: &Request) -> bool {
        let changes = self.plan.update(Arc::clone(&request.document), request.folder.as_deref());
        let mut dirty = changes.dirty;
        if let Some(numbers) = changes.renumbered {
            let mut old = std::mem::take(&mut self.live);
            self.live.resize_with(self.plan.len(), Live::default);
            self.file_slots.clear();
            self.file_waits.clear();
            self.flights.values_mut().for_each(|flight| flight.slots.clear());
            for (path, number) in numbers {
                if let (Some(slot), Some(live)) = (self.plan.slot(&path), old.get_mut(number as usize)) {
                    let Live { last, explanation, explained, nanos, base, key, .. } = std::mem::take(live);
                    let live = &mut self.live[slot as usize];
                    (live.last, live.explanation, live.explained, live.nanos) = (last, explanation, explained, nanos);
                    // Keys keep their places until the nodes have been keyed anew.
                    (live.base, live.key) = (base, key);
                }
            }
            old.into_iter().for_each(|live| self.leave(live.base, live.key));
            dirty = self.plan.iter().map(|(slot, _)| slot).collect();
            self.entered.clear();
            self.watch.reset();
            // Numbers of wanted outputs are stale: look them up again.
            self.request.wanted.clear();
        }
        for (slot, path) in changes.removed {
            let Live { base, key, .. } = std::mem::take(&mut self.live[slot as usize]);
            self.leave(base, key);
            self.file_slots.remove(&slot);
            self.file_waits.remove(&slot);
            self.flights.values_mut().for_each(|flight| flight.slots.retain(|waiting| *waiting != slot));
            self.watch.forget(&path);
        }
        self.live.resize_with(self.plan.len(), Live::default);
        for slot in self.file_slots.clone() {
            if self.files_changed(slot) {
                dirty.push(slot);
            }
        }
        dirty.iter().for_each(|&slot| self.touch(slot));
        let planned = !dirty.is_empty();
        for slot in self.rekey(dirty) {
            self.touch(slot);
        }
        planned
    }

    /// What became of steps.
    fn reports(&mut self, reports: Vec<Report>, starting: Option<FlightId>, free: bool) {
        for report in reports {
            self.report(report);
        }
        if let Some(flight) = starting.and_then(|flight| self.flights.get_mut(flight)) {
            flight.running = true;
            let slots = flight.slots.clone();
            for slot in slots {
                self.touch(slot);
                if let Some(path) = self.path(slot) {
                    self.watch.tell(Event::Running(self.generation, path));
                }
            }
        }
        self.idle += usize::from(free);
    }

    fn report(&mut self, report: Report) {
        let Some(mut flight) = self.flights.remove(report.flight) else { return };
        self.cache.land(flight.place);
        let mut waiting = std::mem::take(&mut flight.slots);
        waiting.retain(|slot| self.flies(*slot));
        match report.ended {
            Ended::Done { results, reads, digests, differences } => {
                let place = self.with_reads(flight.place, &reads);
                self.impure.extend(differences.into_iter().filter_map(|difference| {
                    let planned = self.plan.get(flight.origin)?;
                    let Work::Run(recipe) = &planned.work else { return None };
                    let output = recipe.node_type.outputs.get(difference.output as usize)?.id.clone();
                    Some(Impurity { node: flight.path.clone(), output, column: difference.column })
                }));
                if let Some(disk) = &self.disk {
                    disk.store(self.cache.key(place), &results);
                }
                self.arrived(&flight, &waiting, Outcome::Ran, (place, results, digests));
                self.cache.leave(place);
            }
            Ended::Loaded { results, digests } => {
                self.arrived(&flight, &waiting, Outcome::Disk, (flight.place, results, digests));
            }
            Ended::NotLoaded => {
                if let Some(disk) = &mut self.disk {
                    disk.lost(self.cache.key(flight.place));
                }
                self.demand_again(&waiting);
            }
            Ended::Failed { error, reads } => {
                let error = Arc::new(error);
                let place = self.with_reads(flight.place, &reads);
                self.cache.set_error(place, Arc::clone(&error));
                self.cache.leave(place);
                if !reads.is_empty() {
                    let changed = self.rekey(waiting.iter().copied());
                    self.demand_again(&changed);
                }
                for slot in waiting {
                    if self.flies(slot) {
                        self.explain(slot, Outcome::Ran, 0, 0);
                        self.live[slot as usize].retried = true;
                        self.fail(slot, Arc::clone(&error));
                    }
                }
            }
            Ended::Cancelled => {
                self.watch.tell(Event::Cancelled(self.generation, flight.path));
                self.demand_again(&waiting);
            }
        }
        self.cache.tidy(flight.place);
    }

    /// The key of a result together with the files that were read for it, joined.
    fn with_reads(&mut self, place: Place, reads: &[FileRead]) -> Place {
        if reads.is_empty() {
            return self.cache.join_again(place);
        }
        for read in reads {
            self.files.read(read, self.generation.0);
        }
        let folder = self.plan.folder();
        let files = reads.iter().map(|read| (super::files::portable(&read.path, folder), read.digest));
        let files = super::keys::sorted_files(files);
        let effective = self.record(self.cache.key(place), files);
        self.cache.join(effective)
    }

    /// Keeps a result and lets the nodes that waited for it go on.
    fn arrived(
        &mut self,
        flight: &Flight,
        waiting: &[Slot],
        outcome: Outcome,
        (place, results, digests): (Place, Box<Results>, Option<Vec<Digest>>),
    ) {
        let (nanos, bytes) = (results.nanos, results.memory.bytes());
        // Held until its users are known.
        self.cache.insert(place, results, digests.map(Into::into));
        let mut changed = Vec::new();
        for &slot in waiting {
            let live = &mut self.live[slot as usize];
            live.nanos = Some(nanos);
            if flight.checked && outcome == Outcome::Ran {
                live.checked = self.generation.0;
            }
            if flight.place != place || live.outs == Outs::Unknown {
                changed.extend(self.rekey([slot]));
            }
        }
        for &slot in waiting {
            if self.flies(slot) && self.live[slot as usize].key == Some(place) && !self.must_check(slot) {
                self.settle(slot, outcome, nanos, bytes);
            }
        }
        if !changed.is_empty() {
            changed.retain(|slot| !waiting.contains(slot) || self.live[*slot as usize].key != Some(place));
            self.demand_again(&changed);
        }
        // A file changed while it was read: the result is right for what was read, but not for what is there now.
        let stale: SmallVec<[Slot; 4]> = waiting.iter().copied().filter(|&slot| self.flies(slot)).collect();
        self.demand_again(&stale);
        self.cache.release(place);
        self.cache.trim();
    }

    fn flies(&self, slot: Slot) -> bool {
        let live = &self.live[slot as usize];
        live.epoch == self.epoch && live.phase == Phase::Flying
    }

    fn file(&mut self, path: PathBuf, stamp: Option<FileStamp>, digest: Option<Digest>) {
        self.files.found(path, stamp, digest, self.generation.0);
        let waiting = std::mem::take(&mut self.file_waits);
        let changed = self.rekey(waiting);
        self.demand_again(&changed);
    }

    pub fn path(&self, slot: Slot) -> Option<NodePath> {
        self.plan.get(slot).map(|planned| planned.leaf.path.clone())
    }

    pub fn touch(&mut self, slot: Slot) {
        let live = &mut self.live[slot as usize];
        if self.watch.is_on() && !live.touched {
            live.touched = true;
            self.watch.touched.push(slot);
        }
    }

    /// The value of an output, if it is there.
    pub fn value(&self, feed: Feed) -> Option<&Value> {
        let real = self.plan.real(feed)?;
        let place = self.live[real.slot as usize].key?;
        self.cache.get(place)?.values.get(real.output as usize)
    }

    /// Whether all that is wanted is settled; tells so once.
    fn finish(&mut self) {
        if self.finished || self.generation == Generation(0) {
            return;
        }
        loop {
            while let Some(&slot) = self.unsettled.last() {
                let live = &self.live[slot as usize];
                if live.epoch == self.epoch && !live.phase.is_settled() {
                    return self.heal();
                }
                self.unsettled.pop();
            }
            // One that was settled may have been opened again.
            let again = self.wanted.iter().filter_map(|(_, feed)| feed.as_ref().ok()).map(|feed| feed.slot);
            self.unsettled = again.filter(|&slot| !self.live[slot as usize].phase.is_settled()).collect();
            if self.unsettled.is_empty() {
                break;
            }
        }
        self.finished = true;
        if let Some(reply) = self.reply.take() {
            // Whoever asked may have gone.
            let _ = reply.send(self.evaluation());
        }
        self.watch.due = true;
        self.watch.tell(Event::Finished(self.generation));
    }

    /// With nothing under way and something unsettled, looks at everything again, and gives up if that does not help.
    fn heal(&mut self) {
        if !self.flights.is_empty() || !self.ready.is_empty() || !self.file_waits.is_empty() {
            return;
        }
        debug_assert!(false, "the evaluator lost track of a node");
        if !self.healed {
            self.healed = true;
            tracing::error!("the evaluator lost track of a node and plans again: please report this");
            self.demand_all();
            self.dispatch();
            return self.finish();
        }
        for slot in std::mem::take(&mut self.unsettled) {
            if self.live[slot as usize].phase.is_settled() {
                continue;
            }
            let error =
                NodeError::new("the evaluator lost track of this node").help("please report this with the graph");
            self.live[slot as usize].epoch = self.epoch;
            self.fail(slot, Arc::new(error));
        }
        self.finish();
    }

    /// What a wanted output came to.
    pub fn output(&self, feed: &Result<Feed, NodeError>) -> Option<Result<Value, Unavailable>> {
        let feed = match feed {
            Ok(feed) => *feed,
            Err(error) => return Some(Err(Unavailable::Unknown(error.clone()))),
        };
        let live = &self.live[feed.slot as usize];
        let node = self.path(feed.slot)?;
        if live.epoch != self.epoch {
            return None;
        }
        match &live.phase {
            Phase::Done => self.value(feed).cloned().map(Ok),
            Phase::Failed(error) => Some(Err(Unavailable::Failed { node, error: Arc::clone(error) })),
            Phase::Blocked => {
                let (by, error) = self.blame(feed.slot)?;
                Some(Err(Unavailable::Blocked { node, by, error }))
            }
            _ => None,
        }
    }

    /// The failed node that blocks this one: the first one upstream, in the order of the feeds.
    pub fn blame(&self, slot: Slot) -> Option<(NodePath, Arc<NodeError>)> {
        let mut slot = slot;
        loop {
            let planned = self.plan.get(slot)?;
            let failed = planned.feeds.iter().map(|feed| feed.slot).find(|&source| {
                let live = &self.live[source as usize];
                live.epoch == self.epoch && matches!(live.phase, Phase::Failed(_) | Phase::Blocked)
            })?;
            if let Phase::Failed(error) = &self.live[failed as usize].phase {
                return Some((self.path(failed)?, Arc::clone(error)));
            }
            slot = failed;
        }
    }

    fn evaluation(&self) -> Evaluation {
        let outputs = self
            .wanted
            .iter()
            .map(|(path, feed)| (path.clone(), self.output(feed).unwrap_or(Err(Unavailable::Superseded))));
        // By path, so that the map is built without sorting.
        let part = self.plan.by_path().filter(|(_, slot)| self.live[*slot as usize].epoch == self.epoch);
        Evaluation {
            generation: self.generation,
            outputs: outputs.collect(),
            nodes: part.map(|(path, slot)| (path.clone(), self.status(slot))).collect(),
            impure: self.impure.clone(),
            meter: self.meter(),
        }
    }

    /// All that is known of a node.
    pub fn status(&self, slot: Slot) -> NodeStatus {
        let live = &self.live[slot as usize];
        let current = live.epoch == self.epoch;
        let mut running = None;
        let state = match &live.phase {
            _ if !current => match live.key.is_some_and(|key| self.cache.get(key).is_some()) {
                true => NodeState::Done,
                false => NodeState::Idle,
            },
            Phase::Open | Phase::Keyless | Phase::Waiting | Phase::Ready => NodeState::Queued,
            Phase::Flying => {
                let flight = [live.base, live.key].into_iter().flatten().find_map(|place| self.cache.flight(place));
                let flight = flight.and_then(|flight| self.flights.get(flight));
                running = flight.filter(|flight| flight.running).map(|flight| flight.cx.clone());
                if running.is_some() { NodeState::Running } else { NodeState::Queued }
            }
            Phase::Done => NodeState::Done,
            Phase::Failed(error) => NodeState::Failed(Arc::clone(error)),
            Phase::Blocked => match self.blame(slot) {
                Some((by, _)) => NodeState::Blocked(by),
                None => NodeState::Queued,
            },
        };
        let results = live.key.filter(|_| state == NodeState::Done).and_then(|key| self.cache.get(key));
        NodeStatus {
            state,
            key: live.key.map(|place| self.cache.key(place)),
            explanation: live.explanation.clone(),
            explained: live.explained,
            warnings: results.map(|results| results.warnings.clone()).unwrap_or_default(),
            running,
        }
    }
}
