//! Decodes accessors: any component type, normalised or not, interleaved, sparse, or without a buffer view.
//!
//! Every offset is checked before it is used, and all that is decoded counts against a budget that the file's own bytes
//! justify, so that no count in the JSON can make memory of nothing.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;

use sinew_graph::{NodeError, Result};

use super::document::{Accessor, Document};

/// Decoded bytes that any file may have, whatever its size.
const BUDGET_FLOOR: u64 = 128 << 20;
/// Decoded bytes per stored byte: primitives may share accessors, and quantised ones grow fourfold.
const BUDGET_FACTOR: u64 = 64;

/// The accessors of a document over its buffers.
#[derive(Debug)]
pub struct Accessors<'a> {
    document: &'a Document,
    buffers: &'a [Arc<[u8]>],
    /// Buffer views that were compressed, as they decode.
    inflated: BTreeMap<usize, Vec<u8>>,
    /// Accessors whose elements come from elsewhere (a compressed primitive), densely packed.
    replaced: BTreeMap<usize, Vec<u8>>,
    budget: Cell<u64>,
}

/// How a component is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Component {
    I8,
    U8,
    I16,
    U16,
    U32,
    F32,
}

impl Component {
    /// By its number in the JSON.
    pub fn from_gl(number: u32) -> Option<Self> {
        Some(match number {
            5120 => Self::I8,
            5121 => Self::U8,
            5122 => Self::I16,
            5123 => Self::U16,
            5125 => Self::U32,
            5126 => Self::F32,
            _ => return None,
        })
    }

    /// Bytes.
    pub fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::U32 | Self::F32 => 4,
        }
    }

    fn float(self, b: &[u8], normalized: bool) -> f32 {
        let scale = |value: f32, one: f32| if normalized { (value / one).max(-1.0) } else { value };
        match self {
            Self::I8 => scale(f32::from(b[0] as i8), 127.0),
            Self::U8 => scale(f32::from(b[0]), 255.0),
            Self::I16 => scale(f32::from(i16::from_le_bytes([b[0], b[1]])), 32767.0),
            Self::U16 => scale(f32::from(u16::from_le_bytes([b[0], b[1]])), 65535.0),
            Self::U32 => u32::from_le_bytes([b[0], b[1], b[2], b[3]]) as f32,
            Self::F32 => f32::from_le_bytes([b[0], b[1], b[2], b[3]]),
        }
    }

    /// Appends a number as it is stored, without scaling.
    pub fn write(self, value: f32, out: &mut Vec<u8>) {
        match self {
            Self::I8 => out.extend((value as i8).to_le_bytes()),
            Self::U8 => out.push(value as u8),
            Self::I16 => out.extend((value as i16).to_le_bytes()),
            Self::U16 => out.extend((value as u16).to_le_bytes()),
            Self::U32 => out.extend((value as u32).to_le_bytes()),
            Self::F32 => out.extend(value.to_le_bytes()),
        }
    }

    fn integer(self, b: &[u8]) -> Option<u32> {
        Some(match self {
            Self::U8 => u32::from(b[0]),
            Self::U16 => u32::from(u16::from_le_bytes([b[0], b[1]])),
            Self::U32 => u32::from_le_bytes([b[0], b[1], b[2], b[3]]),
            Self::I8 | Self::I16 | Self::F32 => return None,
        })
    }
}

/// How many components the elements of a type have, and how many make a column (matrices pad theirs to 4 bytes).
pub fn shape(name: &str) -> Option<(usize, usize)> {
    Some(match name {
        "SCALAR" => (1, 1),
        "VEC2" => (2, 2),
        "VEC3" => (3, 3),
        "VEC4" => (4, 4),
        "MAT2" => (4, 2),
        "MAT3" => (9, 3),
        "MAT4" => (16, 4),
        _ => return None,
    })
}

/// An error at a path of the document.
pub fn bad(path: &str, what: impl std::fmt::Display) -> NodeError {
    NodeError::new(format!("{path}: {what}"))
        .help("the file is damaged or badly exported: export it again, or see what `gltf_validator` says of it")
}

/// The elements of an accessor, undecoded.
struct Elements<'a> {
    bytes: Cow<'a, [u8]>,
    stride: usize,
    count: usize,
    component: Component,
    components: usize,
    column: usize,
    normalized: bool,
}

impl Elements<'_> {
    /// Bytes from one element's start to its end.
    fn size(component: Component, components: usize, column: usize) -> usize {
        let columns = components / column;
        let bytes = column * component.size();
        if columns > 1 { columns * bytes.next_multiple_of(4) } else { bytes }
    }

    /// Visits every component of every element.
    fn each(&self, mut visit: impl FnMut(&[u8])) {
        let size = self.component.size();
        let padded =
            if self.components > self.column { (self.column * size).next_multiple_of(4) } else { self.column * size };
        for k in 0..self.count {
            let element = &self.bytes[k * self.stride..];
            for c in 0..self.components {
                let at = c / self.column * padded + c % self.column * size;
                visit(&element[at..at + size]);
            }
        }
    }
}

impl<'a> Accessors<'a> {
    /// The accessors of a document whose buffers were loaded.
    pub fn new(document: &'a Document, buffers: &'a [Arc<[u8]>]) -> Self {
        let stored: u64 = buffers.iter().map(|buffer| buffer.len() as u64).sum();
        let budget = Cell::new(BUDGET_FLOOR.saturating_add(stored.saturating_mul(BUDGET_FACTOR)));
        Self { document, buffers, inflated: BTreeMap::new(), replaced: BTreeMap::new(), budget }
    }

    /// Puts the decoded bytes of a compressed buffer view in its place.
    pub fn inflate(&mut self, view: usize, bytes: Vec<u8>) {
        self.inflated.insert(view, bytes);
    }

    /// Puts densely packed elements in the place of an accessor's own.
    pub fn replace(&mut self, accessor: usize, bytes: Vec<u8>) {
        self.replaced.insert(accessor, bytes);
    }

    /// The replacement for an accessor's own elements, if there is one.
    pub fn replaced(&self, accessor: usize) -> Option<&[u8]> {
        self.replaced.get(&accessor).map(Vec::as_slice)
    }

    /// Bytes left in the budget.
    pub fn left(&self) -> u64 {
        self.budget.get()
    }

    /// The document.
    pub fn document(&self) -> &'a Document {
        self.document
    }

    /// Takes bytes from the budget, or refuses.
    pub fn spend(&self, bytes: usize, path: &str) -> Result<()> {
        match self.budget.get().checked_sub(bytes as u64) {
            Some(left) => {
                self.budget.set(left);
                Ok(())
            }
            None => Err(bad(path, "the document would decode to far more than its buffers hold")),
        }
    }

    /// An accessor's description.
    pub fn accessor(&self, index: usize, path: &str) -> Result<&'a Accessor> {
        let count = self.document.accessors.len();
        self.document.accessors.get(index).ok_or_else(|| bad(path, format!("accessor {index} of {count} is named")))
    }

    /// The bytes of a buffer view and its stride.
    pub fn view(&self, index: usize, path: &str) -> Result<(&[u8], Option<usize>)> {
        let views = &self.document.buffer_views;
        let view =
            views.get(index).ok_or_else(|| bad(path, format!("buffer view {index} of {} is named", views.len())))?;
        if let Some(bytes) = self.inflated.get(&index) {
            return Ok((bytes, view.byte_stride));
        }
        let path = format!("bufferViews[{index}]");
        Ok((self.range(view.buffer, view.byte_offset, view.byte_length, &path)?, view.byte_stride))
    }

    /// A range of a buffer.
    pub fn range(&self, buffer: usize, offset: usize, length: usize, path: &str) -> Result<&'a [u8]> {
        let bytes = self
            .buffers
            .get(buffer)
            .ok_or_else(|| bad(path, format!("buffer {buffer} of {} is named", self.buffers.len())))?;
        offset.checked_add(length).and_then(|end| bytes.get(offset..end)).ok_or_else(|| {
            bad(path, format!("{length} bytes from {offset} on reach beyond the {} of buffer {buffer}", bytes.len()))
        })
    }

    fn elements(&self, index: usize, path: &str) -> Result<Elements<'_>> {
        let accessor = self.accessor(index, path)?;
        let path = format!("accessors[{index}]");
        let component = Component::from_gl(accessor.component_type)
            .ok_or_else(|| bad(&path, format!("component type {} is unknown", accessor.component_type)))?;
        let (components, column) =
            shape(&accessor.shape).ok_or_else(|| bad(&path, format!("type {:?} is unknown", accessor.shape)))?;
        let size = Elements::size(component, components, column);
        let count = accessor.count;
        let decoded =
            count.checked_mul(components * 4).ok_or_else(|| bad(&path, format!("count {count} is absurd")))?;
        let make = |bytes, stride| Elements {
            bytes,
            stride,
            count,
            component,
            components,
            column,
            normalized: accessor.normalized,
        };
        if let Some(bytes) = self.replaced.get(&index) {
            if bytes.len() != count * size {
                return Err(bad(&path, format!("count {count} is not what its compressed primitive holds")));
            }
            self.spend(decoded, &format!("{path}.count"))?;
            return Ok(make(Cow::Borrowed(bytes), size));
        }
        let mut elements = match accessor.buffer_view {
            None => {
                self.spend(decoded, &format!("{path}.count"))?;
                make(Cow::Owned(vec![0; count * size]), size)
            }
            Some(view) => {
                let (bytes, stride) = self.view(view, &format!("{path}.bufferView"))?;
                let stride = stride.unwrap_or(size);
                if stride < size {
                    return Err(bad(&path, format!("its buffer view's stride {stride} is less than its {size} bytes")));
                }
                let needed = count.checked_sub(1).map_or(Some(0), |last| {
                    last.checked_mul(stride)
                        .and_then(|b| b.checked_add(size))
                        .and_then(|b| b.checked_add(accessor.byte_offset))
                });
                let range = needed.and_then(|end| bytes.get(accessor.byte_offset.min(end)..end));
                let Some(range) = range else {
                    let have = bytes.len();
                    return Err(bad(
                        &path,
                        format!("{count} elements reach beyond the {have} bytes of its buffer view"),
                    ));
                };
                self.spend(decoded, &format!("{path}.count"))?;
                make(Cow::Borrowed(range), stride)
            }
        };
        if let Some(sparse) = &accessor.sparse {
            let path = format!("{path}.sparse");
            let kind = Component::from_gl(sparse.indices.component_type)
                .filter(|kind| kind.integer(&[0; 4]).is_some())
                .ok_or_else(|| bad(&path, "its indices are not unsigned integers"))?;
            let (indices, _) = self.view(sparse.indices.buffer_view, &format!("{path}.indices"))?;
            let (values, _) = self.view(sparse.values.buffer_view, &format!("{path}.values"))?;
            let table = |bytes: &'_ [u8], offset: usize, size: usize| {
                let length = sparse.count.checked_mul(size)?;
                offset.checked_add(length).filter(|&end| end <= bytes.len())
            };
            let (Some(_), Some(_)) = (
                table(indices, sparse.indices.byte_offset, kind.size()),
                table(values, sparse.values.byte_offset, size),
            ) else {
                return Err(bad(&path, format!("{} entries reach beyond its buffer views", sparse.count)));
            };
            let (indices, values) = (&indices[sparse.indices.byte_offset..], &values[sparse.values.byte_offset..]);
            let stride = elements.stride;
            let bytes = elements.bytes.to_mut();
            for k in 0..sparse.count {
                let at = kind.integer(&indices[k * kind.size()..]).map_or(usize::MAX, |at| at as usize);
                if at >= count {
                    return Err(bad(&format!("{path}.indices"), format!("entry {k} names element {at} of {count}")));
                }
                bytes[at * stride..at * stride + size].copy_from_slice(&values[k * size..(k + 1) * size]);
            }
        }
        Ok(elements)
    }

    /// Elements of `N` numbers each, whatever they are stored as.
    pub fn floats<const N: usize>(&self, index: usize, path: &str) -> Result<Vec<[f32; N]>> {
        let elements = self.elements(index, path)?;
        self.expect(elements.components == N, index, path, &format!("{N} numbers per element"))?;
        let mut out = Vec::with_capacity(elements.count);
        if elements.component == Component::F32 && N <= 4 {
            for k in 0..elements.count {
                let element = &elements.bytes[k * elements.stride..];
                out.push(std::array::from_fn(|c| Component::F32.float(&element[4 * c..4 * c + 4], false)));
            }
            return Ok(out);
        }
        let (mut row, mut c) = ([0.0; N], 0);
        elements.each(|bytes| {
            row[c] = elements.component.float(bytes, elements.normalized);
            c += 1;
            if c == N {
                out.push(row);
                c = 0;
            }
        });
        Ok(out)
    }

    /// All numbers in a row, and how many an element has.
    pub fn flat(&self, index: usize, path: &str) -> Result<(Vec<f32>, usize)> {
        let elements = self.elements(index, path)?;
        let mut out = Vec::with_capacity(elements.count * elements.components);
        elements.each(|bytes| out.push(elements.component.float(bytes, elements.normalized)));
        Ok((out, elements.components))
    }

    /// Elements of `N` unsigned integers each.
    pub fn integers<const N: usize>(&self, index: usize, path: &str) -> Result<Vec<[u32; N]>> {
        let elements = self.elements(index, path)?;
        self.expect(elements.components == N, index, path, &format!("{N} numbers per element"))?;
        let unsigned = elements.component.integer(&[0; 4]).is_some();
        self.expect(unsigned, index, path, "unsigned integers")?;
        let size = elements.component.size();
        let element = |k: usize| &elements.bytes[k * elements.stride..];
        let number = |bytes: &[u8]| elements.component.integer(bytes).unwrap_or(0);
        Ok((0..elements.count)
            .map(|k| std::array::from_fn(|c| number(&element(k)[c * size..(c + 1) * size])))
            .collect())
    }

    fn expect(&self, holds: bool, index: usize, path: &str, what: &str) -> Result<()> {
        if holds { Ok(()) } else { Err(bad(path, format!("accessor {index} should hold {what}"))) }
    }
}
