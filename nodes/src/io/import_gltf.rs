//! `io.import_gltf`.

use std::path::Path;

use sinew_graph::knob::FilePath;
use sinew_graph::{Cx, Result, node};

use super::gltf;
use crate::data::Character;

/// Reads a rigged character from a glTF file: .glb, .gltf with the files beside it, or .vrm.
///
/// All skinned meshes become one mesh in bind space, whatever pose the file holds. The file itself is kept, so that an
/// export changes only what the graph changed. Broken weights are mended and told.
#[node(id = "io.import_gltf", revision = 1, label = "Import glTF")]
pub fn import_gltf(
    /// The file.
    #[param(default = FilePath::default(), extensions("glb", "gltf", "vrm"))]
    file: FilePath,
    cx: &Cx,
) -> Result<Character> {
    let path = file.require("file")?;
    let bytes = cx.read(path)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let name = path.file_stem().map(|stem| stem.to_string_lossy()).unwrap_or_default();
    gltf::read(&name, &bytes, &mut |uri| cx.read(&folder.join(uri)), cx).map_err(|error| match error.at {
        None if !error.is_cancelled() => error.at("file"),
        _ => error,
    })
}
