//! The memory tier: results by recipe key, many per node, under a hard budget in bytes.
//!
//! Owned by the scheduling thread, so nothing here locks. Allocations are counted by identity: what entries share
//! counts once. Entries in use (wanted, or input of a run to come) are held: they stay, and are metered. Of the others
//! those go first that cost least time per byte to make again, with ageing so that unused ones go in the end
//! (GreedyDual-Size, Cao and Irani 1997).

use std::collections::{BTreeSet, HashMap};
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
    results: Results,
    /// Its place in the queue; `None` while it was met there held.
    priority: Option<u64>,
    /// Who holds it, in which epoch.
    holds: (u32, u32),
}

/// The memory tier.
pub(super) struct Cache {
    budget: usize,
    bytes: usize,
    entries: ByDigest<Entry>,
    /// Per address: bytes, and how many entries have it.
    buffers: HashMap<usize, (usize, u32), BuildHasherDefault<FirstBytes8>>,
    /// Least worth first. The priority is a float's bits, which sort as the float does: none is negative.
    queue: BTreeSet<(u64, Digest)>,
    parked: Vec<Digest>,
    /// What was held in this epoch; some of it may have been let go.
    held: Vec<Digest>,
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
            entries: ByDigest::default(),
            buffers: HashMap::default(),
            queue: BTreeSet::new(),
            parked: Vec::new(),
            held: Vec::new(),
            age: 0.0,
            epoch: 0,
            early: ByDigest::default(),
            evicted: 0,
        }
    }

    pub fn get(&self, key: Digest) -> Option<&Results> {
        self.entries.get(&key).map(|entry| &entry.results)
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Bytes of all entries, held ones included; shared buffers once.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Bytes of the held entries alone.
    pub fn held_bytes(&self) -> usize {
        let mut seen = BTreeSet::new();
        let mut bytes = 0;
        for key in &self.held {
            let Some(entry) = self.entries.get(key).filter(|entry| self.is_held(entry) && seen.insert((0, *key)))
            else {
                continue;
            };
            bytes += entry.results.memory.own;
            for &(address, size) in &entry.results.memory.shared {
                bytes += if seen.insert((address, Digest([0; 16]))) { size } else { 0 };
            }
        }
        bytes
    }

    pub fn evicted(&self) -> u64 {
        self.evicted
    }

    /// Adds a result and makes room for it. Above the budget is at most this one, until it returns.
    pub fn insert(&mut self, key: Digest, results: Results) {
        if self.entries.contains_key(&key) {
            return;
        }
        let mut gained = results.memory.own;
        for &(address, bytes) in &results.memory.shared {
            let (_, users) = self.buffers.entry(address).or_insert((bytes, 0));
            gained += if *users == 0 { bytes } else { 0 };
            *users += 1;
        }
        self.bytes += gained;
        let priority = self.worth(results.nanos, gained);
        self.queue.insert((priority, key));
        let holds = (self.epoch, self.early.remove(&key).unwrap_or(0));
        self.entries.insert(key, Entry { results, priority: Some(priority), holds });
        self.trim();
    }

    /// Says that an entry was of use.
    pub fn touch(&mut self, key: Digest) {
        let Some(entry) = self.entries.get_mut(&key) else { return };
        let Some(old) = entry.priority else { return };
        let worth = self.age + entry.results.nanos as f64 / (entry.results.memory.bytes().max(1)) as f64;
        entry.priority = Some(worth.to_bits());
        self.queue.remove(&(old, key));
        self.queue.insert((worth.to_bits(), key));
    }

    /// Lets go of all holds; those of the new plan follow.
    pub fn begin_epoch(&mut self, epoch: u32) {
        self.epoch = epoch;
        self.early.clear();
        self.held.clear();
        for key in std::mem::take(&mut self.parked) {
            self.unpark(key);
        }
    }

    /// Keeps an entry, now or as soon as it is there, until [`Cache::release`] or the next epoch.
    pub fn hold(&mut self, key: Digest) {
        let first = match self.entries.get_mut(&key) {
            Some(entry) if entry.holds.0 == self.epoch => {
                entry.holds.1 += 1;
                entry.holds.1 == 1
            }
            Some(entry) => {
                entry.holds = (self.epoch, 1);
                true
            }
            None => {
                let holds = self.early.entry(key).or_default();
                *holds += 1;
                *holds == 1
            }
        };
        if first {
            self.held.push(key);
        }
    }

    /// Ends one hold.
    pub fn release(&mut self, key: Digest) {
        if let Some(entry) = self.entries.get_mut(&key) {
            if entry.holds.0 == self.epoch {
                entry.holds.1 = entry.holds.1.saturating_sub(1);
                if entry.holds.1 == 0 && entry.priority.is_none() {
                    self.unpark(key);
                }
            }
        } else if let Some(count) = self.early.get_mut(&key) {
            *count = count.saturating_sub(1);
        }
    }

    /// Evicts what is over the budget.
    pub fn trim(&mut self) {
        if self.bytes <= self.budget {
            return;
        }
        while self.bytes > self.budget {
            let Some((priority, key)) = self.queue.pop_first() else { return };
            let Some(entry) = self.entries.get_mut(&key) else { continue };
            if entry.holds.0 == self.epoch && entry.holds.1 > 0 {
                entry.priority = None;
                self.parked.push(key);
                continue;
            }
            self.age = self.age.max(f64::from_bits(priority));
            self.remove(key);
            self.evicted += 1;
        }
    }

    /// Takes an entry out.
    pub fn remove(&mut self, key: Digest) {
        let Some(entry) = self.entries.remove(&key) else { return };
        if let Some(priority) = entry.priority {
            self.queue.remove(&(priority, key));
        }
        self.bytes -= entry.results.memory.own;
        for (address, _) in &entry.results.memory.shared {
            if let Some((bytes, users)) = self.buffers.get_mut(address) {
                *users -= 1;
                if *users == 0 {
                    self.bytes -= *bytes;
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

    fn worth(&self, nanos: u64, bytes: usize) -> u64 {
        (self.age + nanos as f64 / bytes.max(1) as f64).to_bits()
    }

    fn is_held(&self, entry: &Entry) -> bool {
        entry.holds.0 == self.epoch && entry.holds.1 > 0
    }

    fn unpark(&mut self, key: Digest) {
        let age = self.age;
        if let Some(entry) = self.entries.get_mut(&key).filter(|entry| entry.priority.is_none()) {
            let priority = (age + entry.results.nanos as f64 / entry.results.memory.bytes().max(1) as f64).to_bits();
            entry.priority = Some(priority);
            self.queue.insert((priority, key));
        }
    }
}
