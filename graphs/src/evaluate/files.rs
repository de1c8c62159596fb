//! What is in the files that nodes read. Their content is digested on a thread of its own, and only if length or time
//! changed, so that a large file never holds up the scheduling.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crossbeam_channel::{Receiver, Sender};

use super::engine::Message;
use crate::cx::{FileRead, FileStamp};
use crate::value::Digest;

struct Known {
    stamp: Option<FileStamp>,
    digest: Option<Digest>,
    /// The generation in which the stamp was last looked at.
    seen: u64,
    asked: bool,
}

/// Digests of files by path, as far as known.
pub(super) struct Files {
    known: BTreeMap<PathBuf, Known>,
    to_digest: Sender<PathBuf>,
}

impl Files {
    pub fn new(to_digest: Sender<PathBuf>) -> Self {
        Self { known: BTreeMap::new(), to_digest }
    }

    /// What is in a file in this generation: `Some(None)` if it cannot be read, `None` if it is being found out.
    pub fn digest(&mut self, path: &Path, generation: u64) -> Option<Option<Digest>> {
        if let Some(known) = self.known.get(path) {
            if known.asked {
                return None;
            }
            if known.seen == generation {
                return Some(known.digest);
            }
        }
        let stamp = FileStamp::of(path).ok();
        let unknown = Known { stamp: None, digest: None, seen: generation, asked: false };
        let known = self.known.entry(path.to_owned()).or_insert(unknown);
        known.seen = generation;
        if stamp.is_none() {
            (known.stamp, known.digest) = (None, None);
            return Some(None);
        }
        if stamp == known.stamp {
            return Some(known.digest);
        }
        known.asked = self.to_digest.send(path.to_owned()).is_ok();
        if known.asked { None } else { Some(None) }
    }

    /// Takes in what was found out.
    pub fn found(&mut self, path: PathBuf, stamp: Option<FileStamp>, digest: Option<Digest>, generation: u64) {
        self.known.insert(path, Known { stamp, digest, seen: generation, asked: false });
    }

    /// Takes in what a node read.
    pub fn read(&mut self, read: &FileRead, generation: u64) {
        match self.known.get(&read.path) {
            Some(known) if known.asked => {}
            // The file changed while it was read, or just before: what is in it now is found out.
            Some(known) if known.seen == generation && known.stamp != read.stamp => {
                self.known.remove(&read.path);
            }
            _ => {
                let known = Known { stamp: read.stamp, digest: read.digest, seen: generation, asked: false };
                self.known.insert(read.path.clone(), known);
            }
        }
    }
}

/// The thread that digests: ends when the channel of paths is closed.
pub(super) fn digest_files(paths: &Receiver<PathBuf>, to: &Sender<Message>) {
    for path in paths {
        let (stamp, digest) = match content(&path) {
            Ok((stamp, digest)) => (Some(stamp), Some(digest)),
            Err(_) => (FileStamp::of(&path).ok(), None),
        };
        if to.send(Message::File { path, stamp, digest }).is_err() {
            return;
        }
    }
}

fn content(path: &Path) -> std::io::Result<(FileStamp, Digest)> {
    // The stamp first: a file that changes meanwhile then counts as changed afterwards.
    let stamp = FileStamp::of(path)?;
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(std::fs::File::open(path)?)?;
    Ok((stamp, Digest::from_hasher(&hasher)))
}

/// A path as it enters keys: relative to the document's folder where it is in it, so that the folder may move.
pub(super) fn portable(path: &Path, folder: Option<&Path>) -> Arc<str> {
    let path = folder.and_then(|folder| path.strip_prefix(folder).ok()).unwrap_or(path);
    path.to_string_lossy().replace('\\', "/").into()
}

/// The opposite of [`portable`].
pub(super) fn local(path: &str, folder: Option<&Path>) -> PathBuf {
    folder.map_or_else(|| PathBuf::from(path), |folder| folder.join(path))
}
