//! Runs under way: found by key, gone through in a fixed order.

use smallvec::SmallVec;

use super::cache::ByDigest;
use super::path::NodePath;
use super::plan::Slot;
use crate::cx::Cx;
use crate::value::Digest;

/// A run or a load under way.
pub(super) struct Flight {
    pub cx: Cx,
    pub path: NodePath,
    /// Who waits for it; nobody once it is cancelled.
    pub slots: SmallVec<[Slot; 4]>,
    /// The node that it was started for.
    pub origin: Slot,
    pub running: bool,
    pub checked: bool,
    /// It may still be wanted: its node's key is not known yet.
    pub doubtful: bool,
}

/// All flights. They are kept in rows, so that no map decides in which order they are gone through.
#[derive(Default)]
pub(super) struct Flights {
    places: ByDigest<u32>,
    rows: Vec<Option<Flight>>,
    free: Vec<u32>,
}

impl Flights {
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    pub fn get(&self, key: &Digest) -> Option<&Flight> {
        self.rows.get(*self.places.get(key)? as usize)?.as_ref()
    }

    pub fn get_mut(&mut self, key: &Digest) -> Option<&mut Flight> {
        self.rows.get_mut(*self.places.get(key)? as usize)?.as_mut()
    }

    pub fn insert(&mut self, key: Digest, flight: Flight) {
        let place = self.free.pop().unwrap_or(self.rows.len() as u32);
        if place as usize == self.rows.len() {
            self.rows.push(Some(flight));
        } else {
            self.rows[place as usize] = Some(flight);
        }
        if let Some(before) = self.places.insert(key, place) {
            self.rows[before as usize] = None;
            self.free.push(before);
        }
    }

    pub fn remove(&mut self, key: &Digest) -> Option<Flight> {
        let place = self.places.remove(key)?;
        let flight = self.rows.get_mut(place as usize)?.take();
        self.free.push(place);
        if self.places.is_empty() {
            self.rows.clear();
            self.free.clear();
        }
        flight
    }

    pub fn values(&self) -> impl Iterator<Item = &Flight> {
        self.rows.iter().flatten()
    }

    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut Flight> {
        self.rows.iter_mut().flatten()
    }
}
