//! The memory tier: results by recipe key, many per node, under a hard budget in bytes; and whatever else is known of
//! a key.
//!
//! Owned by the scheduling thread, so nothing here locks. A key is looked up once, when a node gets it; from then on
//! it is a [`Place`]. Entries in use (wanted, or input of a run to come) are held: they stay, and are metered. Of the
//! others those go first that cost least time per byte to make again, with ageing so that unused ones go in the end
//! (GreedyDual-Size, Cao and Irani 1997).

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque, hash_map};
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

use super::flights::FlightId;
use super::keys::FileList;
use super::results::{Memory, Results};
use crate::error::NodeError;
use crate::value::Digest;

/// A key's number: good while a node has the key, or anything is kept, held or under way for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place(u32);

/// Of so many keys that no node has and that have no result, it is still known what failed, what files they read, and
/// what was in their outputs.
const MOST_REMEMBERED: usize = 1 << 16;

/// Files that a recipe read, and the key of its result with them.
pub(super) struct Record {
    pub files: FileList,
    pub effective: Digest,
}

/// What stays known of a key without its result.
#[derive(Default)]
struct Memo {
    error: Option<Arc<NodeError>>,
    /// With early cut-off: what is in its outputs.
    contents: Option<Arc<[Digest]>>,
    records: Vec<Record>,
}

impl Memo {
    fn is_empty(&self) -> bool {
        self.error.is_none() && self.contents.is_none() && self.records.is_empty()
    }
}

struct Entry {
    key: Digest,
    /// How many nodes have this key; as the key of their recipe or with the files that it read.
    nodes: u32,
    flight: Option<FlightId>,
    /// Who holds it, in which epoch.
    holds: (u32, u32),
    /// Apart, so that going through many keys does not go through their results.
    results: Option<Box<Results>>,
    /// Its place in the queue; `None` while it was met there held.
    priority: Option<u64>,
    memo: Option<Box<Memo>>,
    remembered: bool,
    vacant: bool,
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
    places: HashMap<Digest, Place, BuildHasherDefault<FirstBytes>>,
    entries: Vec<Entry>,
    free: Vec<Place>,
    /// How many entries have results.
    results: usize,
    /// By address.
    buffers: HashMap<usize, Buffer, BuildHasherDefault<Address>>,
    /// Least worth first. The priority is a float's bits, which sort as the float does: none is negative. What is not
    /// its entry's priority any more is passed over.
    queue: BinaryHeap<Reverse<(u64, u32)>>,
    parked: Vec<Place>,
    /// Held before they had results.
    early: Vec<Place>,
    remembered: VecDeque<Place>,
    age: f64,
    epoch: u32,
    evicted: u64,
}

/// A digest's first bytes are as good as a hash.
#[derive(Default)]
struct FirstBytes(u64);

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

#[derive(Default)]
struct Address(u64);

impl Hasher for Address {
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
            places: HashMap::default(),
            entries: Vec::new(),
            free: Vec::new(),
            results: 0,
            buffers: HashMap::default(),
            queue: BinaryHeap::new(),
            parked: Vec::new(),
            early: Vec::new(),
            remembered: VecDeque::new(),
            age: 0.0,
            epoch: 0,
            evicted: 0,
        }
    }

    /// How many results there are.
    pub fn len(&self) -> usize {
        self.results
    }

    /// Bytes of all results, held ones included; shared buffers once.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Bytes of the held results alone.
    pub fn held_bytes(&self) -> usize {
        self.held_bytes
    }

    pub fn evicted(&self) -> u64 {
        self.evicted
    }

    /// A key's place, good until [`Cache::leave`].
    pub fn join(&mut self, key: Digest) -> Place {
        let place = self.place(key);
        self.join_again(place)
    }

    /// The same, for one node more.
    pub fn join_again(&mut self, place: Place) -> Place {
        self.entry(place).nodes += 1;
        place
    }

    /// One node less has the key.
    pub fn leave(&mut self, place: Place) {
        let entry = self.entry(place);
        entry.nodes -= 1;
        if entry.nodes == 0 {
            self.tidy(place);
        }
    }

    pub fn key(&self, place: Place) -> Digest {
        self.entries[place.0 as usize].key
    }

    pub fn get(&self, place: Place) -> Option<&Results> {
        self.entries[place.0 as usize].results.as_deref()
    }

    /// What runs or is loaded for the key.
    pub fn flight(&self, place: Place) -> Option<FlightId> {
        self.entries[place.0 as usize].flight
    }

    pub fn take_off(&mut self, place: Place, flight: FlightId) {
        self.entry(place).flight = Some(flight);
    }

    /// It is over. The place is good until [`Cache::tidy`].
    pub fn land(&mut self, place: Place) {
        self.entry(place).flight = None;
    }

    pub fn error(&self, place: Place) -> Option<&Arc<NodeError>> {
        self.memo(place)?.error.as_ref()
    }

    pub fn set_error(&mut self, place: Place, error: Arc<NodeError>) {
        self.memo_mut(place).error = Some(error);
    }

    /// Forgets what failed, so that it is tried again.
    pub fn forget_errors(&mut self) {
        for entry in &mut self.entries {
            if let Some(memo) = &mut entry.memo {
                memo.error = None;
            }
            entry.memo.take_if(|memo| memo.is_empty());
        }
    }

    /// What is in the outputs, if that enters the keys of others.
    pub fn contents(&self, place: Place) -> Option<&Arc<[Digest]>> {
        self.memo(place)?.contents.as_ref()
    }

    pub fn set_contents(&mut self, place: Place, contents: Arc<[Digest]>) {
        self.memo_mut(place).contents = Some(contents);
    }

    /// The files that the recipe read so far, the latest last.
    pub fn records(&self, place: Place) -> &[Record] {
        self.memo(place).map_or(&[], |memo| &memo.records)
    }

    /// Adds to the files that a recipe read. Of the same result there is one record, of all at most so many.
    pub fn add_record(&mut self, base: Digest, record: Record, most: usize) {
        let place = self.place(base);
        let records = &mut self.memo_mut(place).records;
        records.retain(|old| old.effective != record.effective);
        if records.len() >= most {
            records.remove(0);
        }
        records.push(record);
        self.tidy(place);
    }

    /// Adds a result and makes room for it. Above the budget is at most this one, until it returns. It is
    /// held until [`Cache::release`].
    pub fn insert(&mut self, place: Place, results: Box<Results>, contents: Option<Arc<[Digest]>>) {
        self.hold(place);
        if let Some(contents) = contents {
            self.set_contents(place, contents);
        }
        if self.get(place).is_some() {
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
        self.results += 1;
        let priority = (self.age + results.worth(gained)).to_bits();
        self.queue.push(Reverse((priority, place.0)));
        self.meter_hold(&results.memory, true);
        let entry = self.entry(place);
        (entry.results, entry.priority) = (Some(results), Some(priority));
        self.trim();
    }

    /// Says that an entry was of use.
    pub fn touch(&mut self, place: Place) {
        let age = self.age;
        let entry = self.entry(place);
        let (Some(old), Some(worth)) = (entry.priority, entry.worth(age)) else { return };
        if worth != old {
            entry.priority = Some(worth);
            self.enqueue(worth, place);
        }
    }

    /// Lets go of all holds; those of the new plan follow.
    pub fn begin_epoch(&mut self, epoch: u32) {
        self.epoch = epoch;
        self.held_bytes = 0;
        for place in std::mem::take(&mut self.parked) {
            self.unpark(place);
        }
        for place in std::mem::take(&mut self.early) {
            self.tidy(place);
        }
    }

    /// Keeps an entry, now or as soon as it is there, until [`Cache::release`] or the next epoch.
    pub fn hold(&mut self, place: Place) {
        let epoch = self.epoch;
        let entry = self.entry(place);
        if entry.holds.0 != epoch {
            entry.holds = (epoch, 0);
        }
        entry.holds.1 += 1;
        if entry.holds.1 == 1 {
            match entry.results.is_some() {
                true => self.meter_entry(place, true),
                false => self.early.push(place),
            }
        }
    }

    /// Ends one hold.
    pub fn release(&mut self, place: Place) {
        let epoch = self.epoch;
        let entry = self.entry(place);
        if entry.holds.0 != epoch || entry.holds.1 == 0 {
            return;
        }
        entry.holds.1 -= 1;
        if entry.holds.1 > 0 {
            return;
        }
        let parked = entry.priority.is_none();
        if entry.results.is_none() {
            return self.tidy(place);
        }
        self.meter_entry(place, false);
        if parked {
            self.unpark(place);
        }
    }

    /// Evicts what is over the budget.
    pub fn trim(&mut self) {
        while self.bytes > self.budget {
            let Some(Reverse((priority, place))) = self.queue.pop() else { return };
            let (epoch, place) = (self.epoch, Place(place));
            let entry = self.entry(place);
            if entry.priority != Some(priority) {
                continue;
            }
            if entry.is_held(epoch) {
                entry.priority = None;
                self.parked.push(place);
                continue;
            }
            self.age = self.age.max(f64::from_bits(priority));
            self.remove(place);
            self.evicted += 1;
        }
    }

    /// Drops everything that is not held.
    pub fn clear(&mut self) {
        let budget = std::mem::replace(&mut self.budget, 0);
        self.trim();
        self.budget = budget;
    }

    /// Gives a place up if nothing is left to be known of its key; what is remembered without a use is limited.
    pub fn tidy(&mut self, place: Place) {
        if !self.is_idle(place) {
            return;
        }
        let entry = self.entry(place);
        if entry.memo.is_none() {
            return self.vacate(place);
        }
        if !std::mem::replace(&mut entry.remembered, true) {
            self.remembered.push_back(place);
        }
        if self.remembered.len() > MOST_REMEMBERED
            && let Some(oldest) = self.remembered.pop_front()
        {
            let entry = self.entry(oldest);
            entry.remembered = false;
            if entry.vacant {
                self.free.push(oldest);
            } else if self.is_idle(oldest) {
                self.vacate(oldest);
            }
        }
    }

    /// Whether no node has the key, and nothing is kept, held or under way for it.
    fn is_idle(&self, place: Place) -> bool {
        let entry = &self.entries[place.0 as usize];
        let used = entry.nodes > 0 || entry.results.is_some() || entry.flight.is_some();
        !(entry.vacant || used || entry.is_held(self.epoch))
    }

    fn vacate(&mut self, place: Place) {
        let entry = self.entry(place);
        (entry.vacant, entry.memo) = (true, None);
        let key = entry.key;
        self.places.remove(&key);
        if !self.entry(place).remembered {
            self.free.push(place);
        }
    }

    fn place(&mut self, key: Digest) -> Place {
        let vacant = match self.places.entry(key) {
            hash_map::Entry::Occupied(place) => return *place.get(),
            hash_map::Entry::Vacant(vacant) => vacant,
        };
        let entry = Entry {
            key,
            nodes: 0,
            flight: None,
            holds: (0, 0),
            results: None,
            priority: None,
            memo: None,
            remembered: false,
            vacant: false,
        };
        let place = match self.free.pop() {
            Some(place) => {
                self.entries[place.0 as usize] = entry;
                place
            }
            None => {
                self.entries.push(entry);
                Place(self.entries.len() as u32 - 1)
            }
        };
        *vacant.insert(place)
    }

    fn entry(&mut self, place: Place) -> &mut Entry {
        &mut self.entries[place.0 as usize]
    }

    fn memo(&self, place: Place) -> Option<&Memo> {
        self.entries[place.0 as usize].memo.as_deref()
    }

    fn memo_mut(&mut self, place: Place) -> &mut Memo {
        self.entry(place).memo.get_or_insert_default()
    }

    /// Queues an entry anew; its older places count no more, and are swept once they are most of the queue.
    fn enqueue(&mut self, priority: u64, place: Place) {
        self.queue.push(Reverse((priority, place.0)));
        if self.queue.len() > 2 * self.results + 64 {
            let entries = self.entries.iter().zip(0u32..);
            self.queue = entries.filter_map(|(entry, place)| Some(Reverse((entry.priority?, place)))).collect();
        }
    }

    fn meter_entry(&mut self, place: Place, held: bool) {
        let Some(results) = self.entry(place).results.take() else { return };
        self.meter_hold(&results.memory, held);
        self.entry(place).results = Some(results);
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

    /// Takes out the results of an entry that is not held.
    fn remove(&mut self, place: Place) {
        let entry = self.entry(place);
        entry.priority = None;
        let Some(results) = entry.results.take() else { return };
        self.results -= 1;
        self.bytes -= results.memory.own;
        for (address, _) in &results.memory.shared {
            if let Some(buffer) = self.buffers.get_mut(address) {
                buffer.users -= 1;
                if buffer.users == 0 {
                    self.bytes -= buffer.bytes;
                    self.buffers.remove(address);
                }
            }
        }
        self.tidy(place);
    }

    fn unpark(&mut self, place: Place) {
        let age = self.age;
        let entry = self.entry(place);
        if entry.priority.is_none()
            && let Some(worth) = entry.worth(age)
        {
            entry.priority = Some(worth);
            self.enqueue(worth, place);
        }
    }
}

impl Entry {
    fn worth(&self, age: f64) -> Option<u64> {
        let results = self.results.as_ref()?;
        Some((age + results.worth(results.memory.bytes())).to_bits())
    }

    fn is_held(&self, epoch: u32) -> bool {
        self.holds.0 == epoch && self.holds.1 > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(k: u32) -> Digest {
        Digest::of(&k.to_le_bytes())
    }

    fn results(bytes: usize) -> Box<Results> {
        Box::new(Results {
            values: Vec::new(),
            warnings: Vec::new(),
            nanos: 1,
            memory: Memory { shared: Vec::new(), own: bytes },
        })
    }

    #[test]
    fn nothing_stays_of_a_key_that_no_node_has_and_that_gave_nothing() {
        let mut cache = Cache::new(1000);
        for k in 0..10 {
            let place = cache.join(key(k));
            cache.begin_epoch(k + 1);
            cache.hold(place);
            cache.leave(place);
        }
        cache.begin_epoch(11);
        assert_eq!((cache.places.len(), cache.entries.len()), (0, 2), "one held in the last epoch, one new");
        let place = cache.join(key(3));
        cache.insert(place, results(10), None);
        cache.release(place);
        cache.leave(place);
        assert_eq!((cache.len(), cache.bytes(), cache.places.len()), (1, 10, 1));
        cache.clear();
        assert_eq!((cache.len(), cache.bytes(), cache.places.len()), (0, 0, 0));
    }

    #[test]
    fn errors_and_records_of_keys_long_gone_are_limited() {
        let mut cache = Cache::new(1000);
        let failed = Arc::new(NodeError::new("it failed"));
        for k in 0..MOST_REMEMBERED as u32 + 1000 {
            let place = cache.join(key(k));
            cache.set_error(place, Arc::clone(&failed));
            cache.leave(place);
            cache.add_record(key(k), Record { files: Arc::from([]), effective: key(k) }, 4);
        }
        assert_eq!(cache.places.len(), MOST_REMEMBERED);
        assert!(cache.entries.len() <= MOST_REMEMBERED + 2, "places are used again");
        let latest = cache.join(key(MOST_REMEMBERED as u32 + 999));
        assert!(cache.error(latest).is_some() && cache.records(latest).len() == 1, "the latest are still known");
        let first = cache.join(key(0));
        assert!(cache.error(first).is_none(), "the first is not");
        cache.forget_errors();
        assert!(cache.error(latest).is_none() && cache.records(latest).len() == 1);
    }
}
