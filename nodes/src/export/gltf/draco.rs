//! Stores a primitive plainly that was under `KHR_draco_mesh_compression`, so that its weights can be written.

use serde_json::Value;
use sinew_graph::{NodeError, Result};

use super::append::Appender;
use super::json::{array, entry, object};
use crate::io::gltf::accessor::{Accessors, Component, shape};

const NAME: &str = "KHR_draco_mesh_compression";

/// Writes the decoded data of a primitive and takes the extension off. Nothing happens to one that is not compressed.
pub fn unpack(out: &mut Appender, accessors: &Accessors, mesh: usize, primitive: usize) -> Result<()> {
    let source = &accessors.document().meshes[mesh].primitives[primitive];
    let Some(draco) = &source.extensions.draco else { return Ok(()) };
    for name in draco.attributes.keys().filter(|name| !name.starts_with("JOINTS_") && !name.starts_with("WEIGHTS_")) {
        if let Some(&accessor) = source.attributes.get(name) {
            write(out, accessors, accessor, 34962)?;
        }
    }
    if let Some(indices) = source.indices {
        write(out, accessors, indices, 34963)?;
    }
    let primitive = entry(entry(&mut out.json, "meshes", mesh)?, "primitives", primitive)?;
    let extensions = object(&mut primitive["extensions"])?;
    extensions.shift_remove(NAME);
    if extensions.is_empty() {
        object(primitive)?.shift_remove("extensions");
    }
    let meshes = out.json.get("meshes").and_then(Value::as_array).into_iter().flatten();
    let mut primitives = meshes.filter_map(|mesh| mesh.get("primitives")?.as_array()).flatten();
    if primitives.any(|primitive| primitive.get("extensions").is_some_and(|e| e.get(NAME).is_some())) {
        return Ok(());
    }
    for key in ["extensionsUsed", "extensionsRequired"] {
        if out.json.get(key).is_some() {
            let list = array(&mut out.json, key)?;
            list.retain(|name| name != NAME);
            if list.is_empty() {
                object(&mut out.json)?.shift_remove(key);
            }
        }
    }
    Ok(())
}

fn write(out: &mut Appender, accessors: &Accessors, index: usize, target: u32) -> Result<()> {
    let path = format!("accessors[{index}]");
    let accessor = accessors.accessor(index, &path)?;
    let bytes = accessors
        .replaced(index)
        .ok_or_else(|| NodeError::new(format!("{path}: it was not in the compressed data")).at("character"))?;
    let component = Component::from_gl(accessor.component_type).map_or(1, Component::size);
    let size = component * shape(&accessor.shape).map_or(1, |(components, _)| components);
    // Vertex attributes stand at multiples of four bytes; indices stand close together.
    let stride = if target == 34962 { size.next_multiple_of(4) } else { size };
    let view = if stride == size {
        out.view(bytes, Some(target), None)?
    } else {
        let mut padded = Vec::with_capacity(bytes.len() / size * stride);
        for element in bytes.chunks_exact(size) {
            padded.extend_from_slice(element);
            padded.resize(padded.len().next_multiple_of(stride), 0);
        }
        out.view(&padded, Some(target), Some(stride))?
    };
    let entry = entry(&mut out.json, "accessors", index)?;
    entry["bufferView"] = view.into();
    object(entry)?.shift_remove("byteOffset");
    Ok(())
}
