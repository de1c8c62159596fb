//! What a running node may ask of its evaluator: progress, cancellation, warnings and files.
//!
//! Called from the node's own thread or threads. Nothing here blocks, apart from reading a file.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::SystemTime;

use parking_lot::Mutex;

use crate::error::{NodeError, Result};
use crate::ids::SocketId;
use crate::value::Digest;

/// Something a node noticed and mended, or that its user should know.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Warning {
    /// What was noticed, with counts and places.
    pub what: String,
    /// The socket or knob it is about.
    pub at: Option<SocketId>,
}

/// A file that a node read, as it was then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRead {
    /// Where.
    pub path: PathBuf,
    /// What was in it; `None` if it could not be read.
    pub digest: Option<Digest>,
    /// Its length and time when it was read.
    pub stamp: Option<FileStamp>,
}

/// Length and modification time: when both are the same, a file is taken to be unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileStamp {
    /// Bytes.
    pub length: u64,
    /// Last change.
    pub modified: Option<SystemTime>,
}

impl FileStamp {
    /// The stamp of a file as it is now.
    pub fn of(path: &Path) -> std::io::Result<Self> {
        let meta = std::fs::metadata(path)?;
        Ok(Self { length: meta.len(), modified: meta.modified().ok() })
    }
}

#[derive(Default)]
struct State {
    cancelled: AtomicBool,
    progress: AtomicU32,
    warnings: Mutex<Vec<Warning>>,
    reads: Mutex<Vec<FileRead>>,
}

/// The context of one run of one node. Clones share it.
#[derive(Clone, Default)]
pub struct Cx(Arc<State>);

impl fmt::Debug for Cx {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Cx({:.0} %)", self.fraction() * 100.0)
    }
}

/// The largest file a node reads whole.
const LARGEST_FILE: u64 = 2 << 30;

impl Cx {
    /// A context that nobody watches, for calling a node as plain Rust.
    pub fn detached() -> Self {
        Self::default()
    }

    /// An error once the run was cancelled. Nodes ask at least every 10 ms.
    pub fn check(&self) -> Result<()> {
        if self.is_cancelled() { Err(NodeError::cancelled()) } else { Ok(()) }
    }

    /// Whether the run was cancelled, for inner loops.
    pub fn is_cancelled(&self) -> bool {
        self.0.cancelled.load(Ordering::Relaxed)
    }

    /// Cancels the run.
    pub fn cancel(&self) {
        self.0.cancelled.store(true, Ordering::Relaxed);
    }

    /// Tells how much of the work is done, 0 to 1.
    pub fn progress(&self, fraction: f32) {
        self.0.progress.store(fraction.clamp(0.0, 1.0).to_bits(), Ordering::Relaxed);
    }

    /// How much of the work is done, 0 to 1.
    pub fn fraction(&self) -> f32 {
        f32::from_bits(self.0.progress.load(Ordering::Relaxed))
    }

    /// Tells the user of something noticed or mended. The result is kept; so is the warning, with it.
    pub fn warn(&self, what: impl Into<String>) {
        self.0.warnings.lock().push(Warning { what: what.into(), at: None });
    }

    /// Like [`Cx::warn`], naming a socket or knob.
    pub fn warn_at(&self, at: impl Into<SocketId>, what: impl Into<String>) {
        self.0.warnings.lock().push(Warning { what: what.into(), at: Some(at.into()) });
    }

    /// The warnings so far.
    pub fn warnings(&self) -> Vec<Warning> {
        self.0.warnings.lock().clone()
    }

    /// Reads a file whole and records it, so that a cached result ends when the file changes. Nodes read files in no
    /// other way.
    pub fn read(&self, path: &Path) -> Result<Vec<u8>> {
        let read = Self::read_unrecorded(path);
        let (digest, stamp) = match &read {
            Ok((bytes, stamp)) => (Some(Digest::of(bytes)), Some(*stamp)),
            Err(_) => (None, None),
        };
        self.0.reads.lock().push(FileRead { path: path.to_owned(), digest, stamp });
        read.map(|(bytes, _)| bytes)
    }

    /// The files read so far, missing ones included.
    pub fn reads(&self) -> Vec<FileRead> {
        self.0.reads.lock().clone()
    }

    /// Takes the warnings and the files read out of a context whose run is over.
    pub(crate) fn finish(&self) -> (Vec<Warning>, Vec<FileRead>) {
        (std::mem::take(&mut *self.0.warnings.lock()), std::mem::take(&mut *self.0.reads.lock()))
    }

    fn read_unrecorded(path: &Path) -> Result<(Vec<u8>, FileStamp)> {
        let fail = |error: std::io::Error| {
            NodeError::new(format!("cannot read {}: {error}", path.display()))
                .help("check the path and its permissions")
        };
        // The stamp is taken first: a file that changes while it is read then counts as changed afterwards.
        let stamp = FileStamp::of(path).map_err(fail)?;
        if stamp.length > LARGEST_FILE {
            return Err(NodeError::new(format!("{} has {} bytes", path.display(), stamp.length))
                .help("files of up to 2 GiB can be read: split it"));
        }
        let bytes = std::fs::read(path).map_err(fail)?;
        Ok((bytes, stamp))
    }
}
