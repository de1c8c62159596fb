//! Reads glTF: GLB, .gltf with its files, and VRM (`tail-3d.md` H).
//!
//! All skinned primitives become one mesh in one bind space over one skeleton; the document itself is kept as it is, so
//! that an export touches only what changed. What is broken but has one sensible reading is mended and told; all else is
//! refused with its path in the document.

pub(crate) mod accessor;
mod assemble;
mod binds;
mod buffers;
pub(crate) mod clips;
mod colours;
mod container;
pub(crate) mod document;
mod draco;
mod meshopt;
mod primitive;
mod tree;
mod weights;

use std::sync::Arc;

use sinew_graph::{Cx, NodeError, Result};

use self::accessor::Accessors;
pub use self::buffers::Resolve;
pub(crate) use self::buffers::percent_decoded;
use self::document::Document;
use crate::data::{Character, Source};

/// Required extensions that change nothing that is read here, or that are read.
const KNOWN: [&str; 10] = [
    "EXT_meshopt_compression",
    "KHR_draco_mesh_compression",
    "KHR_mesh_quantization",
    "KHR_texture_transform",
    "KHR_lights_punctual",
    "KHR_texture_basisu",
    "EXT_texture_webp",
    "EXT_texture_avif",
    "VRM",
    "VRMC_vrm",
];

/// Reads a character from the bytes of a .glb, .gltf or .vrm file. `resolve` fetches the files that a .gltf names, by
/// their URI with percent signs resolved.
pub fn read(name: &str, bytes: &[u8], resolve: &mut Resolve, cx: &Cx) -> Result<Character> {
    let container = container::split(bytes)?;
    for kind in &container.unknown_chunks {
        cx.warn(format!("the GLB has a chunk of the unknown type {kind:#010x}: it will not be in an export"));
    }
    let document = Document::parse(container.json)?;
    check_version(&document)?;
    check_extensions(&document, cx)?;
    let buffers = buffers::load(&document, container.bin, resolve, cx)?;
    let files = buffers::images(&document, resolve, cx)?;
    cx.progress(0.2);
    let accessors = accessors(&document, &buffers, cx)?;
    let rigged = assemble::assemble(&accessors, &files, cx)?;
    cx.progress(0.8);
    let clips = clips::read(&accessors, cx)?;
    Ok(Character {
        name: name.into(),
        mesh: rigged.mesh,
        skeleton: rigged.skeleton,
        source_skin: rigged.skin.clone(),
        skin: rigged.skin,
        clips,
        source: Source { json: Arc::from(container.json), repaired: rigged.repaired.into(), files, buffers },
    })
}

/// The accessors of a document, with all that is compressed decoded.
pub(crate) fn accessors<'a>(document: &'a Document, buffers: &'a [Arc<[u8]>], cx: &Cx) -> Result<Accessors<'a>> {
    let mut accessors = Accessors::new(document, buffers);
    meshopt::inflate(&mut accessors, cx)?;
    draco::inflate(&mut accessors, cx)?;
    Ok(accessors)
}

fn check_version(document: &Document) -> Result<()> {
    let version = document.asset.min_version.as_ref().or(document.asset.version.as_ref());
    match version {
        Some(version) if !version.starts_with("2.") => {
            Err(NodeError::new(format!("asset.version: it is glTF {version}")).help("export it as glTF 2.0"))
        }
        None => {
            Err(NodeError::new("asset.version: it is missing, so this is no glTF 2.0").help("export it as glTF 2.0"))
        }
        Some(_) => Ok(()),
    }
}

fn check_extensions(document: &Document, cx: &Cx) -> Result<()> {
    for name in &document.extensions_required {
        if !KNOWN.contains(&name.as_str()) && (name.contains("draco") || name.contains("meshopt")) {
            return Err(NodeError::new(format!("extensionsRequired: the meshes are compressed with {name}"))
                .help("convert the file: npx @gltf-transform/cli copy in.glb out.glb"));
        }
        if !KNOWN.contains(&name.as_str()) && !name.starts_with("KHR_materials_") && !name.starts_with("VRMC_") {
            cx.warn(format!("extensionsRequired: {name} is not known here; what it changes is not seen, but kept"));
        }
    }
    Ok(())
}
