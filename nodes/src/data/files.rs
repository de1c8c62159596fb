//! Files that a graph yields. Nodes never write them: `sinew run` or the *Write* button does, whole or not at all.

use std::sync::Arc;

use sinew_graph::Data;
use sinew_graph::column::{Column, ColumnError, Columns};
use sinew_graph::value::{DataType, DataTypeId};

/// Names and bytes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Files {
    /// The files, in order.
    pub files: Vec<File>,
}

/// A file to be written.
#[derive(Clone, Debug, PartialEq)]
pub struct File {
    /// Its path relative to the folder chosen by the user; `/` separates, never `..`.
    pub name: Arc<str>,
    /// Its content.
    pub bytes: Arc<[u8]>,
}

impl Data for Files {
    const TYPE: DataType = DataType {
        id: DataTypeId("files"),
        label: "Files",
        help: "Files to be written: names and bytes.",
        colour: [158, 158, 120],
    };

    fn columns(&self) -> Vec<Column> {
        let names: Arc<[Arc<str>]> = self.files.iter().map(|file| Arc::clone(&file.name)).collect();
        let mut columns = vec![Column::text("name", &names)];
        columns.extend(self.files.iter().enumerate().map(|(k, file)| Column::u8(format!("file{k}"), &file.bytes)));
        columns
    }

    fn from_columns(columns: &Columns) -> Result<Self, ColumnError> {
        let names = columns.get("name")?.as_text()?;
        let file = |(k, name): (usize, &Arc<str>)| {
            Ok(File { name: Arc::clone(name), bytes: columns.get(&format!("file{k}"))?.as_u8()? })
        };
        Ok(Self { files: names.iter().enumerate().map(file).collect::<Result<_, ColumnError>>()? })
    }
}
