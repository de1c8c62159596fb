//! A radix heap: a priority queue for keys that never fall below the last one taken, as Dijkstra's do. A push is a bit
//! scan, and no entry moves more than 32 times (Ahuja, Mehlhorn, Orlin, Tarjan 1990).

/// Vertices by distance. Distances are not negative, so that their bit patterns are in the order of their values.
pub struct RadixHeap {
    last: u32,
    buckets: [Vec<u64>; 33],
}

impl RadixHeap {
    /// An empty heap.
    pub fn new() -> Self {
        Self { last: 0, buckets: [const { Vec::new() }; 33] }
    }

    /// Adds a vertex. Its distance must not be less than that of the last vertex taken.
    pub fn push(&mut self, distance: f32, vertex: u32) {
        let key = distance.to_bits();
        debug_assert!(key >= self.last, "a radix heap takes rising distances");
        self.buckets[bucket(key, self.last)].push(u64::from(key) << 32 | u64::from(vertex));
    }

    /// Takes a vertex of least distance.
    pub fn pop(&mut self) -> Option<(f32, u32)> {
        if self.buckets[0].is_empty() {
            let k = self.buckets.iter().position(|bucket| !bucket.is_empty())?;
            let mut entries = std::mem::take(&mut self.buckets[k]);
            self.last = entries.iter().map(|&entry| key(entry)).min().unwrap_or(self.last);
            for entry in entries.drain(..) {
                self.buckets[bucket(key(entry), self.last)].push(entry);
            }
            // Every entry moved to a lower bucket: the emptied one keeps its room.
            self.buckets[k] = entries;
        }
        self.buckets[0].pop().map(|entry| (f32::from_bits(key(entry)), entry as u32))
    }
}

fn key(entry: u64) -> u32 {
    (entry >> 32) as u32
}

fn bucket(key: u32, last: u32) -> usize {
    32 - (key ^ last).leading_zeros() as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vertices_leave_in_order_of_distance() {
        let mut heap = RadixHeap::new();
        for (vertex, distance) in [3.0, 0.0, 0.25, 1e-20, 7e5, 0.25].into_iter().enumerate() {
            heap.push(distance, vertex as u32);
        }
        assert_eq!(heap.pop(), Some((0.0, 1)));
        assert_eq!(heap.pop(), Some((1e-20, 3)));
        heap.push(0.5, 6);
        heap.push(1e-20, 7);
        let rest: Vec<f32> = std::iter::from_fn(|| heap.pop()).map(|(distance, _)| distance).collect();
        assert_eq!(rest, [1e-20, 0.25, 0.25, 0.5, 3.0, 7e5]);
        assert_eq!(heap.pop(), None);
    }
}
