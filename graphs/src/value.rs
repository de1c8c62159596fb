//! What travels along a wire: a shared, immutable [`Value`] of any type that implements [`Data`].

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::column::{Column, ColumnError, Columns};

/// The name of a data type: stable, in files and plugins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DataTypeId(pub &'static str);

impl fmt::Display for DataTypeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// What the interface shows of a data type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataType {
    /// The stable id, such as `mesh`.
    pub id: DataTypeId,
    /// The name in menus and on sockets, such as `Mesh`.
    pub label: &'static str,
    /// One sentence of help.
    pub help: &'static str,
    /// The colour of its sockets and wires, sRGB.
    pub colour: [u8; 3],
}

/// A type of value that can flow through a graph.
///
/// `columns` and `from_columns` are exact inverses. `columns` must hand out shared buffers: it is called for the
/// memory meter and may not copy anything large.
pub trait Data: Any + Send + Sync + fmt::Debug + Sized {
    /// What it is.
    const TYPE: DataType;

    /// Every part of the value as columns.
    fn columns(&self) -> Vec<Column>;

    /// The value that these columns make.
    fn from_columns(columns: &Columns) -> Result<Self, ColumnError>;

    /// The bytes of its columns, for a small value that shares no buffer with others: the memory meter then asks for
    /// no columns.
    fn own_bytes(&self) -> Option<usize> {
        None
    }
}

trait AnyData: Send + Sync + fmt::Debug {
    fn data_type(&self) -> &'static DataType;
    fn columns(&self) -> Vec<Column>;
    fn own_bytes(&self) -> Option<usize>;
    fn any(&self) -> &dyn Any;
}

impl<T: Data> AnyData for T {
    fn data_type(&self) -> &'static DataType {
        &T::TYPE
    }

    fn columns(&self) -> Vec<Column> {
        Data::columns(self)
    }

    fn own_bytes(&self) -> Option<usize> {
        Data::own_bytes(self)
    }

    fn any(&self) -> &dyn Any {
        self
    }
}

/// A shared value of some [`Data`] type. Cloning clones a pointer.
#[derive(Clone)]
pub struct Value(Arc<dyn AnyData>);

impl Value {
    /// Wraps a value.
    pub fn new<T: Data>(data: T) -> Self {
        Self(Arc::new(data))
    }

    /// Its type.
    pub fn data_type(&self) -> &'static DataType {
        self.0.data_type()
    }

    /// The value as `T`, if that is its type.
    pub fn get<T: Data>(&self) -> Option<&T> {
        self.0.any().downcast_ref()
    }

    /// Every part as columns.
    pub fn columns(&self) -> Vec<Column> {
        self.0.columns()
    }

    /// See [`Data::own_bytes`].
    pub(crate) fn own_bytes(&self) -> Option<usize> {
        self.0.own_bytes()
    }

    /// A digest of type and content: equal values have equal digests on every machine.
    pub fn digest(&self) -> Digest {
        let mut hasher = blake3::Hasher::new();
        let text = |hasher: &mut blake3::Hasher, s: &str| {
            hasher.update(&(s.len() as u64).to_le_bytes());
            hasher.update(s.as_bytes());
        };
        text(&mut hasher, self.data_type().id.0);
        for column in self.columns() {
            text(&mut hasher, &column.name);
            text(&mut hasher, column.elements.type_name());
            hasher.update(&(column.arity as u64).to_le_bytes());
            hasher.update(&(column.elements.len() as u64).to_le_bytes());
            use crate::column::Elements::*;
            match &column.elements {
                F32(v) => hasher.update(bytemuck::cast_slice(v)),
                F64(v) => hasher.update(bytemuck::cast_slice(v)),
                U32(v) => hasher.update(bytemuck::cast_slice(v)),
                U16(v) => hasher.update(bytemuck::cast_slice(v)),
                U8(v) => hasher.update(v),
                I32(v) => hasher.update(bytemuck::cast_slice(v)),
                Text(v) => {
                    for row in v.iter() {
                        text(&mut hasher, row);
                    }
                    &mut hasher
                }
            };
        }
        Digest::from_hasher(&hasher)
    }

    /// Bytes of all distinct allocations behind these values: what shares a buffer counts it once.
    pub fn memory<'a>(values: impl IntoIterator<Item = &'a Self>) -> usize {
        let mut seen = BTreeMap::new();
        for value in values {
            for column in value.columns() {
                column.elements.allocations(&mut |at, bytes| {
                    let size = seen.entry(at).or_insert(0);
                    *size = bytes.max(*size);
                });
            }
        }
        seen.values().sum()
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// 128 bits of BLAKE3: of a recipe, a file or a value's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest(pub [u8; 16]);

impl Digest {
    /// The digest of some bytes, such as a file's.
    pub fn of(bytes: &[u8]) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(bytes);
        Self::from_hasher(&hasher)
    }

    /// The digest of all that a hasher was fed.
    pub fn from_hasher(hasher: &blake3::Hasher) -> Self {
        let mut out = [0; 16];
        out.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
        Self(out)
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}
