//! Puts an edited document into files: a GLB, or JSON with its buffers and images beside it.

use std::sync::Arc;

use serde_json::Value;
use sinew_graph::{Cx, NodeError, Result};

use super::bytes::{Bytes, zeros};
use super::json::entry;
use super::{Edited, Format};
use crate::data::{File, Files, SourceFile};

/// The files of a document.
pub fn pack(edited: &Edited, images: &[SourceFile], name: &str, format: Format, cx: &Cx) -> Result<Files> {
    let mut json = Json { value: edited.json.clone(), source: Arc::clone(&edited.source) };
    let mut beside: Vec<File> = Vec::new();
    let mut chunk = None;
    for (k, bytes) in edited.buffers.iter().enumerate() {
        cx.check()?;
        let buffer = edited.document.buffers.get(k);
        let uri = buffer.and_then(|buffer| buffer.uri.as_deref());
        let changed = edited.json.is_some() && buffer.is_none_or(|buffer| grown(edited, k) != Some(buffer.byte_length));
        let fallback =
            buffer.is_some_and(|b| b.uri.is_none() && b.extensions.meshopt.as_ref().is_some_and(|m| m.fallback));
        if fallback {
            continue;
        }
        if k == 0 && format != Format::Gltf {
            if uri.is_some() {
                super::json::object(json.buffer(k)?)?.shift_remove("uri");
            }
            chunk = Some(bytes);
            continue;
        }
        match uri {
            Some(uri) if uri.starts_with("data:") && !changed => {}
            Some(uri) if !uri.starts_with("data:") && relative(uri).is_some() => {
                beside.push(File { name: relative(uri).unwrap_or_default().into(), bytes: bytes.first(bytes.len()) });
            }
            _ => {
                let file = if k == 0 { format!("{name}.bin") } else { format!("{name}_{k}.bin") };
                json.buffer(k)?["uri"] = encoded(&file).into();
                let length = edited.document.buffers.get(k).map_or(bytes.len(), |b| b.byte_length);
                let length = grown(edited, k).unwrap_or(length).min(bytes.len());
                beside.push(File { name: file.into(), bytes: bytes.first(length) });
            }
        }
    }
    for image in images {
        match relative(&image.uri) {
            Some(file) if !beside.iter().any(|known| *known.name == *file) => {
                beside.push(File { name: file.into(), bytes: Arc::clone(&image.bytes) });
            }
            Some(_) => {}
            None => cx.warn(format!(
                "the image {} lies outside of the model's folder and is not written along: put it where the document names it",
                image.uri
            )),
        }
    }
    let text = json.text()?;
    let main = match format {
        Format::Gltf => File { name: format!("{name}.gltf").into(), bytes: text.as_bytes().into() },
        Format::Glb => File { name: format!("{name}.glb").into(), bytes: glb(&text, chunk)? },
        Format::Vrm => File { name: format!("{name}.vrm").into(), bytes: glb(&text, chunk)? },
    };
    if beside.iter().any(|file| file.name == main.name) {
        return Err(NodeError::new(format!("the document names a file {} beside it", main.name))
            .at("name")
            .help("choose another name"));
    }
    let mut files = vec![main];
    files.append(&mut beside);
    Ok(Files { files })
}

/// The JSON to write; parsed only once it has to change.
struct Json {
    value: Option<Value>,
    source: Arc<str>,
}

impl Json {
    fn buffer(&mut self, k: usize) -> Result<&mut Value> {
        if self.value.is_none() {
            let parsed = serde_json::from_str(&self.source)
                .map_err(|error| NodeError::new(format!("the source document cannot be read: {error}")))?;
            self.value = Some(parsed);
        }
        let value = self.value.as_mut().ok_or_else(|| NodeError::new("the source document is empty"))?;
        entry(value, "buffers", k)
    }

    fn text(&self) -> Result<Arc<str>> {
        match &self.value {
            None => Ok(Arc::clone(&self.source)),
            Some(value) => serde_json::to_string(value)
                .map(Into::into)
                .map_err(|error| NodeError::new(format!("the document cannot be written: {error}"))),
        }
    }
}

/// The length that the edited document gives a buffer.
fn grown(edited: &Edited, k: usize) -> Option<usize> {
    let length = edited.json.as_ref()?.get("buffers")?.get(k)?.get("byteLength")?.as_u64()?;
    usize::try_from(length).ok()
}

/// A GLB, put together in its one and only place.
fn glb(json: &str, bin: Option<&Bytes>) -> Result<Arc<[u8]>> {
    let padded = |length: usize| length.checked_next_multiple_of(4).unwrap_or(usize::MAX);
    let json_length = padded(json.len());
    let bin_length = bin.map(|bin| padded(bin.len()));
    let total = 20u64 + json_length as u64 + bin_length.map_or(0, |length| 8 + length as u64);
    let word = |x: u64| {
        u32::try_from(x).map(u32::to_le_bytes).map_err(|_| {
            NodeError::new("the file would be larger than 4 GiB, more than a GLB can hold")
                .at("format")
                .help("write it as gltf")
        })
    };
    let header = [*b"glTF", [2, 0, 0, 0], word(total)?, word(json_length as u64)?, *b"JSON"];
    let mut out = zeros(total as usize);
    let (head, body) = Arc::make_mut(&mut out).split_at_mut(20);
    head.copy_from_slice(header.as_flattened());
    let (text, chunk) = body.split_at_mut(json_length);
    text[..json.len()].copy_from_slice(json.as_bytes());
    text[json.len()..].fill(b' ');
    if let (Some(bin), Some(length)) = (bin, bin_length) {
        let (head, bytes) = chunk.split_at_mut(8);
        head.copy_from_slice([word(length as u64)?, *b"BIN\0"].as_flattened());
        bin.write(bytes);
    }
    Ok(out)
}

/// A URI as a path below the folder of the document; `None` if it leads elsewhere.
fn relative(uri: &str) -> Option<String> {
    let path = String::from_utf8(crate::io::gltf::percent_decoded(uri)).ok()?;
    let bad = |part: &str| part.is_empty() || part == "..";
    let path = path.strip_prefix("./").unwrap_or(&path);
    let outside = path.contains(['\\', ':', '\0']) || path.split('/').any(bad);
    (!outside).then(|| path.to_string())
}

/// A file name as a URI.
fn encoded(name: &str) -> String {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.~/".contains(byte);
    let mut out = String::new();
    for byte in name.bytes() {
        if plain(&byte) { out.push(byte.into()) } else { out.push_str(&format!("%{byte:02X}")) }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_below_the_folder_are_written() {
        assert_eq!(relative("a%20b/c.png").as_deref(), Some("a b/c.png"));
        assert_eq!(relative("./c.png").as_deref(), Some("c.png"));
        for outside in ["../c.png", "/etc/c.png", "a/../../c.png", "C:/c.png", "a\\b.png", "%2e%2e/c.png"] {
            assert_eq!(relative(outside), None, "{outside}");
        }
        assert_eq!(encoded("my fox.bin"), "my%20fox.bin");
    }

    #[test]
    fn chunks_are_padded_to_four_bytes_with_spaces_and_zeros() {
        let file = glb("{}", Some(&Bytes::unchanged(&Arc::from([7])))).unwrap();
        assert_eq!(file.len(), 36);
        assert_eq!(&file[8..28], b"\x24\0\0\0\x04\0\0\0JSON{}  \x04\0\0\0");
        assert_eq!(&file[28..], b"BIN\0\x07\0\0\0");
    }
}
