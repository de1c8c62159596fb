//! Appends data to a document: bytes behind the old ones of a buffer, and the views and accessors over them.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};
use sinew_graph::{Digest, NodeError, Result};

use super::bytes::Bytes;
use super::json::{array, entry, numbers};
use crate::io::gltf::document::Document;

/// What an accessor holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Holds {
    /// Joint numbers, as bytes.
    JointsU8,
    /// Joint numbers, as 16-bit numbers.
    JointsU16,
    /// Weights.
    Weights,
    /// Matrices.
    Matrices,
    /// Key times.
    Times,
    /// Key values with this many numbers each.
    Values(usize),
}

/// A document under edit.
pub struct Appender {
    /// The document.
    pub json: Value,
    buffer: usize,
    start: usize,
    bytes: Vec<u8>,
    written: BTreeMap<(Holds, Digest), usize>,
}

impl Appender {
    /// Starts to edit a document.
    pub fn new(mut json: Value, document: &Document, buffers: &[Arc<[u8]>]) -> Result<Self> {
        let fallback = |k: &usize| document.buffers[*k].extensions.meshopt.as_ref().is_some_and(|m| m.fallback);
        let buffer = (0..document.buffers.len()).find(|k| !fallback(k));
        let buffer = match buffer {
            Some(buffer) => buffer,
            None => {
                let list = array(&mut json, "buffers")?;
                list.push(json!({ "byteLength": 0 }));
                list.len() - 1
            }
        };
        let start = buffers.get(buffer).map_or(0, |bytes| bytes.len());
        let start = start.checked_next_multiple_of(4).ok_or_else(|| NodeError::new("the buffer is too large"))?;
        Ok(Self { json, buffer, start, bytes: Vec::new(), written: BTreeMap::new() })
    }

    /// Appends a buffer view over these bytes and tells its number.
    pub fn view(&mut self, bytes: &[u8], target: Option<u32>, stride: Option<usize>) -> Result<usize> {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        let offset = self.start + self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        let mut view = json!({ "buffer": self.buffer, "byteOffset": offset, "byteLength": bytes.len() });
        if let Some(stride) = stride {
            view["byteStride"] = stride.into();
        }
        if let Some(target) = target {
            view["target"] = target.into();
        }
        let views = array(&mut self.json, "bufferViews")?;
        views.push(view);
        Ok(views.len() - 1)
    }

    /// Appends an accessor over these bytes and tells its number; equal data is written once.
    pub fn accessor(&mut self, holds: Holds, bytes: &[u8]) -> Result<usize> {
        let key = (holds, Digest::of(bytes));
        if let Some(&known) = self.written.get(&key) {
            return Ok(known);
        }
        let (component, shape, size, target) = match holds {
            Holds::JointsU8 => (5121, "VEC4", 4, Some(34962)),
            Holds::JointsU16 => (5123, "VEC4", 8, Some(34962)),
            Holds::Weights => (5126, "VEC4", 16, Some(34962)),
            Holds::Matrices => (5126, "MAT4", 64, None),
            Holds::Times | Holds::Values(1) => (5126, "SCALAR", 4, None),
            Holds::Values(3) => (5126, "VEC3", 12, None),
            Holds::Values(_) => (5126, "VEC4", 16, None),
        };
        let view = self.view(bytes, target, None)?;
        let count = bytes.len() / size;
        let mut accessor = json!({ "bufferView": view, "componentType": component, "count": count, "type": shape });
        if holds == Holds::Times {
            let times: Vec<f32> = bytemuck::pod_collect_to_vec(bytes);
            accessor["min"] = numbers(&[times.iter().copied().fold(f32::INFINITY, f32::min)]);
            accessor["max"] = numbers(&[times.iter().copied().fold(f32::NEG_INFINITY, f32::max)]);
        }
        let accessors = array(&mut self.json, "accessors")?;
        accessors.push(accessor);
        let number = accessors.len() - 1;
        self.written.insert(key, number);
        Ok(number)
    }

    /// The document, with the new bytes behind those of their buffer.
    pub fn finish(mut self, buffers: &mut Vec<Bytes>) -> Result<Value> {
        if self.bytes.is_empty() {
            return Ok(self.json);
        }
        buffers.resize(buffers.len().max(self.buffer + 1), Bytes::default());
        let length = self.start + self.bytes.len();
        entry(&mut self.json, "buffers", self.buffer)?["byteLength"] = length.into();
        buffers[self.buffer].append(self.bytes);
        Ok(self.json)
    }
}
