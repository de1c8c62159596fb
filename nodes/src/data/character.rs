//! A character: what was read from a file, and what has been made of it.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sinew_graph::Data;
use sinew_graph::column::{Column, ColumnError, Columns};
use sinew_graph::value::{DataType, DataTypeId};

use super::{Clips, Mesh, Skeleton, Skin};

/// A rigged character. The exporter edits [`Character::source`] and appends what changed, so that all that Sinew does not
/// know (materials, extras, unknown extensions) stays as it was.
#[derive(Clone, Debug, PartialEq)]
pub struct Character {
    /// Its name: the file's, without the extension.
    pub name: Arc<str>,
    /// The file it comes from.
    pub source: Source,
    /// All skinned primitives as one mesh in bind space.
    pub mesh: Mesh,
    /// Joints and nodes; added joints stand last.
    pub skeleton: Skeleton,
    /// The weights now.
    pub skin: Skin,
    /// The weights as read (and repaired): what differs from them is written.
    pub source_skin: Skin,
    /// The clips as read.
    pub clips: Clips,
}

/// The file that a character was read from: its JSON and its buffers, byte for byte.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    /// The glTF JSON, as stored.
    pub json: Arc<str>,
    /// The bytes of each glTF buffer, in order; a GLB's own first.
    pub buffers: Vec<Arc<[u8]>>,
    /// Files that a .gltf names beside its buffers (images), to be written along with the export.
    pub files: Vec<SourceFile>,
    /// Per part of the mesh: whether its stored weights were repaired on reading and must be written anew.
    pub repaired: Arc<[u8]>,
}

/// A file that a source names.
#[derive(Clone, Debug, PartialEq)]
pub struct SourceFile {
    /// The URI as the JSON spells it.
    pub uri: Arc<str>,
    /// Its bytes.
    pub bytes: Arc<[u8]>,
}

#[derive(Serialize, Deserialize)]
struct Head {
    name: Arc<str>,
    buffers: usize,
    files: Vec<Arc<str>>,
}

impl Data for Character {
    const TYPE: DataType = DataType {
        id: DataTypeId("character"),
        label: "Character",
        help: "A rigged character: mesh, skeleton, weights, clips, and the file they come from.",
        colour: [237, 158, 92],
    };

    fn columns(&self) -> Vec<Column> {
        let head = Head {
            name: Arc::clone(&self.name),
            buffers: self.source.buffers.len(),
            files: self.source.files.iter().map(|file| Arc::clone(&file.uri)).collect(),
        };
        let mut columns = vec![
            Column::json("character", &head),
            Column::text("source.json", &Arc::from([Arc::clone(&self.source.json)])),
            Column::u8("source.repaired", &self.source.repaired),
        ];
        let buffers = self.source.buffers.iter().enumerate();
        columns.extend(buffers.map(|(k, bytes)| Column::u8(format!("source.buffer{k}"), bytes)));
        let files = self.source.files.iter().enumerate();
        columns.extend(files.map(|(k, file)| Column::u8(format!("source.file{k}"), &file.bytes)));
        let mut part = |prefix: &str, part: Vec<Column>| columns.extend(part.into_iter().map(|c| c.under(prefix)));
        part("mesh", self.mesh.columns());
        part("skeleton", self.skeleton.columns());
        part("skin", self.skin.columns());
        part("source_skin", self.source_skin.columns());
        part("clips", self.clips.columns());
        columns
    }

    fn from_columns(columns: &Columns) -> Result<Self, ColumnError> {
        let head: Head = columns.get("character")?.as_json()?;
        let json = columns.get("source.json")?.as_text()?;
        let buffer = |k| columns.get(&format!("source.buffer{k}"))?.as_u8();
        let file = |(k, uri)| Ok(SourceFile { uri, bytes: columns.get(&format!("source.file{k}"))?.as_u8()? });
        Ok(Self {
            name: head.name,
            source: Source {
                json: json.first().cloned().ok_or(ColumnError::Missing { name: "source.json".into() })?,
                buffers: (0..head.buffers).map(buffer).collect::<Result<_, _>>()?,
                files: head.files.into_iter().enumerate().map(file).collect::<Result<_, ColumnError>>()?,
                repaired: columns.get("source.repaired")?.as_u8()?,
            },
            mesh: Mesh::from_columns(&columns.under("mesh"))?,
            skeleton: Skeleton::from_columns(&columns.under("skeleton"))?,
            skin: Skin::from_columns(&columns.under("skin"))?,
            source_skin: Skin::from_columns(&columns.under("source_skin"))?,
            clips: Clips::from_columns(&columns.under("clips"))?,
        })
    }
}
