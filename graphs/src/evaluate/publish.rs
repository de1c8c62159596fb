//! The side of the scheduling thread that others look at: events, and the status that anyone may take a copy of.
//!
//! The scheduling thread only notes what is new; whoever takes a status puts it into the maps. So a knob that is
//! dragged costs the maps once a frame, not once a snapshot.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::Sender;
use parking_lot::Mutex;

use super::engine::{Engine, Phase};
use super::path::NodePath;
use super::plan::Slot;
use super::status::{Event, Generation, Meter, NodeStatus, Outputs, Status};

/// While nodes run, the status is brought up to date at most this often.
const INTERVAL: Duration = Duration::from_millis(8);
/// How often progress is told of.
const PROGRESS: Duration = Duration::from_millis(100);

/// Notes beyond those of every node that are kept before they are put into the maps unasked: of nodes that are gone.
const MOST_GONE: usize = 1 << 16;

/// What is new since a status was last taken. A node that is gone has no status.
#[derive(Default)]
struct News {
    /// Nothing that was known of nodes before counts any more.
    reset: bool,
    nodes: Vec<(NodePath, Option<NodeStatus>)>,
    outputs: Option<Outputs>,
    generation: Generation,
    finished: bool,
    meter: Meter,
    /// How often it was taken.
    round: u64,
}

/// The status that anyone may take, and what is not in it yet. Whoever takes it locks both, the scheduling thread only
/// the news, and that for no longer than it takes to note them.
#[derive(Default)]
pub(super) struct Shared {
    status: Mutex<Status>,
    news: Mutex<News>,
}

impl Shared {
    /// The status with all that is new.
    pub fn status(&self) -> Status {
        let mut status = self.status.lock();
        let news = {
            let mut news = self.news.lock();
            let (generation, finished, meter) = (news.generation, news.finished, news.meter);
            let round = news.round + 1;
            std::mem::replace(&mut *news, News { generation, finished, meter, round, ..News::default() })
        };
        if news.reset {
            status.nodes.clear();
        }
        for (path, node) in news.nodes {
            match node {
                Some(node) => status.nodes.insert(path, Arc::new(node)),
                None => status.nodes.remove(&path),
            };
        }
        if let Some(outputs) = news.outputs {
            status.outputs = outputs;
        }
        (status.generation, status.finished, status.meter) = (news.generation, news.finished, news.meter);
        status.clone()
    }
}

/// Who looks, and what they have not seen yet.
pub(super) struct Watch {
    events: Option<Sender<Vec<Event>>>,
    /// To be sent once the status shows them.
    told: Vec<Event>,
    pub touched: Vec<Slot>,
    /// All nodes have other numbers, or these are gone: to be noted with the next news.
    renumbered: bool,
    gone: Vec<NodePath>,
    shared: Arc<Shared>,
    last: Instant,
    /// The epoch of the outputs in the status.
    epoch: u32,
    /// Whether the status must be brought up to date now.
    pub due: bool,
}

impl Watch {
    pub fn new(shared: Arc<Shared>) -> Self {
        Self {
            events: None,
            told: Vec::new(),
            touched: Vec::new(),
            renumbered: false,
            gone: Vec::new(),
            shared,
            last: Instant::now(),
            epoch: 0,
            due: false,
        }
    }

    pub fn is_on(&self) -> bool {
        self.events.is_some()
    }

    pub fn begin(&mut self, events: Sender<Vec<Event>>) {
        self.events = Some(events);
    }

    pub fn tell(&mut self, event: Event) {
        if self.is_on() {
            self.told.push(event);
        }
    }

    /// All nodes have other numbers.
    pub fn reset(&mut self) {
        self.touched.clear();
        self.gone.clear();
        self.renumbered = true;
    }

    /// A node is gone.
    pub fn forget(&mut self, path: &NodePath) {
        if self.is_on() {
            self.gone.push(path.clone());
        }
    }
}

impl Engine {
    /// Someone looks from now on: shows them what there is.
    pub fn begin_watch(&mut self, events: Sender<Vec<Event>>) {
        if self.watch.is_on() {
            return;
        }
        self.watch.begin(events);
        let slots: Vec<Slot> = self.plan.iter().map(|(slot, _)| slot).collect();
        slots.into_iter().for_each(|slot| self.touch(slot));
        self.watch.due = true;
    }

    /// Brings the status up to date, then sends the events that it shows.
    pub fn publish(&mut self) {
        if !self.watch.is_on() {
            return;
        }
        self.tell_progress();
        let quiet = self.flights.is_empty() || self.watch.last.elapsed() >= INTERVAL;
        let news = !self.watch.told.is_empty() || !self.watch.touched.is_empty();
        if !(self.watch.due || (quiet && news)) {
            return;
        }
        self.watch.due = false;
        self.watch.last = Instant::now();
        // Outputs are settled by nodes that were touched, or are wanted anew.
        let outputs = !self.watch.touched.is_empty() || self.watch.epoch != self.epoch;
        self.watch.epoch = self.epoch;
        let touched = std::mem::take(&mut self.watch.touched);
        let mut nodes = Vec::with_capacity(touched.len());
        for slot in touched {
            if self.live.get(slot as usize).is_some()
                && let Some(path) = self.path(slot)
            {
                nodes.push((slot, path, self.status(slot)));
            }
        }
        let outputs = outputs
            .then(|| self.wanted.iter().filter_map(|(path, feed)| Some((path.clone(), self.output(feed)?))).collect());
        let meter = self.meter();
        let shared = Arc::clone(&self.watch.shared);
        let mut news = shared.news.lock();
        if std::mem::take(&mut self.watch.renumbered) {
            news.nodes.clear();
            news.reset = true;
        }
        news.nodes.extend(self.watch.gone.drain(..).map(|path| (path, None)));
        let round = news.round + 1;
        for (slot, path, status) in nodes {
            let live = &mut self.live[slot as usize];
            live.touched = false;
            // What nobody has seen is replaced.
            match news.nodes.get_mut(live.noted.1 as usize).filter(|_| live.noted.0 == round) {
                Some(noted) => noted.1 = Some(status),
                None => {
                    live.noted = (round, news.nodes.len() as u32);
                    news.nodes.push((path, Some(status)));
                }
            }
        }
        news.outputs = outputs.or_else(|| news.outputs.take());
        (news.generation, news.finished, news.meter) = (self.generation, self.finished, meter);
        let many = news.nodes.len() > self.plan.len() + MOST_GONE;
        drop(news);
        if many {
            shared.status();
        }
        let told = std::mem::take(&mut self.watch.told);
        if let Some(events) = &self.watch.events
            && !told.is_empty()
        {
            // If nobody listens any more, the status goes on.
            let _ = events.send(told);
        }
    }

    fn tell_progress(&mut self) {
        if self.progressed.elapsed() < PROGRESS {
            return;
        }
        self.progressed = Instant::now();
        for flight in self.flights.values().filter(|flight| flight.running) {
            let fraction = flight.cx.fraction();
            for &slot in &flight.slots {
                if fraction > 0.0
                    && self.live[slot as usize].phase == Phase::Flying
                    && let Some(planned) = self.plan.get(slot)
                {
                    let path = planned.leaf.path.clone();
                    self.watch.tell(Event::Progress(self.generation, path, fraction));
                }
            }
        }
    }

    pub fn meter(&self) -> Meter {
        Meter {
            entries: self.cache.len(),
            bytes: self.cache.bytes(),
            held_bytes: self.cache.held_bytes(),
            budget: self.options.budget,
            evicted: self.cache.evicted(),
            disk_bytes: self.disk.as_ref().map_or(0, |disk| disk.bytes()),
        }
    }
}
