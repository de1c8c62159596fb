//! Runs under way, gone through in a fixed order.

use smallvec::SmallVec;

use super::cache::Place;
use super::path::NodePath;
use super::plan::Slot;
use crate::cx::Cx;

/// A flight's number, while it is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FlightId(u32);

/// A run or a load under way.
pub(super) struct Flight {
    pub cx: Cx,
    /// The key that it is under way for: of the recipe, or of the result that is loaded.
    pub place: Place,
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

/// All flights, in rows, so that no map decides in which order they are gone through.
#[derive(Default)]
pub(super) struct Flights {
    rows: Vec<Option<Flight>>,
    free: Vec<FlightId>,
}

impl Flights {
    pub fn is_empty(&self) -> bool {
        self.free.len() == self.rows.len()
    }

    pub fn get(&self, id: FlightId) -> Option<&Flight> {
        self.rows.get(id.0 as usize)?.as_ref()
    }

    pub fn get_mut(&mut self, id: FlightId) -> Option<&mut Flight> {
        self.rows.get_mut(id.0 as usize)?.as_mut()
    }

    pub fn insert(&mut self, flight: Flight) -> FlightId {
        match self.free.pop() {
            Some(id) => {
                self.rows[id.0 as usize] = Some(flight);
                id
            }
            None => {
                self.rows.push(Some(flight));
                FlightId(self.rows.len() as u32 - 1)
            }
        }
    }

    pub fn remove(&mut self, id: FlightId) -> Option<Flight> {
        let flight = self.rows.get_mut(id.0 as usize)?.take()?;
        self.free.push(id);
        if self.is_empty() {
            self.rows.clear();
            self.free.clear();
        }
        Some(flight)
    }

    pub fn values(&self) -> impl Iterator<Item = &Flight> {
        self.rows.iter().flatten()
    }

    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut Flight> {
        self.rows.iter_mut().flatten()
    }
}
