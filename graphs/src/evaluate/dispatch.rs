//! Dispatch: makes jobs of what is ready, as many as workers are free.
//!
//! A job goes on with a node that only waits for what the job itself makes: so a chain of cheap nodes is one job, and
//! a result is used by the thread that has it in its caches. Further branches join only if they are known to be cheap;
//! otherwise other workers get them.

use std::sync::Arc;

use smallvec::SmallVec;

use super::define::Work;
use super::engine::{Engine, Phase};
use super::explain::Outcome;
use super::flights::Flight;
use super::plan::Slot;
use super::worker::{Before, Job, Source, Step, Task};
use crate::cx::Cx;

/// A node that last ran this long or less is cheap.
const CHEAP_NANOS: u64 = 20_000;
/// A job takes no further nodes that wait elsewhere once it has this much to do.
const ENOUGH_NANOS: u64 = 300_000;
/// Most steps of a job.
const MOST_STEPS: usize = 4096;

impl Engine {
    /// Gives jobs to free workers.
    pub fn dispatch(&mut self) {
        while self.idle > 0 {
            let job = self.next_job();
            self.follow_known();
            let Some(job) = job else {
                if self.ready.is_empty() {
                    break;
                }
                continue;
            };
            self.idle -= 1;
            if self.jobs.send(job).is_err() {
                // No worker is left: the evaluator is being closed.
                return;
            }
        }
        if !self.ready.is_empty() {
            // What may not be wanted makes room for what is.
            self.flights.values().filter(|flight| flight.doubtful).for_each(|flight| flight.cx.cancel());
        }
    }

    fn next_job(&mut self) -> Option<Job> {
        self.job += 1;
        let folder = self.plan.folder().map(Arc::from);
        let mut job = Job { steps: Vec::new(), sources: Vec::new(), folder };
        // Its share of what is ready, so that other free workers get theirs.
        let mut share = self.ready.len().div_ceil(self.idle.max(1)).max(1);
        let mut nanos = 0;
        let mut joining = Vec::new();
        loop {
            let slot = match joining.pop() {
                Some(slot) => slot,
                None => {
                    let full = share == 0 || nanos > ENOUGH_NANOS || job.steps.len() >= MOST_STEPS;
                    let cheap = self.ready.front().is_some_and(|&slot| self.is_cheap(slot));
                    if !job.steps.is_empty() && (full || !cheap) {
                        break;
                    }
                    share = share.saturating_sub(1);
                    let Some(slot) = self.ready.pop_front() else { break };
                    slot
                }
            };
            let Some(cost) = self.add(slot, &mut job) else { continue };
            nanos += cost;
            if job.steps.len() < MOST_STEPS {
                self.offer(slot, &mut joining);
            }
        }
        (!job.steps.is_empty()).then_some(job)
    }

    fn is_cheap(&self, slot: Slot) -> bool {
        self.live[slot as usize].nanos.is_some_and(|nanos| nanos <= CHEAP_NANOS)
    }

    /// Adds the nodes that now only wait for steps of this job.
    fn offer(&mut self, slot: Slot, joining: &mut Vec<Slot>) {
        let mut new = Vec::new();
        for consumer in self.plan.consumers(slot) {
            let live = &mut self.live[consumer as usize];
            if live.epoch != self.epoch || live.phase != Phase::Waiting {
                continue;
            }
            if live.offered.0 != self.job {
                live.offered = (self.job, 0);
            }
            live.offered.1 += 1;
            let runs = self.plan.get(consumer).is_some_and(|planned| matches!(planned.work, Work::Run(_)));
            if live.offered.1 == live.missing && runs {
                new.push(consumer);
            }
        }
        // The first goes on here whatever it costs, after the others, which are cheap.
        let others = new.split_off(new.len().min(1));
        joining.extend(new);
        joining.extend(others.into_iter().filter(|&consumer| self.is_cheap(consumer)));
    }

    /// Adds a node's step; gives its cost as far as known, or nothing if it needs none after all.
    fn add(&mut self, slot: Slot, job: &mut Job) -> Option<u64> {
        let live = &self.live[slot as usize];
        if live.epoch != self.epoch || !matches!(live.phase, Phase::Ready | Phase::Waiting) {
            return None;
        }
        let planned = self.plan.get(slot)?;
        let recipe = match &planned.work {
            Work::Run(recipe) => Arc::clone(recipe),
            Work::Pass(_) => {
                self.pass(slot);
                return None;
            }
            Work::Broken(_) => return None,
        };
        let (base, key) = (live.base?, live.key?);
        let check = self.must_check(slot);
        if !check && let Some(results) = self.cache.get(key) {
            // Another node with this recipe was faster.
            let (nanos, bytes) = (results.nanos, results.memory.bytes());
            self.settle(slot, Outcome::Memory, nanos, bytes);
            return None;
        }
        for place in [base, key] {
            if let Some(flight) = self.cache.flight(place).and_then(|flight| self.flights.get_mut(flight)) {
                flight.slots.push(slot);
                self.live[slot as usize].phase = Phase::Flying;
                return None;
            }
        }
        let digest = self.cache.key(key);
        let on_disk = self.disk.as_ref().is_some_and(|disk| disk.contains(digest));
        let load = on_disk && !check;
        let start = job.sources.len();
        let mut lost = false;
        if !load {
            for &feed in &planned.feeds {
                let source = self.plan.real(feed).and_then(|real| {
                    let live = &self.live[real.slot as usize];
                    if live.job.0 == self.job {
                        return Some(Source::Step { step: live.job.1, output: real.output });
                    }
                    let values = &self.cache.get(live.key?)?.values;
                    values.get(real.output as usize).cloned().map(Source::Value)
                });
                match source {
                    Some(source) => job.sources.push(source),
                    None => lost = true,
                }
            }
        }
        if lost {
            // An input went since it was last looked at: it has to be made again first.
            job.sources.truncate(start);
            let mut again: Vec<Slot> = planned.feeds.iter().map(|feed| feed.slot).collect();
            again.push(slot);
            self.demand_again(&again);
            return None;
        }
        let task = match (check, load) {
            (true, _) => match self.cache.get(key) {
                Some(results) => Task::Check(Before::Known(results.values.clone())),
                None if on_disk => Task::Check(Before::OnDisk(digest)),
                None => Task::Check(Before::Unknown),
            },
            (_, true) => Task::Load(digest),
            _ => Task::Run,
        };
        let cx = Cx::default();
        let place = if load { key } else { base };
        let flight = Flight {
            cx: cx.clone(),
            place,
            path: planned.leaf.path.clone(),
            slots: SmallVec::from_slice(&[slot]),
            origin: slot,
            running: false,
            checked: check,
            doubtful: false,
        };
        let flight = self.flights.insert(flight);
        self.cache.take_off(place, flight);
        let sources = start as u32..job.sources.len() as u32;
        let live = &mut self.live[slot as usize];
        live.phase = Phase::Flying;
        live.job = (self.job, job.steps.len() as u32);
        let cheap = load || live.nanos.is_some_and(|nanos| nanos <= CHEAP_NANOS);
        let cost = live.nanos.unwrap_or(if load { CHEAP_NANOS } else { ENOUGH_NANOS });
        job.steps.push(Step { flight, recipe, sources, cx, task, cheap });
        self.touch(slot);
        Some(cost)
    }
}
