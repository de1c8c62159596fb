//! Decodes primitives under `KHR_draco_mesh_compression`, so that their accessors read like any other.

use std::panic::{AssertUnwindSafe, catch_unwind};

use draco_core::{DecodeLimits, DecoderBuffer, Mesh, MeshDecoder};
use sinew_graph::{Cx, NodeError, Result};

use super::accessor::{Accessors, Component, bad, shape};
use super::document::Primitive;

/// Points and faces that a compressed primitive may hold.
const MOST: u64 = 1 << 25;

/// Decodes every compressed primitive of a document.
pub fn inflate(accessors: &mut Accessors, cx: &Cx) -> Result<()> {
    let document = accessors.document();
    for (m, mesh) in document.meshes.iter().enumerate() {
        for (p, primitive) in mesh.primitives.iter().enumerate() {
            cx.check()?;
            if primitive.extensions.draco.is_some() {
                let path = format!("meshes[{m}].primitives[{p}].extensions.KHR_draco_mesh_compression");
                inflate_primitive(accessors, primitive, &path)?;
            }
        }
    }
    Ok(())
}

fn inflate_primitive(accessors: &mut Accessors, primitive: &Primitive, path: &str) -> Result<()> {
    let Some(draco) = &primitive.extensions.draco else { return Ok(()) };
    let (bytes, _) = accessors.view(draco.buffer_view, &format!("{path}.bufferView"))?;
    let mesh = decode(bytes, accessors.left()).map_err(|reason| {
        NodeError::new(format!("{path}: {reason}"))
            .help("convert the file: npx @gltf-transform/cli copy in.glb out.glb")
    })?;
    let points = mesh.num_points();
    for (name, &id) in &draco.attributes {
        let at = format!("{path}.attributes.{name}");
        let index =
            *primitive.attributes.get(name).ok_or_else(|| bad(&at, "the primitive has no attribute of this name"))?;
        let attribute = mesh
            .attribute_by_unique_id(id)
            .ok_or_else(|| bad(&at, format!("the compressed data has no attribute {id}")))?;
        let accessor = accessors.accessor(index, &at)?;
        let (Some(component), Some((components, _))) =
            (Component::from_gl(accessor.component_type), shape(&accessor.shape))
        else {
            return Err(bad(&format!("accessors[{index}]"), "its type is unknown"));
        };
        if components > 4 {
            return Err(bad(&at, "attributes have up to 4 numbers"));
        }
        accessors.spend(points * components * 4, &at)?;
        let values = attribute.read_f32s(points, components);
        let mut packed = Vec::with_capacity(values.len() * component.size());
        values.iter().for_each(|&value| component.write(value, &mut packed));
        accessors.replace(index, packed);
    }
    let at = format!("{path}: indices");
    let index = primitive.indices.ok_or_else(|| bad(&at, "the primitive has none"))?;
    let component = Component::from_gl(accessors.accessor(index, &at)?.component_type);
    let corners = mesh.faces().iter().flatten().map(|point| point.0);
    let mut packed = Vec::new();
    for corner in corners {
        match component {
            Some(Component::U8) if corner <= 0xFF => packed.push(corner as u8),
            Some(Component::U16) if corner <= 0xFFFF => packed.extend((corner as u16).to_le_bytes()),
            Some(Component::U32) => packed.extend(corner.to_le_bytes()),
            _ => return Err(bad(&at, format!("vertex {corner} does not fit the component type"))),
        }
    }
    accessors.replace(index, packed);
    Ok(())
}

fn decode(bytes: &[u8], left: u64) -> std::result::Result<Mesh, String> {
    let limits =
        DecodeLimits::default().with_max_points(MOST).with_max_faces(MOST).with_max_decoded_bytes(left.min(1 << 30));
    let mut buffer = DecoderBuffer::new(bytes).with_limits(limits);
    let mut mesh = Mesh::new();
    // The decoder reports what it foresees; what it does not must not take the program along.
    match catch_unwind(AssertUnwindSafe(|| MeshDecoder::new().decode(&mut buffer, &mut mesh))) {
        Ok(Ok(())) => Ok(mesh),
        Ok(Err(error)) => Err(format!("the compressed mesh cannot be decoded: {error}")),
        Err(_) => Err("the compressed mesh is damaged".into()),
    }
}
