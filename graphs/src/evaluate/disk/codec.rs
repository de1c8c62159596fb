//! How results are written in the disk tier: a header, then every column as it is in memory, then a checksum.
//!
//! Numbers are little-endian; the tier's folder is another one on a machine that is not.

use std::sync::Arc;

use bytemuck::Pod;

use crate::column::{Column, Columns, Elements};
use crate::cx::Warning;
use crate::ids::SocketId;
use crate::registry::Registry;
use crate::value::{Digest, Value};

/// Changes with the format; a part of the folder's name.
pub(in crate::evaluate) const VERSION: u32 = 1;

/// A result as it is on disk.
pub(in crate::evaluate) struct Stored {
    pub values: Vec<Value>,
    pub warnings: Vec<Warning>,
    pub nanos: u64,
}

/// A digest of a column, by its bits.
pub(in crate::evaluate) fn column_digest(column: &Column) -> Digest {
    let mut bytes = Vec::new();
    write_column(&mut bytes, column);
    Digest::of(&bytes)
}

pub(super) fn write(values: &[Value], warnings: &[Warning], nanos: u64) -> Vec<u8> {
    let mut to = Vec::new();
    number(&mut to, nanos);
    number(&mut to, warnings.len() as u64);
    for warning in warnings {
        text(&mut to, &warning.what);
        to.push(u8::from(warning.at.is_some()));
        text(&mut to, warning.at.as_ref().map_or("", SocketId::as_str));
    }
    number(&mut to, values.len() as u64);
    for value in values {
        text(&mut to, value.data_type().id.0);
        let columns = value.columns();
        number(&mut to, columns.len() as u64);
        columns.iter().for_each(|column| write_column(&mut to, column));
    }
    seal(to)
}

/// Appends the checksum.
pub(super) fn seal(mut bytes: Vec<u8>) -> Vec<u8> {
    let digest = Digest::of(&bytes);
    bytes.extend_from_slice(&digest.0);
    bytes
}

/// The content in front of a right checksum.
pub(super) fn unseal(bytes: &[u8]) -> Result<&[u8], String> {
    let (content, checksum) = bytes.split_last_chunk::<16>().ok_or("it is too short")?;
    if Digest::of(content).0 == *checksum { Ok(content) } else { Err("its checksum is wrong".into()) }
}

pub(super) fn read(bytes: &[u8], registry: &Registry) -> Result<Stored, String> {
    let mut from = Reader(unseal(bytes)?);
    let nanos = from.number()?;
    let mut warnings = Vec::new();
    for _ in 0..from.number()? {
        let what = from.text()?.to_owned();
        let named = from.take(1)?[0] != 0;
        let at = from.text()?;
        warnings.push(Warning { what, at: named.then(|| at.into()) });
    }
    let mut values = Vec::new();
    for _ in 0..from.number()? {
        let data_type = from.text()?.to_owned();
        let columns = (0..from.number()?).map(|_| from.column()).collect::<Result<Columns, String>>()?;
        let decode = registry.decoder(&data_type).ok_or_else(|| format!("no node gives a {data_type}"))?;
        values.push(decode(&columns).map_err(|error| error.to_string())?);
    }
    if from.0.is_empty() { Ok(Stored { values, warnings, nanos }) } else { Err("something follows its end".into()) }
}

fn write_column(to: &mut Vec<u8>, column: &Column) {
    text(to, &column.name);
    text(to, column.elements.type_name());
    number(to, column.arity as u64);
    number(to, column.elements.len() as u64);
    match &column.elements {
        Elements::F32(rows) => to.extend_from_slice(bytemuck::cast_slice(rows)),
        Elements::F64(rows) => to.extend_from_slice(bytemuck::cast_slice(rows)),
        Elements::U32(rows) => to.extend_from_slice(bytemuck::cast_slice(rows)),
        Elements::U16(rows) => to.extend_from_slice(bytemuck::cast_slice(rows)),
        Elements::U8(rows) => to.extend_from_slice(rows),
        Elements::I32(rows) => to.extend_from_slice(bytemuck::cast_slice(rows)),
        Elements::Text(rows) => rows.iter().for_each(|row| text(to, row)),
    }
}

fn number(to: &mut Vec<u8>, number: u64) {
    to.extend_from_slice(&number.to_le_bytes());
}

pub(super) fn text(to: &mut Vec<u8>, text: &str) {
    number(to, text.len() as u64);
    to.extend_from_slice(text.as_bytes());
}

/// Reads what a checksum has vouched for; still refuses what does not fit.
pub(super) struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    pub fn take(&mut self, bytes: usize) -> Result<&'a [u8], String> {
        let (taken, rest) = self.0.split_at_checked(bytes).ok_or("it ends early")?;
        self.0 = rest;
        Ok(taken)
    }

    pub fn number(&mut self) -> Result<u64, String> {
        let bytes = self.take(8)?;
        Ok(u64::from_le_bytes(bytes.try_into().map_err(|_| "it ends early")?))
    }

    pub fn text(&mut self) -> Result<&'a str, String> {
        let length = self.number()? as usize;
        std::str::from_utf8(self.take(length)?).map_err(|error| error.to_string())
    }

    fn column(&mut self) -> Result<Column, String> {
        let name: Arc<str> = self.text()?.into();
        let kind = self.text()?;
        let arity = self.number()? as usize;
        let rows = self.number()? as usize;
        let elements = match kind {
            "f32" => Elements::F32(self.rows(rows)?),
            "f64" => Elements::F64(self.rows(rows)?),
            "u32" => Elements::U32(self.rows(rows)?),
            "u16" => Elements::U16(self.rows(rows)?),
            "u8" => Elements::U8(self.rows(rows)?),
            "i32" => Elements::I32(self.rows(rows)?),
            "text" => Elements::Text((0..rows).map(|_| self.text().map(Arc::from)).collect::<Result<_, _>>()?),
            other => return Err(format!("column {name} has elements of unknown type {other}")),
        };
        Ok(Column { name, arity, elements })
    }

    fn rows<T: Pod>(&mut self, rows: usize) -> Result<Arc<[T]>, String> {
        let bytes = self.take(rows.checked_mul(size_of::<T>()).ok_or("it is too long")?)?;
        Ok(bytemuck::pod_collect_to_vec::<u8, T>(bytes).into())
    }
}
