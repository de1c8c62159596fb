//! A radix heap that yields waves: a priority queue for distances that never fall below the last wave taken, as those of a
//! spreading front do. A push is a bit scan, and no entry moves more often than a distance has bits (Ahuja, Mehlhorn, Orlin,
//! Tarjan 1990).

/// How many of the last bits of a distance do not matter for its wave: distances of one wave are alike to a part in 2^10.
const ALIKE: u32 = 13;

/// Vertices by distance. Distances are not negative, so that their bit patterns are in the order of their values.
pub struct RadixHeap {
    last: u32,
    buckets: [Vec<(f32, u32)>; 33 - ALIKE as usize],
}

impl RadixHeap {
    /// An empty heap.
    pub fn new() -> Self {
        Self { last: 0, buckets: [const { Vec::new() }; 33 - ALIKE as usize] }
    }

    /// Adds a vertex. Its distance must not be less than that of the wave taken last.
    pub fn push(&mut self, distance: f32, vertex: u32) {
        debug_assert!(key(distance) >= self.last, "a radix heap takes rising distances");
        self.buckets[bucket(key(distance), self.last)].push((distance, vertex));
    }

    /// Takes all vertices of about the least distance, in the order in which they came, in exchange for an old wave, whose
    /// room is used again. The next wave is empty if there is none left; it may be as near as this one.
    pub fn take(&mut self, wave: &mut Vec<(f32, u32)>) {
        wave.clear();
        if self.buckets[0].is_empty() {
            let Some(k) = self.buckets.iter().position(|bucket| !bucket.is_empty()) else { return };
            let mut entries = std::mem::take(&mut self.buckets[k]);
            self.last = entries.iter().map(|entry| key(entry.0)).min().unwrap_or(self.last);
            for entry in entries.drain(..) {
                self.buckets[bucket(key(entry.0), self.last)].push(entry);
            }
            // Every entry moved to a lower bucket: the emptied one keeps its room.
            self.buckets[k] = entries;
        }
        std::mem::swap(&mut self.buckets[0], wave);
    }
}

fn key(distance: f32) -> u32 {
    distance.to_bits() >> ALIKE
}

fn bucket(key: u32, last: u32) -> usize {
    32 - (key ^ last).leading_zeros() as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waves_come_in_order_of_distance() {
        let mut heap = RadixHeap::new();
        for (vertex, distance) in [3.0, 0.0, 0.25, 1e-20, 7e5, 0.25, 0.25001].into_iter().enumerate() {
            heap.push(distance, vertex as u32);
        }
        let mut wave = Vec::new();
        let mut next = |heap: &mut RadixHeap| {
            heap.take(&mut wave);
            wave.iter().map(|entry| entry.1).collect::<Vec<u32>>()
        };
        assert_eq!(next(&mut heap), [1]);
        assert_eq!(next(&mut heap), [3]);
        heap.push(0.5, 7);
        heap.push(1e-20, 8);
        assert_eq!(next(&mut heap), [8]);
        assert_eq!(next(&mut heap), [2, 5, 6], "alike, as they came");
        heap.push(0.25, 9);
        assert_eq!([next(&mut heap), next(&mut heap), next(&mut heap), next(&mut heap)], [[9], [7], [0], [4]]);
        assert!(next(&mut heap).is_empty());
    }
}
