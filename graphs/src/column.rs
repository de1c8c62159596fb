//! Columns: the one view of a value that cache, disk, plugins, spreadsheet, digest and memory meter share.
//!
//! A column is a name, an element type, an arity and a shared buffer. Cloning one clones a pointer, so values
//! that agree in a column hold it once.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytemuck::{Pod, allocation::try_cast_slice_arc};

/// The shared buffer behind a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Elements {
    /// 32-bit floats.
    F32(Arc<[f32]>),
    /// 64-bit floats.
    F64(Arc<[f64]>),
    /// 32-bit unsigned integers: indices.
    U32(Arc<[u32]>),
    /// 16-bit unsigned integers: joint numbers.
    U16(Arc<[u16]>),
    /// Bytes: flags, colours, files.
    U8(Arc<[u8]>),
    /// 32-bit signed integers: indices where -1 means none.
    I32(Arc<[i32]>),
    /// Text, one entry per row; structured parts travel as one row of JSON.
    Text(Arc<[Arc<str>]>),
}

impl Elements {
    /// The element type's name as it is shown and hashed.
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::F32(_) => "f32",
            Self::F64(_) => "f64",
            Self::U32(_) => "u32",
            Self::U16(_) => "u16",
            Self::U8(_) => "u8",
            Self::I32(_) => "i32",
            Self::Text(_) => "text",
        }
    }

    /// How many elements, all rows and components together.
    pub fn len(&self) -> usize {
        match self {
            Self::F32(v) => v.len(),
            Self::F64(v) => v.len(),
            Self::U32(v) => v.len(),
            Self::U16(v) => v.len(),
            Self::U8(v) => v.len(),
            Self::I32(v) => v.len(),
            Self::Text(v) => v.len(),
        }
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Calls `visit` with the identity (address) and size in bytes of every allocation behind the buffer.
    pub fn allocations(&self, visit: &mut dyn FnMut(usize, usize)) {
        fn one<T>(v: &Arc<[T]>, visit: &mut dyn FnMut(usize, usize)) {
            if !v.is_empty() {
                visit(v.as_ptr() as usize, size_of_val::<[T]>(v));
            }
        }
        match self {
            Self::F32(v) => one(v, visit),
            Self::F64(v) => one(v, visit),
            Self::U32(v) => one(v, visit),
            Self::U16(v) => one(v, visit),
            Self::U8(v) => one(v, visit),
            Self::I32(v) => one(v, visit),
            Self::Text(v) => {
                one(v, visit);
                for row in v.iter() {
                    if !row.is_empty() {
                        visit(row.as_ptr() as usize, row.len());
                    }
                }
            }
        }
    }
}

/// A named, shared, typed buffer with `arity` elements per row.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// The name, unique within its value; nested parts are separated by `.`.
    pub name: Arc<str>,
    /// Elements per row: 3 for positions, 16 for matrices.
    pub arity: usize,
    /// The buffer.
    pub elements: Elements,
}

macro_rules! typed {
    ($make:ident, $get:ident, $variant:ident, $element:ty, $what:literal) => {
        #[doc = concat!("A column over a shared buffer of `T`, seen as ", $what, " without a copy where alignment allows.")]
        pub fn $make<T: Pod>(name: impl Into<Arc<str>>, rows: &Arc<[T]>) -> Self {
            let arity = size_of::<T>() / size_of::<$element>();
            let elements = match try_cast_slice_arc::<T, $element>(Arc::clone(rows)) {
                Ok(shared) => shared,
                Err((_, rows)) => Arc::from(bytemuck::cast_slice::<T, $element>(&rows)),
            };
            Self { name: name.into(), arity, elements: Elements::$variant(elements) }
        }

        #[doc = concat!("The rows as `T`, shared where alignment allows; an error names the column if it is not ", $what, ".")]
        pub fn $get<T: Pod>(&self) -> Result<Arc<[T]>, ColumnError> {
            let Elements::$variant(elements) = &self.elements else {
                return Err(self.mismatch($what));
            };
            if self.arity * size_of::<$element>() != size_of::<T>() || elements.len() % self.arity.max(1) != 0 {
                return Err(self.mismatch($what));
            }
            match try_cast_slice_arc::<$element, T>(Arc::clone(elements)) {
                Ok(shared) => Ok(shared),
                Err((_, elements)) => Ok(bytemuck::pod_collect_to_vec::<$element, T>(&elements).into()),
            }
        }
    };
}

impl Column {
    typed!(f32, as_f32, F32, f32, "f32");
    typed!(f64, as_f64, F64, f64, "f64");
    typed!(u32, as_u32, U32, u32, "u32");
    typed!(u16, as_u16, U16, u16, "u16");
    typed!(u8, as_u8, U8, u8, "u8");
    typed!(i32, as_i32, I32, i32, "i32");

    /// A text column, one entry per row.
    pub fn text(name: impl Into<Arc<str>>, rows: &Arc<[Arc<str>]>) -> Self {
        Self { name: name.into(), arity: 1, elements: Elements::Text(Arc::clone(rows)) }
    }

    /// A structured part as one row of JSON. For small parts only: big ones are columns of their own.
    pub fn json<T: serde::Serialize>(name: impl Into<Arc<str>>, part: &T) -> Self {
        // Types that flow hold no maps with non-text keys and no failing serialisers, so this cannot fail for them.
        let text = serde_json::to_string(part).unwrap_or_else(|error| format!("\"{error}\""));
        Self { name: name.into(), arity: 1, elements: Elements::Text(Arc::from([Arc::from(text)])) }
    }

    /// The rows of a text column.
    pub fn as_text(&self) -> Result<Arc<[Arc<str>]>, ColumnError> {
        match &self.elements {
            Elements::Text(rows) => Ok(Arc::clone(rows)),
            _ => Err(self.mismatch("text")),
        }
    }

    /// Reads back a part that [`Column::json`] wrote.
    pub fn as_json<T: serde::de::DeserializeOwned>(&self) -> Result<T, ColumnError> {
        let rows = self.as_text()?;
        let row = rows.first().ok_or_else(|| self.mismatch("one row of JSON"))?;
        serde_json::from_str(row)
            .map_err(|error| ColumnError::Content { name: self.name.to_string(), reason: error.to_string() })
    }

    /// How many rows.
    pub fn rows(&self) -> usize {
        self.elements.len() / self.arity.max(1)
    }

    /// The same column under `prefix.name`, for nested values.
    pub fn under(mut self, prefix: &str) -> Self {
        self.name = format!("{prefix}.{}", self.name).into();
        self
    }

    fn mismatch(&self, expected: &str) -> ColumnError {
        ColumnError::Type {
            name: self.name.to_string(),
            expected: expected.into(),
            found: format!("{} x {}", self.elements.type_name(), self.arity),
        }
    }
}

/// The columns of one value, by name.
#[derive(Clone, Debug, Default)]
pub struct Columns(BTreeMap<Arc<str>, Column>);

impl Columns {
    /// The column called `name`.
    pub fn get(&self, name: &str) -> Result<&Column, ColumnError> {
        self.0.get(name).ok_or_else(|| ColumnError::Missing { name: name.into() })
    }

    /// The columns of the nested value under `prefix`, with the prefix taken off.
    pub fn under(&self, prefix: &str) -> Self {
        let start = format!("{prefix}.");
        self.0
            .values()
            .filter_map(|c| c.name.strip_prefix(start.as_str()).map(|n| Column { name: n.into(), ..c.clone() }))
            .collect()
    }

    /// All columns in order of name.
    pub fn iter(&self) -> impl Iterator<Item = &Column> {
        self.0.values()
    }
}

impl FromIterator<Column> for Columns {
    fn from_iter<I: IntoIterator<Item = Column>>(columns: I) -> Self {
        Self(columns.into_iter().map(|c| (Arc::clone(&c.name), c)).collect())
    }
}

/// Why columns do not make the value they were asked to be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ColumnError {
    /// A column is not there.
    #[error("column {name:?} is missing")]
    Missing {
        /// Its name.
        name: String,
    },
    /// A column has another element type, arity or length.
    #[error("column {name:?} should be {expected} but is {found}")]
    Type {
        /// Its name.
        name: String,
        /// What was expected.
        expected: String,
        /// What was found.
        found: String,
    },
    /// A column's content does not fit the value's rules.
    #[error("column {name:?}: {reason}")]
    Content {
        /// Its name.
        name: String,
        /// Which rule.
        reason: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec3;

    #[test]
    fn a_column_of_vectors_shares_its_buffer() {
        let positions: Arc<[Vec3]> = vec![Vec3::X, Vec3::Y].into();
        let column = Column::f32("position", &positions);
        assert_eq!((column.arity, column.rows()), (3, 2));
        let mut seen = Vec::new();
        column.elements.allocations(&mut |at, bytes| seen.push((at, bytes)));
        assert_eq!(seen, [(positions.as_ptr() as usize, 24)]);
        let back: Arc<[Vec3]> = column.as_f32().unwrap();
        assert!(Arc::ptr_eq(&back, &positions));
    }

    #[test]
    fn a_wrong_type_names_the_column() {
        let column = Column::u32("index", &Arc::from([1u32, 2]));
        let error = column.as_f32::<f32>().unwrap_err();
        assert_eq!(error.to_string(), "column \"index\" should be f32 but is u32 x 1");
        assert!(column.as_u32::<[u32; 3]>().is_err());
    }
}
