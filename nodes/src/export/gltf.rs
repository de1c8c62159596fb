//! `export.gltf`, and how a changed character becomes a glTF file again: its source's document is edited where the
//! character differs, and new data stands behind the old in a buffer. All else stays as it was, byte for byte.

mod append;
mod bytes;
mod clips;
mod draco;
mod joints;
mod json;
mod pack;
mod weights;

use std::sync::Arc;

use serde_json::Value;
use sinew_graph::{Choice, Cx, NodeError, Result, node};

use self::append::Appender;
use self::bytes::Bytes;
use crate::data::{Character, Files};
use crate::io::gltf::document::Document;
use crate::io::gltf::{self};

/// How the file is stored.
#[derive(Choice, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// One binary file.
    #[default]
    Glb,
    /// A JSON document with its buffer and images beside it.
    Gltf,
    /// One binary file with the ending that VRM programs look for.
    Vrm,
}

/// Writes a character as glTF.
///
/// The document that the character was read from is edited where it changed: added joints, weights, clips. Materials,
/// textures, morph targets, extras and unknown extensions stay as they are; without a change the file stays the same.
#[node(id = "export.gltf", revision = 1, label = "Export glTF")]
pub fn export_gltf(
    /// The character.
    character: &Character,
    /// The file name without its ending; empty: the character's name.
    #[param(default = String::new())]
    name: String,
    /// How the file is stored.
    #[param(default = Format::Glb)]
    format: Format,
    cx: &Cx,
) -> Result<Files> {
    let name = if name.trim().is_empty() { character.name.to_string() } else { name };
    let name = file_name(name.trim())?;
    let edited = edit(character, cx)?;
    cx.progress(0.8);
    pack::pack(&edited, &character.source.files, name, format, cx)
}

fn file_name(name: &str) -> Result<&str> {
    let forbidden = |c: char| c.is_control() || matches!(c, '/' | '\\' | ':' | '*' | '?' | '"' | '<' | '>' | '|');
    if name.is_empty() || name.starts_with('.') || name.contains(forbidden) {
        return Err(NodeError::new(format!("{name:?} is no file name"))
            .at("name")
            .help("use letters, digits, spaces, - and _"));
    }
    Ok(name)
}

/// A document after its edits.
struct Edited {
    /// The JSON, if it had to change.
    json: Option<Value>,
    /// The JSON as it was.
    source: Arc<str>,
    /// The bytes of every buffer.
    buffers: Vec<Bytes>,
    /// The document as it was, read.
    document: Document,
}

fn edit(character: &Character, cx: &Cx) -> Result<Edited> {
    check(character)?;
    let source = &character.source;
    let document = Document::parse(&source.json)?;
    let mut buffers: Vec<Bytes> = source.buffers.iter().map(Bytes::unchanged).collect();
    let changed_parts = weights::changed(character);
    let added = joints::added(character, &document)?;
    let accessors = gltf::accessors(&document, &source.buffers, &Cx::detached())?;
    let changed_clips = clips::changed(character, &accessors, cx)?;
    let mut json = None;
    if !changed_parts.is_empty() || !added.is_empty() || !changed_clips.is_empty() {
        let value = serde_json::from_str(&source.json)
            .map_err(|error| NodeError::new(format!("the source document cannot be read: {error}")))?;
        let mut out = Appender::new(value, &document, &source.buffers)?;
        joints::write_nodes(&mut out, character, &added)?;
        let skins = joints::write_skins(&mut out, character, &added, &changed_parts, &accessors)?;
        cx.check()?;
        weights::write(&mut out, character, &changed_parts, &skins, &accessors, cx)?;
        clips::write(&mut out, &changed_clips, cx)?;
        json = Some(out.finish(&mut buffers)?);
    }
    Ok(Edited { json, source: Arc::clone(&source.json), buffers, document })
}

/// Checks that the parts of a character fit each other: it may come from a plugin.
fn check(character: &Character) -> Result<()> {
    let (mesh, skeleton, skin) = (&character.mesh, &character.skeleton, &character.skin);
    let vertices = mesh.positions.len();
    let fits = skin.len() == vertices
        && character.source_skin.len() == vertices
        && skeleton.binds.len() == skeleton.joints.len()
        && mesh
            .parts
            .iter()
            .all(|part| part.vertices.start <= part.vertices.end && part.vertices.end as usize <= vertices)
        && skeleton.joints.iter().all(|joint| joint.parent.is_none_or(|p| usize::from(p) < skeleton.joints.len()))
        && [skin, &character.source_skin].iter().all(|skin| {
            skin.joints.len() == skin.weights.len()
                && skin.joints.iter().all(|&joint| usize::from(joint) < skeleton.joints.len())
        });
    if !fits {
        return Err(NodeError::new("mesh, skeleton and skin do not fit each other")
            .at("character")
            .help("look at the node that made it: every vertex needs its weights, every joint its bind matrix"));
    }
    Ok(())
}
