//! What a node gave, and the memory behind it. Allocations are counted by identity, so that what results share counts
//! once.

use std::sync::Arc;

use crate::column::{Column, Elements};
use crate::cx::Warning;
use crate::value::Value;

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

impl Results {
    /// What a second that they save costs in memory: nanoseconds per byte.
    pub fn worth(&self, bytes: usize) -> f64 {
        self.nanos as f64 / bytes.max(1) as f64
    }
}

/// The allocations behind some values.
#[derive(Clone, Debug, Default)]
pub(super) struct Memory {
    /// Buffers that other values may share: address and bytes.
    pub shared: Vec<(usize, usize)>,
    /// All other bytes.
    pub own: usize,
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
