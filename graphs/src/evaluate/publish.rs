//! The side of the scheduling thread that others look at: events, and the status that anyone may take a copy of.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::Sender;
use parking_lot::Mutex;

use super::engine::{Engine, Phase};
use super::path::NodePath;
use super::plan::Slot;
use super::status::{Event, Meter, Status};

/// While nodes run, the status is brought up to date at most this often.
const INTERVAL: Duration = Duration::from_millis(8);
/// How often progress is told of.
const PROGRESS: Duration = Duration::from_millis(100);

/// Who looks, and what they have not seen yet.
pub(super) struct Watch {
    events: Option<Sender<Event>>,
    /// To be sent once the status shows them.
    told: Vec<Event>,
    pub touched: Vec<Slot>,
    status: Status,
    shared: Arc<Mutex<Status>>,
    last: Instant,
    /// The epoch of the outputs in the status.
    epoch: u32,
    /// Whether the status must be brought up to date now.
    pub due: bool,
}

impl Watch {
    pub fn new(shared: Arc<Mutex<Status>>) -> Self {
        Self {
            events: None,
            told: Vec::new(),
            touched: Vec::new(),
            status: Status::default(),
            shared,
            last: Instant::now(),
            epoch: 0,
            due: false,
        }
    }

    pub fn is_on(&self) -> bool {
        self.events.is_some()
    }

    pub fn begin(&mut self, events: Sender<Event>) {
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
        self.status.nodes.clear();
    }

    /// A node is gone.
    pub fn forget(&mut self, path: &NodePath) {
        self.status.nodes.remove(path);
    }
}

impl Engine {
    /// Someone looks from now on: shows them what there is.
    pub fn begin_watch(&mut self, events: Sender<Event>) {
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
        for slot in std::mem::take(&mut self.watch.touched) {
            let Some(live) = self.live.get_mut(slot as usize) else { continue };
            live.touched = false;
            if let Some(path) = self.path(slot) {
                let status = Arc::new(self.status(slot));
                self.watch.status.nodes.insert(path, status);
            }
        }
        self.watch.status.generation = self.generation;
        self.watch.status.finished = self.finished;
        if outputs {
            self.watch.status.outputs =
                self.wanted.iter().filter_map(|(path, feed)| Some((path.clone(), self.output(feed)?))).collect();
        }
        self.watch.status.meter = self.meter();
        *self.watch.shared.lock() = self.watch.status.clone();
        let told = std::mem::take(&mut self.watch.told);
        if let Some(events) = &self.watch.events
            && told.into_iter().any(|event| events.send(event).is_err())
        {
            // Nobody listens any more; the status goes on.
            self.watch.told.clear();
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
