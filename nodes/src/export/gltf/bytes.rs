//! The bytes of a buffer under edit: those it had, shared, and new ones behind them, so that a large file is put together
//! once.

use std::iter::repeat_n;
use std::sync::Arc;

/// The bytes of a buffer.
#[derive(Clone, Debug, Default)]
pub struct Bytes {
    old: Arc<[u8]>,
    /// Behind the old ones, from the next multiple of 4 on.
    added: Vec<u8>,
}

impl Bytes {
    /// A buffer as it was.
    pub fn unchanged(old: &Arc<[u8]>) -> Self {
        Self { old: Arc::clone(old), added: Vec::new() }
    }

    /// Adds bytes behind the old ones, from the next multiple of 4 on.
    pub fn append(&mut self, added: Vec<u8>) {
        self.added = added;
    }

    /// How many bytes there are, filled up to a multiple of 4 if some were added.
    pub fn len(&self) -> usize {
        match self.added.len() {
            0 => self.old.len(),
            added => (self.old.len().next_multiple_of(4) + added).next_multiple_of(4),
        }
    }

    /// Writes them to the start of zeros.
    pub fn write(&self, out: &mut [u8]) {
        out[..self.old.len()].copy_from_slice(&self.old);
        if !self.added.is_empty() {
            out[self.old.len().next_multiple_of(4)..][..self.added.len()].copy_from_slice(&self.added);
        }
    }

    /// The first so many of them, as one.
    pub fn first(&self, length: usize) -> Arc<[u8]> {
        if length == self.old.len() && self.added.is_empty() {
            return Arc::clone(&self.old);
        }
        let mut all = zeros(self.len().max(length));
        self.write(Arc::make_mut(&mut all));
        if all.len() == length { all } else { all[..length].into() }
    }
}

/// Bytes to be written to, in their one and only place: `Arc::make_mut` copies nothing of them.
pub fn zeros(length: usize) -> Arc<[u8]> {
    repeat_n(0, length).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_bytes_stand_behind_the_old_at_multiples_of_four() {
        let old: Arc<[u8]> = Arc::from([1, 2, 3, 4, 5]);
        let mut bytes = Bytes::unchanged(&old);
        assert!(Arc::ptr_eq(&bytes.first(5), &old), "nothing is copied");
        bytes.append(vec![6, 7]);
        assert_eq!(bytes.len(), 12);
        assert_eq!(*bytes.first(12), [1, 2, 3, 4, 5, 0, 0, 0, 6, 7, 0, 0]);
        assert_eq!(*bytes.first(10), [1, 2, 3, 4, 5, 0, 0, 0, 6, 7]);
    }
}
