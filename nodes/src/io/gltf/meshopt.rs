//! Decodes buffer views under `EXT_meshopt_compression`, so that their accessors read like any other.

use bytemuck::{NoUninit, cast_slice};
use meshopt::{
    decode_filter_exp, decode_filter_oct, decode_filter_quat, decode_index_buffer, decode_index_sequence,
    decode_vertex_buffer,
};
use sinew_graph::{Cx, NodeError, Result};

use super::accessor::{Accessors, bad};
use super::document::MeshoptView;

/// Decodes every compressed buffer view of a document.
pub fn inflate(accessors: &mut Accessors, cx: &Cx) -> Result<()> {
    let document = accessors.document();
    for (k, view) in document.buffer_views.iter().enumerate() {
        let Some(packed) = &view.extensions.meshopt else { continue };
        cx.check()?;
        let path = format!("bufferViews[{k}].extensions.EXT_meshopt_compression");
        let bytes = accessors.range(packed.buffer, packed.byte_offset, packed.byte_length, &path)?;
        let length = packed.count.checked_mul(packed.byte_stride);
        // The format needs a byte of header and at least a bit for every 16 bytes; less is a count made up.
        let justified = length.is_some_and(|length| length / 128 <= bytes.len().saturating_mul(64));
        match length {
            Some(length) if justified && length <= view.byte_length => accessors.spend(length, &path)?,
            _ => return Err(bad(&format!("{path}.count"), format!("{} elements do not fit", packed.count))),
        }
        let inflated = decode(packed, bytes).map_err(|reason| {
            NodeError::new(format!("{path}: {reason}"))
                .help("convert the file: npx @gltf-transform/cli copy in.glb out.glb")
        })?;
        accessors.inflate(k, inflated);
    }
    Ok(())
}

fn decode(view: &MeshoptView, bytes: &[u8]) -> std::result::Result<Vec<u8>, String> {
    let plain = matches!(view.filter.as_deref(), None | Some("NONE"));
    match (view.mode.as_str(), view.byte_stride) {
        ("TRIANGLES", 2) if plain && view.count % 3 == 0 => packed(decode_index_buffer::<u16>(bytes, view.count)),
        ("TRIANGLES", 4) if plain && view.count % 3 == 0 => packed(decode_index_buffer::<u32>(bytes, view.count)),
        ("INDICES", 2) if plain => packed(decode_index_sequence::<u16>(bytes, view.count)),
        ("INDICES", 4) if plain => packed(decode_index_sequence::<u32>(bytes, view.count)),
        ("ATTRIBUTES", stride) => attributes(stride, view, bytes),
        (mode, stride) => Err(format!("mode {mode} with stride {stride} and count {} is unknown", view.count)),
    }
}

fn packed<T: NoUninit>(decoded: meshopt::Result<Vec<T>>) -> std::result::Result<Vec<u8>, String> {
    decoded.map(|elements| cast_slice(&elements).to_vec()).map_err(|error| error.to_string())
}

fn attributes(stride: usize, view: &MeshoptView, bytes: &[u8]) -> std::result::Result<Vec<u8>, String> {
    // The decoder takes the stride as a type: one for each number of 32-bit words.
    macro_rules! words {
        ($($n:literal)*) => {
            match stride {
                $(stride if stride == 4 * $n => {
                    let mut rows = decode_vertex_buffer::<[u32; $n]>(bytes, view.count).map_err(|e| e.to_string())?;
                    filter(view.filter.as_deref(), &mut rows)?;
                    Ok(cast_slice(&rows).to_vec())
                })*
                _ => Err(format!("the stride {stride} is not a multiple of 4 up to 128")),
            }
        };
    }
    words!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32)
}

fn filter<const N: usize>(filter: Option<&str>, rows: &mut [[u32; N]]) -> std::result::Result<(), String> {
    let bytes: &mut [u8] = bytemuck::cast_slice_mut(rows.as_flattened_mut());
    match (filter, N) {
        (None | Some("NONE"), _) => Ok(()),
        (Some("OCTAHEDRAL"), 1) => {
            decode_filter_oct::<i8>(bytemuck::cast_slice_mut(bytes));
            Ok(())
        }
        (Some("OCTAHEDRAL"), 2) => {
            decode_filter_oct::<i16>(bytemuck::cast_slice_mut(bytes));
            Ok(())
        }
        (Some("QUATERNION"), 2) => {
            decode_filter_quat(bytemuck::cast_slice_mut(bytes));
            Ok(())
        }
        (Some("EXPONENTIAL"), _) => {
            decode_filter_exp(rows);
            Ok(())
        }
        (Some(other), _) => Err(format!("the filter {other} with stride {} is unknown", 4 * N)),
    }
}
