//! A table: what measures and decisions are told in.

use std::sync::Arc;

use sinew_graph::Data;
use sinew_graph::column::{Column, ColumnError, Columns};
use sinew_graph::value::{DataType, DataTypeId};

/// Columns of equal length under a title.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// What it is about: `appendages`. Becomes the key in reports.
    pub title: Arc<str>,
    /// Its columns, in order.
    pub columns: Vec<TableColumn>,
}

/// A column of a [`Table`].
#[derive(Clone, Debug, PartialEq)]
pub struct TableColumn {
    /// What it is: `p99`.
    pub name: Arc<str>,
    /// The unit of its numbers, empty for none: `heights`.
    pub unit: Arc<str>,
    /// The cells.
    pub cells: Cells,
}

/// The cells of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Cells {
    /// Numbers; NaN for none.
    Number(Arc<[f64]>),
    /// Whole numbers.
    Integer(Arc<[i32]>),
    /// Text.
    Text(Arc<[Arc<str>]>),
}

impl Cells {
    /// How many.
    pub fn len(&self) -> usize {
        match self {
            Self::Number(v) => v.len(),
            Self::Integer(v) => v.len(),
            Self::Text(v) => v.len(),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A cell as text, numbers with up to four decimals.
    pub fn show(&self, row: usize) -> String {
        match self {
            Self::Number(v) if v[row].is_nan() => "–".into(),
            Self::Number(v) => {
                let text = format!("{:.4}", v[row]);
                text.trim_end_matches('0').trim_end_matches('.').into()
            }
            Self::Integer(v) => v[row].to_string(),
            Self::Text(v) => v[row].to_string(),
        }
    }
}

impl Table {
    /// An empty table.
    pub fn new(title: impl Into<Arc<str>>) -> Self {
        Self { title: title.into(), columns: Vec::new() }
    }

    /// With a column of numbers more.
    pub fn numbers(self, name: &str, unit: &str, cells: impl IntoIterator<Item = f64>) -> Self {
        self.with(name, unit, Cells::Number(cells.into_iter().collect()))
    }

    /// With a column of whole numbers more.
    pub fn integers(self, name: &str, cells: impl IntoIterator<Item = i32>) -> Self {
        self.with(name, "", Cells::Integer(cells.into_iter().collect()))
    }

    /// With a column of text more.
    pub fn texts<S: Into<Arc<str>>>(self, name: &str, cells: impl IntoIterator<Item = S>) -> Self {
        self.with(name, "", Cells::Text(cells.into_iter().map(Into::into).collect()))
    }

    fn with(mut self, name: &str, unit: &str, cells: Cells) -> Self {
        self.columns.push(TableColumn { name: name.into(), unit: unit.into(), cells });
        self
    }

    /// How many rows.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |column| column.cells.len())
    }

    /// The column called `name`.
    pub fn column(&self, name: &str) -> Option<&TableColumn> {
        self.columns.iter().find(|column| &*column.name == name)
    }
}

impl Data for Table {
    const TYPE: DataType =
        DataType { id: DataTypeId("table"), label: "Table", help: "Rows and columns.", colour: [141, 141, 226] };

    fn columns(&self) -> Vec<Column> {
        let heads: Vec<(&str, &str)> = self.columns.iter().map(|c| (&*c.name, &*c.unit)).collect();
        let mut columns = vec![Column::json("table", &(&self.title, heads))];
        columns.extend(self.columns.iter().enumerate().map(|(k, column)| match &column.cells {
            Cells::Number(v) => Column::f64(format!("column{k}"), v),
            Cells::Integer(v) => Column::i32(format!("column{k}"), v),
            Cells::Text(v) => Column::text(format!("column{k}"), v),
        }));
        columns
    }

    fn from_columns(columns: &Columns) -> Result<Self, ColumnError> {
        use sinew_graph::column::Elements;
        let (title, heads) = columns.get("table")?.as_json::<(Arc<str>, Vec<[Arc<str>; 2]>)>()?;
        let mut table = Self::new(title);
        for (k, [name, unit]) in heads.into_iter().enumerate() {
            let column = columns.get(&format!("column{k}"))?;
            let cells = match &column.elements {
                Elements::F64(v) => Cells::Number(Arc::clone(v)),
                Elements::I32(v) => Cells::Integer(Arc::clone(v)),
                Elements::Text(v) => Cells::Text(Arc::clone(v)),
                _ => {
                    return Err(ColumnError::Content {
                        name: column.name.to_string(),
                        reason: "cells are f64, i32 or text".into(),
                    });
                }
            };
            table.columns.push(TableColumn { name, unit, cells });
        }
        Ok(table)
    }
}
