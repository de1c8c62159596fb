//! The bytes behind a document: a GLB's own chunk, `data:` URIs and files beside the document.

use std::sync::Arc;

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use sinew_graph::{Cx, NodeError, Result};

use super::document::Document;
use crate::data::SourceFile;

/// How a reader gets at a file that a document names: from its URI, percent signs resolved, to its bytes.
pub type Resolve<'a> = dyn FnMut(&str) -> Result<Vec<u8>> + 'a;

/// Some writers leave out the padding.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Fetches the bytes of every buffer.
pub fn load(document: &Document, bin: Option<&[u8]>, resolve: &mut Resolve, cx: &Cx) -> Result<Vec<Arc<[u8]>>> {
    let mut buffers = Vec::with_capacity(document.buffers.len());
    for (k, buffer) in document.buffers.iter().enumerate() {
        cx.check()?;
        let path = format!("buffers[{k}]");
        let bytes: Arc<[u8]> = match (&buffer.uri, bin) {
            (Some(uri), _) => fetch(uri, resolve)
                .map_err(|error| NodeError { what: format!("{path}.uri: {}", error.what), ..error })?
                .into(),
            (None, Some(bin)) if k == 0 => bin.into(),
            // What a fallback buffer would hold is held compressed elsewhere.
            (None, _) if buffer.extensions.meshopt.as_ref().is_some_and(|m| m.fallback) => Arc::default(),
            (None, _) => {
                return Err(NodeError::new(format!("{path}: it has no uri, and the file has no binary chunk for it"))
                    .help("download or export the file again"));
            }
        };
        let fallback = bytes.is_empty() && buffer.extensions.meshopt.is_some();
        if bytes.len() < buffer.byte_length && !fallback {
            let (length, found) = (buffer.byte_length, bytes.len());
            return Err(NodeError::new(format!("{path}.byteLength: it says {length} bytes, but there are {found}"))
                .help("the file is cut off: download or export it again"));
        }
        buffers.push(bytes);
    }
    Ok(buffers)
}

/// Fetches the images that a document names as files of their own, so that an export is complete. One that cannot be
/// read is told and left out.
pub fn images(document: &Document, resolve: &mut Resolve, cx: &Cx) -> Result<Vec<SourceFile>> {
    let mut files: Vec<SourceFile> = Vec::new();
    for (k, image) in document.images.iter().enumerate() {
        cx.check()?;
        let Some(uri) = image.uri.as_deref().filter(|uri| !uri.starts_with("data:")) else { continue };
        if files.iter().any(|file| &*file.uri == uri) {
            continue;
        }
        match fetch(uri, resolve) {
            Ok(bytes) => files.push(SourceFile { uri: uri.into(), bytes: bytes.into() }),
            Err(error) if error.is_cancelled() => return Err(error),
            Err(error) => cx.warn(format!("images[{k}].uri: {}; an export will not bring it along", error.what)),
        }
    }
    Ok(files)
}

/// The bytes behind a URI.
pub fn fetch(uri: &str, resolve: &mut Resolve) -> Result<Vec<u8>> {
    if let Some(data) = uri.strip_prefix("data:") {
        let (head, body) = data.split_once(',').ok_or_else(|| broken("the data: URI has no comma"))?;
        if !head.ends_with(";base64") {
            return Ok(percent_decoded(body));
        }
        return BASE64.decode(body.trim_end()).map_err(|error| broken(&format!("the data: URI is broken: {error}")));
    }
    if uri.contains("://") {
        return Err(NodeError::new(format!("{uri} is on the net, which is not read"))
            .help("put the file beside the document and name it there"));
    }
    let name = String::from_utf8(percent_decoded(uri)).map_err(|_| broken("the URI is not UTF-8"))?;
    resolve(&name)
}

fn broken(what: &str) -> NodeError {
    NodeError::new(what).help("export the file again")
}

/// A URI's bytes with percent signs resolved.
pub fn percent_decoded(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    let hex = |at: usize| bytes.get(at).and_then(|&b| (b as char).to_digit(16));
    let (mut out, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while at < bytes.len() {
        match (bytes[at], hex(at + 1), hex(at + 2)) {
            (b'%', Some(high), Some(low)) => {
                out.push((high * 16 + low) as u8);
                at += 3;
            }
            (byte, ..) => {
                out.push(byte);
                at += 1;
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris_are_data_or_names_beside_the_document() {
        let mut asked = Vec::new();
        let mut resolve = |name: &str| {
            asked.push(name.to_string());
            Ok(vec![7])
        };
        assert_eq!(fetch("data:application/octet-stream;base64,AQID", &mut resolve), Ok(vec![1, 2, 3]));
        assert_eq!(fetch("data:;base64,AQ", &mut resolve), Ok(vec![1]), "padding left out");
        assert_eq!(fetch("data:text/plain,a%20b", &mut resolve), Ok(b"a b".to_vec()));
        assert_eq!(fetch("my%20fox.bin", &mut resolve), Ok(vec![7]));
        assert!(fetch("data:;base64,%%%", &mut resolve).is_err());
        assert!(fetch("https://example.org/a.bin", &mut resolve).unwrap_err().to_string().contains("not read"));
        assert_eq!(asked, ["my fox.bin"]);
    }
}
