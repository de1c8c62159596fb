//! The memory tier: results by recipe key, many per node, under a hard budget in bytes.
//!
//! Owned by the scheduling thread, so nothing here locks. Allocations are counted by identity: what entries share
//! counts once. Entries in use (wanted, or input of a run to come) are held: they stay, and are metered. Of the others
//! those go first that cost least time per byte to make again, with ageing so that unused ones go in the end
//! (GreedyDual-Size, Cao and Irani 1997).

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

use crate::column::{Column, Elements};
use crate::cx::Warning;
use crate::value::{Digest, Value};

/// A map by digest. A digest's first bytes are as good as a hash.
pub(super) type ByDigest<T> = HashMap<Digest, T, BuildHasherDefault<FirstBytes>>;

#[derive(Default)]
pub(super) struct FirstBytes(u64);

impl Hasher for FirstBytes {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        if let Some(first) = bytes.first_chunk::<8>() {
            self.0 = u64::from_le_bytes(*first);
        }
    }

    fn write_usize(&mut self, _: usize) {}
}

/// What a node gave: its outputs and its warnings.
#[derive(Debug)]
pub(super) struct Results {
    pub values: Vec<Value>,
    pub warnings: Vec<Warning>,
    /// How long it ran.
    pub nanos: u64,
    /// The memory behind the values.
    pub memory: Memory,
}

/// The allocations behind some values.
#[derive(Clone, Debug, Default)]
pub(super) struct Memory {
    /// Buffers that other values may share: address and bytes.
    shared: Vec<(usize, usize)>,
    /// All other bytes.
    own: usize,
}

/// Bytes that an entry costs besides its columns.
const PER_ENTRY: usize = 256;

impl Memory {
    /// Measures values. Takes no copy of anything large.
    pub fn of(values: &[Value]) -> Self {
        let mut memory = Self { shared: Vec::new(), own: PER_ENTRY };
        for value in values {
            if let Some(bytes) = value.own_bytes() {
                memory.own += bytes;
                continue;
            }
            for column in value.columns() {
                memory.add(&column);
            }
        }
        memory
    }

    fn add(&mut self, column: &Column) {
        // A buffer that only this column owns was made for it and is gone in a moment: its address means nothing.
        fn buffer<T>(memory: &mut Memory, rows: &Arc<[T]>) {
            let bytes = size_of_val::<[T]>(rows);
            if Arc::strong_count(rows) > 1 && bytes > 0 {
                memory.shared.push((rows.as_ptr() as usize, bytes));
            } else {
                memory.own += bytes;
            }
        }
        match &column.elements {
            Elements::F32(rows) => buffer(self, rows),
            Elements::F64(rows) => buffer(self, rows),
            Elements::U32(rows) => buffer(self, rows),
            Elements::U16(rows) => buffer(self, rows),
            Elements::U8(rows) => buffer(self, rows),
            Elements::I32(rows) => buffer(self, rows),
            Elements::Text(rows) => {
                buffer(self, rows);
                let rows_are_own = Arc::strong_count(rows) == 1;
                for row in rows.iter() {
                    if rows_are_own || Arc::strong_count(row) == 1 {
                        self.own += row.len();
                    } else {
                        self.shared.push((row.as_ptr() as usize, row.len()));
                    }
                }
            }
        }
    }

    /// All bytes, as if nothing were shared with other entries.
    pub fn bytes(&self) -> usize {
        self.own + self.shared.iter().map(|(_, bytes)| bytes).sum::<usize>()
    }
}

struct Entry {
    key: Digest,
    results: Results,
    /// Its place in the queue; `None` while it was met there held.
    priority: Option<u64>,
    /// Who holds it, in which epoch.
    holds: (u32, u32),
}

/// A buffer behind entries: its bytes, how many entries have it, and how many of those are held in which epoch.
#[derive(Default)]
struct Buffer {
    bytes: usize,
    users: u32,
    holds: (u32, u32),
}

/// The memory tier.
pub(super) struct Cache {
    budget: usize,
    bytes: usize,
    held_bytes: usize,
    /// Where each entry is, so that the map stays small.
    places: ByDigest<u32>,
    entries: Vec<Option<Entry>>,
    free: Vec<u32>,
    /// By address.
    buffers: HashMap<usize, Buffer, BuildHasherDefault<FirstBytes8>>,
    /// Least worth first. The priority is a float's bits, which sort as the float does: none is negative. What is not
    /// its entry's priority any more is passed over.
    queue: BinaryHeap<Reverse<(u64, Digest)>>,
    parked: Vec<Digest>,
    age: f64,
    epoch: u32,
    /// Holds on what is not there yet.
    early: ByDigest<u32>,
    evicted: u64,
}

#[derive(Default)]
pub(super) struct FirstBytes8(u64);

impl Hasher for FirstBytes8 {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {}

    fn write_usize(&mut self, address: usize) {
        // Fibonacci hashing spreads addresses, whose low bits are all alike.
        self.0 = (address as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(32);
    }
}

impl Cache {
    pub fn new(budget: usize) -> Self {
        Self {
            budget,
            bytes: 0,
            held_bytes: 0,
            places: ByDigest::default(),
            entries: Vec::new(),
            free: Vec::new(),
            buffers: HashMap::default(),
            queue: BinaryHeap::new(),
            parked: Vec::new(),
            age: 0.0,
            epoch: 0,
            early: ByDigest::default(),
            evicted: 0,
        }
    }

    pub fn get(&self, key: Digest) -> Option<&Results> {
        let place = *self.places.get(&key)?;
        self.entries.get(place as usize)?.as_ref().map(|entry| &entry.results)
    }

    fn entry(&mut self, key: Digest) -> Option<&mut Entry> {
        let place = *self.places.get(&key)?;
        self.entries.get_mut(place as usize)?.as_mut()
    }

    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Bytes of all entries, held ones included; shared buffers once.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Bytes of the held entries alone.
    pub fn held_bytes(&self) -> usize {
        self.held_bytes
    }

    pub fn evicted(&self) -> u64 {
        self.evicted
    }

    /// Adds a result and makes room for it. Above the budget is at most this one, until it returns.
    pub fn insert(&mut self, key: Digest, results: Results) {
        if self.places.contains_key(&key) {
            return;
        }
        let mut gained = results.memory.own;
        for &(address, bytes) in &results.memory.shared {
            let buffer = self.buffers.entry(address).or_default();
            if buffer.users == 0 {
                buffer.bytes = bytes;
                gained += bytes;
            }
            buffer.users += 1;
        }
        self.bytes += gained;
        let priority = (self.age + results.nanos as f64 / gained.max(1) as f64).to_bits();
        self.queue.push(Reverse((priority, key)));
        let holds = if self.early.is_empty() { 0 } else { self.early.remove(&key).unwrap_or(0) };
        if holds > 0 {
            self.meter_hold(&results.memory, true);
        }
        let entry = Some(Entry { key, results, priority: Some(priority), holds: (self.epoch, holds) });
        let place = match self.free.pop() {
            Some(place) => {
                self.entries[place as usize] = entry;
                place
            }
            None => {
                self.entries.push(entry);
                self.entries.len() as u32 - 1
            }
        };
        self.places.insert(key, place);
        self.trim();
    }

    /// Says that an entry was of use.
    pub fn touch(&mut self, key: Digest) {
        let age = self.age;
        let Some(entry) = self.entry(key) else { return };
        let Some(old) = entry.priority else { return };
        let worth = entry.worth(age);
        if worth != old {
            entry.priority = Some(worth);
            self.enqueue(worth, key);
        }
    }

    /// Queues an entry anew; its older places count no more, and are swept once they are most of the queue.
    fn enqueue(&mut self, priority: u64, key: Digest) {
        self.queue.push(Reverse((priority, key)));
        if self.queue.len() > 2 * self.places.len() + 64 {
            let live = self.entries.iter().flatten().filter_map(|entry| Some(Reverse((entry.priority?, entry.key))));
            self.queue = live.collect();
        }
    }

    /// Lets go of all holds; those of the new plan follow.
    pub fn begin_epoch(&mut self, epoch: u32) {
        self.epoch = epoch;
        self.early.clear();
        self.held_bytes = 0;
        for key in std::mem::take(&mut self.parked) {
            self.unpark(key);
        }
    }

    /// Keeps an entry, now or as soon as it is there, until [`Cache::release`] or the next epoch.
    pub fn hold(&mut self, key: Digest) {
        let epoch = self.epoch;
        let Some(&place) = self.places.get(&key) else {
            *self.early.entry(key).or_default() += 1;
            return;
        };
        let Some(entry) = self.entries[place as usize].as_mut() else { return };
        if entry.holds.0 != epoch {
            entry.holds = (epoch, 0);
        }
        entry.holds.1 += 1;
        if entry.holds.1 == 1 {
            self.meter_entry(place, true);
        }
    }

    /// Ends one hold.
    pub fn release(&mut self, key: Digest) {
        let Some(&place) = self.places.get(&key) else {
            if let Some(count) = self.early.get_mut(&key) {
                *count = count.saturating_sub(1);
            }
            return;
        };
        let epoch = self.epoch;
        let Some(entry) = self.entries[place as usize].as_mut() else { return };
        if entry.holds.0 != epoch || entry.holds.1 == 0 {
            return;
        }
        entry.holds.1 -= 1;
        if entry.holds.1 == 0 {
            let parked = entry.priority.is_none();
            self.meter_entry(place, false);
            if parked {
                self.unpark(key);
            }
        }
    }

    fn meter_entry(&mut self, place: u32, held: bool) {
        let Some(entry) = self.entries[place as usize].take() else { return };
        self.meter_hold(&entry.results.memory, held);
        self.entries[place as usize] = Some(entry);
    }

    /// Counts what becomes held, or is no longer.
    fn meter_hold(&mut self, memory: &Memory, held: bool) {
        let mut bytes = memory.own;
        for (address, _) in &memory.shared {
            let Some(buffer) = self.buffers.get_mut(address) else { continue };
            if buffer.holds.0 != self.epoch {
                buffer.holds = (self.epoch, 0);
            }
            let alone = if held { 0 } else { 1 };
            bytes += if buffer.holds.1 == alone { buffer.bytes } else { 0 };
            buffer.holds.1 = if held { buffer.holds.1 + 1 } else { buffer.holds.1.saturating_sub(1) };
        }
        self.held_bytes = if held { self.held_bytes + bytes } else { self.held_bytes.saturating_sub(bytes) };
    }

    /// Evicts what is over the budget.
    pub fn trim(&mut self) {
        while self.bytes > self.budget {
            let Some(Reverse((priority, key))) = self.queue.pop() else { return };
            let epoch = self.epoch;
            let Some(entry) = self.entry(key).filter(|entry| entry.priority == Some(priority)) else { continue };
            if entry.holds.0 == epoch && entry.holds.1 > 0 {
                entry.priority = None;
                self.parked.push(key);
                continue;
            }
            self.age = self.age.max(f64::from_bits(priority));
            self.remove(key);
            self.evicted += 1;
        }
    }

    /// Takes out an entry that is not held.
    fn remove(&mut self, key: Digest) {
        let Some(place) = self.places.remove(&key) else { return };
        let Some(entry) = self.entries[place as usize].take() else { return };
        self.free.push(place);
        self.bytes -= entry.results.memory.own;
        for (address, _) in &entry.results.memory.shared {
            if let Some(buffer) = self.buffers.get_mut(address) {
                buffer.users -= 1;
                if buffer.users == 0 {
                    self.bytes -= buffer.bytes;
                    self.buffers.remove(address);
                }
            }
        }
    }

    /// Drops everything that is not held.
    pub fn clear(&mut self) {
        let budget = std::mem::replace(&mut self.budget, 0);
        self.trim();
        self.budget = budget;
    }

    fn unpark(&mut self, key: Digest) {
        let age = self.age;
        if let Some(entry) = self.entry(key).filter(|entry| entry.priority.is_none()) {
            let priority = entry.worth(age);
            entry.priority = Some(priority);
            self.enqueue(priority, key);
        }
    }
}

impl Entry {
    fn worth(&self, age: f64) -> u64 {
        (age + self.results.nanos as f64 / self.results.memory.bytes().max(1) as f64).to_bits()
    }
}
