//! What the evaluator is asked for, and how it is set up.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::path::OutputPath;
use crate::document::Document;

/// Why an output is wanted. What is displayed is seen to first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// Someone looks at it.
    Displayed,
    /// Someone keeps it.
    Pinned,
    /// Someone asked for it: an export, a script.
    Asked,
}

/// An output that shall be there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Wanted {
    /// The output.
    pub output: OutputPath,
    /// Why.
    pub reason: Reason,
}

/// A snapshot and what is wanted of it.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The snapshot.
    pub document: Arc<Document>,
    /// The folder that relative paths of files start at; the working directory if none.
    pub folder: Option<PathBuf>,
    /// The outputs that shall be there. All else is run only as far as they need it.
    pub wanted: Vec<Wanted>,
    /// Whether what failed is tried again although nothing changed.
    pub retry: bool,
    /// Whether every node upstream runs even if its result is there, and is compared with it.
    pub checked: bool,
}

impl Request {
    /// A request for a document without anything wanted of it.
    pub fn new(document: impl Into<Arc<Document>>) -> Self {
        Self { document: document.into(), ..Self::default() }
    }

    /// Wants an output.
    pub fn want(mut self, output: OutputPath, reason: Reason) -> Self {
        self.wanted.push(Wanted { output, reason });
        self
    }

    /// Asks for outputs.
    pub fn ask(mut self, outputs: impl IntoIterator<Item = OutputPath>) -> Self {
        self.wanted.extend(outputs.into_iter().map(|output| Wanted { output, reason: Reason::Asked }));
        self
    }

    /// Relative paths of files start at this folder.
    pub fn in_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = Some(folder.into());
        self
    }

    /// Tries again what failed.
    pub fn retry(mut self) -> Self {
        self.retry = true;
        self
    }

    /// Checks that nodes are pure; see [`Request::checked`].
    pub fn checked(mut self) -> Self {
        self.checked = true;
        self
    }
}

/// How an evaluator is set up.
#[derive(Clone, Debug)]
pub struct Options {
    /// How many nodes run side by side. Results do not depend on it.
    pub workers: NonZeroUsize,
    /// Bytes of results kept in memory.
    pub budget: usize,
    /// The disk tier, if results shall outlive the program.
    pub disk: Option<DiskOptions>,
}

impl Default for Options {
    /// A worker per core, 2 GiB of memory, nothing on disk.
    fn default() -> Self {
        let workers = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        Self { workers, budget: 2 << 30, disk: None }
    }
}

/// How the disk tier is set up.
#[derive(Clone, Debug)]
pub struct DiskOptions {
    /// Its folder. Made if it is not there.
    pub folder: PathBuf,
    /// Most bytes that it takes.
    pub quota: u64,
    /// Results that took less time than this are not worth their place.
    pub least: Duration,
}

impl DiskOptions {
    /// A folder of up to 4 GiB for results that took 2 ms or more.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), quota: 4 << 30, least: Duration::from_millis(2) }
    }
}
