//! Demand: what has to run so that what is wanted is there, and nothing else.
//!
//! Goes upstream from the wanted outputs and stops at results that are there. A result found makes all upstream of it
//! unneeded; a node whose key hangs on another one's output (early cut-off, files) waits until that is known.

use std::sync::{Arc, OnceLock};

use super::cache::Place;
use super::define::Work;
use super::engine::{Engine, Outs, Phase};
use super::explain::{Components, Explained, Ground, Outcome};
use super::plan::Slot;
use super::request::Wanted;
use super::status::Event;
use crate::error::NodeError;

/// What has to be known of a node's sources.
#[derive(Clone, Copy, PartialEq)]
enum Look {
    /// Nothing: it is decided.
    Decided,
    /// All of them: it has to run.
    All,
    /// Those whose outputs enter its key and are not known.
    Unknown,
}

impl Engine {
    /// Looks at all that is wanted, from nothing. Cancels what runs and is no longer wanted.
    pub fn demand_all(&mut self) {
        self.epoch += 1;
        self.cache.begin_epoch(self.epoch);
        self.ready.clear();
        let before = std::mem::take(&mut self.entered);
        self.flights.values_mut().for_each(|flight| flight.slots.clear());
        let same = self.found == Some(self.plan.shape)
            && self.wanted.len() == self.request.wanted.len()
            && self.wanted.iter().zip(&self.request.wanted).all(|((path, _), wanted)| *path == wanted.output);
        if !same {
            let find = |wanted: &Wanted| (wanted.output.clone(), self.plan.find(&wanted.output));
            self.wanted = self.request.wanted.iter().map(find).collect();
            self.found = Some(self.plan.shape);
        }
        let slots: Vec<Slot> = self.wanted.iter().filter_map(|(_, feed)| feed.as_ref().ok()).map(|f| f.slot).collect();
        for &slot in &slots {
            self.live[slot as usize].wanted = self.epoch;
            self.demand(slot);
        }
        self.follow_known();
        self.unsettled = slots;
        for slot in before {
            if self.live[slot as usize].epoch != self.epoch {
                self.touch(slot);
            }
        }
        let epoch = self.epoch;
        for flight in self.flights.values_mut().filter(|flight| flight.slots.is_empty()) {
            let origin = self.live.get(flight.origin as usize);
            let keyless = origin.is_some_and(|live| live.epoch == epoch && live.phase == Phase::Keyless);
            if keyless && !flight.cx.is_cancelled() {
                flight.doubtful = true;
            } else {
                flight.cx.cancel();
            }
        }
        self.cache.trim();
    }

    /// Looks again at nodes that were decided on grounds that have changed.
    pub fn demand_again(&mut self, slots: &[Slot]) {
        let epoch = self.epoch;
        let demanded: Vec<Slot> =
            slots.iter().copied().filter(|&slot| self.live[slot as usize].epoch == epoch).collect();
        // None of them is taken for decided while another one is looked at.
        for &slot in &demanded {
            let live = &mut self.live[slot as usize];
            live.epoch = epoch - 1;
            for place in [live.base, live.key].into_iter().flatten() {
                if let Some(flight) = self.cache.flight(place).and_then(|flight| self.flights.get_mut(flight)) {
                    flight.slots.retain(|waiting| *waiting != slot);
                }
            }
        }
        for &slot in &demanded {
            self.demand(slot);
        }
        self.follow_known();
    }

    /// Takes in outputs that became known while others were looked at.
    pub fn follow_known(&mut self) {
        while !self.known.is_empty() {
            let known = std::mem::take(&mut self.known);
            // Their own keys have been worked out already: what takes their outputs comes next.
            let takers: Vec<Slot> = known.iter().flat_map(|&slot| self.plan.consumers(slot)).collect();
            let changed = self.rekey(takers);
            let changed: Vec<Slot> = changed.into_iter().filter(|slot| !known.contains(slot)).collect();
            self.demand_again(&changed);
        }
    }

    /// Decides a node, after those upstream that matter.
    fn demand(&mut self, slot: Slot) {
        let mut stack: Vec<(Slot, Look, usize)> = Vec::new();
        if let Some(look) = self.enter(slot) {
            stack.push((slot, look, 0));
        }
        while let Some((slot, look, next)) = stack.last_mut() {
            let (slot, look) = (*slot, *look);
            let feed = self.plan.get(slot).and_then(|planned| planned.feeds.get(*next)).copied();
            *next += 1;
            let Some(feed) = feed else {
                stack.pop();
                self.conclude(slot, look);
                continue;
            };
            if look == Look::Unknown && self.live[feed.slot as usize].outs.link(feed.output).is_some() {
                continue;
            }
            if let Some(look) = self.enter(feed.slot) {
                stack.push((feed.slot, look, 0));
            }
        }
    }

    /// Looks at a node for the first time; `None` if it is decided.
    fn enter(&mut self, slot: Slot) -> Option<Look> {
        let epoch = self.epoch;
        let live = &mut self.live[slot as usize];
        if live.epoch == epoch {
            return None;
        }
        live.epoch = epoch;
        live.phase = Phase::Open;
        if self.watch.is_on() {
            self.entered.push(slot);
        }
        self.release(slot);
        let look = self.look(slot);
        (look != Look::Decided).then_some(look)
    }

    fn look(&mut self, slot: Slot) -> Look {
        match self.plan.get(slot).map(|planned| &planned.work) {
            None => return Look::Decided,
            Some(Work::Pass(_)) => return Look::All,
            Some(Work::Broken(error)) => {
                let error = Arc::clone(error);
                self.fail(slot, error);
                return Look::Decided;
            }
            Some(Work::Run(_)) => {}
        }
        let live = &self.live[slot as usize];
        let Some(base) = live.base else { return Look::Unknown };
        let Some(mut key) = live.key else { return Look::Unknown };
        if key == base && !self.cache.records(base).is_empty() {
            // Another node with this recipe may have read the files meanwhile.
            if self.key_one(slot) != (false, false) {
                self.known.push(slot);
            }
            match self.live[slot as usize].key {
                Some(now) => key = now,
                None => return Look::Unknown,
            }
        }
        if let Some(error) = self.cache.error(key) {
            let error = Arc::clone(error);
            self.fail(slot, error);
            return Look::Decided;
        }
        let check = self.must_check(slot);
        if !check && let Some(results) = self.cache.get(key) {
            let (nanos, bytes) = (results.nanos, results.memory.bytes());
            self.settle(slot, Outcome::Memory, nanos, bytes);
            return Look::Decided;
        }
        for place in [base, key] {
            if let Some(flight) = self.cache.flight(place).and_then(|flight| self.flights.get_mut(flight)) {
                flight.slots.push(slot);
                flight.doubtful = false;
                self.hold_wanted(slot, key);
                self.enter_phase(slot, Phase::Flying);
                return Look::Decided;
            }
        }
        if !check && self.disk.as_ref().is_some_and(|disk| disk.contains(self.cache.key(key))) {
            self.hold_wanted(slot, key);
            self.enter_phase(slot, Phase::Ready);
            self.ready.push_back(slot);
            return Look::Decided;
        }
        Look::All
    }

    /// Decides a node whose sources have been looked at.
    fn conclude(&mut self, slot: Slot, look: Look) {
        let Some(planned) = self.plan.get(slot) else { return };
        let (mut missing, mut blocked) = (0, false);
        for feed in &planned.feeds {
            match &self.live[feed.slot as usize] {
                live if live.epoch != self.epoch => {}
                live if live.phase == Phase::Done => {}
                live if live.phase.is_settled() => blocked = true,
                _ => missing += 1,
            }
        }
        let pass = match &planned.work {
            Work::Pass(passes) => Some(passes.iter().any(Option::is_some)),
            _ => None,
        };
        self.live[slot as usize].missing = missing;
        if blocked {
            self.block(slot);
        } else if pass == Some(false) {
            let error = NodeError::new("the node is muted and nothing that fits is connected to it")
                .help("unmute it or connect an input of the same type");
            self.fail(slot, Arc::new(error));
        } else if look == Look::Unknown {
            self.enter_phase(slot, Phase::Keyless);
        } else {
            self.hold_sources(slot);
            if missing > 0 {
                self.enter_phase(slot, Phase::Waiting);
            } else if pass.is_some() {
                self.pass(slot);
            } else {
                self.enter_phase(slot, Phase::Ready);
                self.ready.push_back(slot);
            }
        }
    }

    pub fn must_check(&self, slot: Slot) -> bool {
        self.request.checked && self.live[slot as usize].checked != self.generation.0
    }

    fn enter_phase(&mut self, slot: Slot, phase: Phase) {
        self.live[slot as usize].phase = phase;
        self.touch(slot);
        if self.watch.is_on()
            && let Some(path) = self.path(slot)
        {
            self.watch.tell(Event::Queued(self.generation, path));
        }
    }

    /// Keeps what a node will take, and what it gives if that is wanted.
    fn hold_sources(&mut self, slot: Slot) {
        let Some(planned) = self.plan.get(slot) else { return };
        let mut held = std::mem::take(&mut self.live[slot as usize].held.1);
        held.clear();
        for &feed in &planned.feeds {
            let real = self.plan.real(feed).and_then(|real| self.live[real.slot as usize].key);
            held.extend(real);
        }
        held.iter().for_each(|&key| self.cache.hold(key));
        let live = &mut self.live[slot as usize];
        live.held = (self.epoch, held);
        if let Some(key) = live.key {
            self.hold_wanted(slot, key);
        }
    }

    fn hold_wanted(&mut self, slot: Slot, key: Place) {
        if self.live[slot as usize].wanted == self.epoch {
            self.cache.hold(key);
        }
    }

    /// Lets go of what a node held.
    fn release(&mut self, slot: Slot) {
        let live = &mut self.live[slot as usize];
        let (epoch, held) = (live.held.0, &mut live.held.1);
        if epoch == self.epoch {
            held.iter().for_each(|&key| self.cache.release(key));
        }
        held.clear();
    }

    /// A node's result is there.
    pub fn settle(&mut self, slot: Slot, outcome: Outcome, nanos: u64, bytes: usize) {
        self.explain(slot, outcome, nanos, bytes);
        if self.live[slot as usize].outs == Outs::Unknown && self.key_one(slot).1 {
            // Found, not run: what is in its outputs is known from another node with its recipe.
            self.known.push(slot);
        }
        if let Some(key) = self.live[slot as usize].key {
            self.hold_wanted(slot, key);
            if outcome == Outcome::Memory {
                self.cache.touch(key);
            }
        }
        self.done(slot);
    }

    /// A muted node's inputs are there.
    pub fn pass(&mut self, slot: Slot) {
        self.passed(slot);
        self.done(slot);
    }

    fn passed(&mut self, slot: Slot) {
        let explanation = Explained {
            outcome: Outcome::Passed,
            ground: Ground::Nothing,
            nanos: 0,
            bytes: 0,
            old: None,
            new: None,
            told: OnceLock::new(),
        };
        let live = &mut self.live[slot as usize];
        live.explanation = Some(Arc::new(explanation));
        live.explained = self.generation;
        if live.wanted == self.epoch {
            let feeds = self.plan.get(slot).map(|planned| planned.feeds.clone()).unwrap_or_default();
            for real in feeds.into_iter().filter_map(|feed| self.plan.real(feed)) {
                if let Some(key) = self.live[real.slot as usize].key {
                    self.cache.hold(key);
                }
            }
        }
    }

    fn done(&mut self, slot: Slot) {
        // Muted nodes pass on at once; a chain of them must not nest.
        let mut done = vec![slot];
        while let Some(slot) = done.pop() {
            self.live[slot as usize].phase = Phase::Done;
            self.touch(slot);
            if self.watch.is_on()
                && let Some(path) = self.path(slot)
            {
                self.watch.tell(Event::Done(self.generation, path));
            }
            let mut passing = Vec::new();
            for consumer in self.plan.consumers(slot) {
                let live = &mut self.live[consumer as usize];
                if live.epoch != self.epoch || live.phase != Phase::Waiting {
                    continue;
                }
                live.missing = live.missing.saturating_sub(1);
                if live.missing == 0 {
                    live.phase = Phase::Ready;
                    if self.plan.get(consumer).is_some_and(|planned| matches!(planned.work, Work::Pass(_))) {
                        passing.push(consumer);
                    } else {
                        self.ready.push_back(consumer);
                    }
                }
            }
            for &consumer in &passing {
                self.passed(consumer);
            }
            done.extend(passing);
            self.release(slot);
        }
    }

    /// A node failed: what hangs on it is blocked.
    pub fn fail(&mut self, slot: Slot, error: Arc<NodeError>) {
        self.release(slot);
        let live = &mut self.live[slot as usize];
        live.phase = Phase::Failed(Arc::clone(&error));
        self.touch(slot);
        if let Some(path) = self.path(slot) {
            self.watch.tell(Event::Failed(self.generation, path, error));
        }
        self.block_downstream(slot);
    }

    fn block(&mut self, slot: Slot) {
        self.mark_blocked(slot);
        self.block_downstream(slot);
    }

    fn mark_blocked(&mut self, slot: Slot) {
        self.release(slot);
        self.live[slot as usize].phase = Phase::Blocked;
        self.touch(slot);
        if self.watch.is_on()
            && let (Some(path), Some((by, _))) = (self.path(slot), self.blame(slot))
        {
            self.watch.tell(Event::Blocked(self.generation, path, by));
        }
    }

    fn block_downstream(&mut self, slot: Slot) {
        let mut blocked = vec![slot];
        while let Some(slot) = blocked.pop() {
            let consumers: Vec<Slot> = self.plan.consumers(slot).collect();
            for consumer in consumers {
                let live = &self.live[consumer as usize];
                if live.epoch == self.epoch && matches!(live.phase, Phase::Waiting | Phase::Keyless) {
                    self.mark_blocked(consumer);
                    blocked.push(consumer);
                }
            }
        }
    }

    /// Says why a node ran or was found, compared with its last result.
    pub fn explain(&mut self, slot: Slot, outcome: Outcome, nanos: u64, bytes: usize) {
        let Some(planned) = self.plan.get(slot) else { return };
        let Work::Run(recipe) = &planned.work else { return };
        let live = &self.live[slot as usize];
        let Some(key) = live.key.map(|place| self.cache.key(place)) else { return };
        let last = live.last.as_ref().and_then(|last| last.new.as_ref());
        let again = last.is_some_and(|last| last.key == key);
        if again && outcome == Outcome::Memory {
            return;
        }
        let ground = match &live.last {
            None => Ground::First,
            Some(_) if again && live.retried => Ground::Retried,
            Some(_) if again && self.request.checked => Ground::Checked,
            Some(_) if again && outcome == Outcome::Ran => Ground::Evicted,
            Some(_) if again => Ground::Nothing,
            Some(_) => Ground::Changed,
        };
        let (links, files) = (live.links.clone(), live.files.clone());
        let new = Some(Components { key, recipe: Arc::clone(recipe), links, files });
        let live = &mut self.live[slot as usize];
        let old = live.last.as_ref().and_then(|last| last.new.clone());
        let explained = Arc::new(Explained { outcome, ground, nanos, bytes, old, new, told: OnceLock::new() });
        live.retried = false;
        live.last = Some(Arc::clone(&explained));
        live.explanation = Some(explained);
        live.explained = self.generation;
    }
}
