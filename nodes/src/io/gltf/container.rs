//! The two ways a glTF document is stored: a GLB of chunks, or plain JSON.

use sinew_graph::{NodeError, Result};

const MAGIC: &[u8; 4] = b"glTF";
const JSON: u32 = 0x4E4F_534A;
const BIN: u32 = 0x004E_4942;

/// A file taken apart; nothing is copied.
#[derive(Debug)]
pub struct Container<'a> {
    /// The document.
    pub json: &'a str,
    /// The binary chunk of a GLB, with its padding.
    pub bin: Option<&'a [u8]>,
    /// Types of chunks that glTF 2.0 does not know; they are not kept.
    pub unknown_chunks: Vec<u32>,
}

/// Takes a file apart, told by its first four bytes.
pub fn split(bytes: &[u8]) -> Result<Container<'_>> {
    if !bytes.starts_with(MAGIC) {
        let json = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
        if json.iter().find(|byte| !byte.is_ascii_whitespace()) != Some(&b'{') {
            return Err(NodeError::new("this is neither a GLB nor a glTF document: it starts with neither glTF nor {")
                .help("choose a .glb, .gltf or .vrm file"));
        }
        return Ok(Container { json: utf8(json)?, bin: None, unknown_chunks: Vec::new() });
    }
    let word = |at: usize| -> Result<u32> {
        let field = at.checked_add(4).and_then(|end| bytes.get(at..end)).and_then(|b| b.try_into().ok());
        field.map(u32::from_le_bytes).ok_or_else(|| truncated(&format!("the file ends at byte {}", bytes.len())))
    };
    let version = word(4)?;
    if version != 2 {
        return Err(NodeError::new(format!("this is a GLB of version {version}"))
            .help("export it as glTF 2.0 (version 1 is not read)"));
    }
    let stated = word(8)? as usize;
    if stated > bytes.len() {
        return Err(truncated(&format!("its header says {stated} bytes, there are {}", bytes.len())));
    }
    let bytes = &bytes[..stated.max(12)];
    let (mut json, mut bin, mut unknown_chunks, mut at) = (None, None, Vec::new(), 12);
    while bytes.len() - at >= 8 {
        let (length, kind) = (word(at)? as usize, word(at + 4)?);
        let start = at + 8;
        let chunk = start.checked_add(length).and_then(|end| bytes.get(start..end)).ok_or_else(|| {
            truncated(&format!("the chunk at byte {at} says {length} bytes, {} are left", bytes.len() - start))
        })?;
        match kind {
            JSON if json.is_none() => json = Some(chunk),
            BIN if bin.is_none() => bin = Some(chunk),
            other => unknown_chunks.push(other),
        }
        at = start + length;
    }
    let json = json.ok_or_else(|| truncated("it has no JSON chunk"))?;
    Ok(Container { json: utf8(json)?, bin, unknown_chunks })
}

fn truncated(what: &str) -> NodeError {
    NodeError::new(format!("the GLB is cut off or damaged: {what}")).help("download or export the file again")
}

fn utf8(bytes: &[u8]) -> Result<&str> {
    std::str::from_utf8(bytes).map_err(|error| {
        NodeError::new(format!("the JSON is not UTF-8 from its byte {}", error.valid_up_to()))
            .help("export the file again")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn glb(chunks: &[(u32, &[u8])]) -> Vec<u8> {
        let mut out = b"glTF\x02\0\0\0\0\0\0\0".to_vec();
        for (kind, data) in chunks {
            out.extend((data.len() as u32).to_le_bytes());
            out.extend(kind.to_le_bytes());
            out.extend(*data);
        }
        let length = (out.len() as u32).to_le_bytes();
        out[8..12].copy_from_slice(&length);
        out
    }

    #[test]
    fn chunks_are_found_by_their_type_and_unknown_ones_told() {
        let file = glb(&[(JSON, b"{}  "), (7, b"abcd"), (BIN, b"1234")]);
        let parts = split(&file).unwrap();
        assert_eq!((parts.json, parts.bin, parts.unknown_chunks), ("{}  ", Some(&b"1234"[..]), vec![7]));
    }

    #[test]
    fn every_truncation_is_refused_and_says_so() {
        let file = glb(&[(JSON, b"{}  "), (BIN, b"1234")]);
        for length in 4..file.len() {
            let error = split(&file[..length]).unwrap_err().to_string();
            assert!(error.contains("cut off"), "{length}: {error}");
        }
    }

    #[test]
    fn a_chunk_longer_than_the_file_is_refused() {
        let mut file = glb(&[(JSON, b"{}  ")]);
        file[12..16].copy_from_slice(&u32::MAX.to_le_bytes());
        let error = split(&file).unwrap_err().to_string();
        assert!(error.contains("the chunk at byte 12 says 4294967295 bytes, 4 are left"), "{error}");
    }

    #[test]
    fn other_files_are_named_as_such() {
        assert!(split(b"solid cube").unwrap_err().to_string().contains("neither a GLB nor a glTF document"));
        assert_eq!(split(b"\xEF\xBB\xBF {}").unwrap().json, " {}");
    }
}
