//! The disk tier: results that outlive the program, by recipe key, in one folder under a quota.
//!
//! Workers read entries; one thread of its own writes them, so that no result waits for the disk, and evicts what was
//! not used longest *before* it writes. A file appears whole or not at all (temporary file, then rename), and is
//! believed only if its checksum is right: anything else is logged, deleted and taken for a miss. One program at a
//! time writes to a folder; another one that opens it meanwhile only reads.

pub(super) mod codec;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime};

use crossbeam_channel::{Receiver, Sender, TrySendError};

use super::keys::FileList;
use super::request::DiskOptions;
use super::results::Results;
use crate::cx::Warning;
use crate::registry::Registry;
use crate::value::{Digest, Value};

/// Results that wait to be written; what comes while so many do is not written.
const QUEUE: usize = 64;

/// Per recipe: files that it read.
pub(super) type Records = Vec<(Digest, FileList)>;

enum Order {
    Store { key: Digest, values: Vec<Value>, warnings: Vec<Warning>, nanos: u64 },
    Record { base: Digest, files: FileList },
}

/// What a folder held when it was opened.
#[derive(Default)]
struct Index {
    entries: BTreeSet<Digest>,
    records: Records,
    /// By time of last use: name and bytes.
    used: BTreeMap<(SystemTime, PathBuf), u64>,
    bytes: u64,
}

/// The reading half: shared by the workers.
pub(super) struct DiskReader {
    folder: PathBuf,
    registry: Arc<Registry>,
}

/// The scheduling thread's half: knows what there is and orders what to write. Blocks only in [`DiskWriter::close`].
pub(super) struct DiskWriter {
    present: BTreeSet<Digest>,
    orders: Sender<Order>,
    stored: Receiver<Stored>,
    thread: JoinHandle<()>,
    bytes: Arc<AtomicU64>,
    least: Duration,
}

/// What the writing thread did.
enum Stored {
    Added(Digest),
    Evicted(Digest),
}

/// Opens a folder: the two halves, and the records of files that recipes read.
pub(super) fn open(
    options: &DiskOptions,
    registry: Arc<Registry>,
) -> std::io::Result<(DiskReader, DiskWriter, Records)> {
    let order = if cfg!(target_endian = "little") { "le" } else { "be" };
    let folder = options.folder.join(format!("v{}-{order}", codec::VERSION));
    std::fs::create_dir_all(&folder)?;
    let lock = File::create(folder.join("lock"))?;
    let writes = lock.try_lock().is_ok();
    if !writes {
        tracing::info!("another program writes to {}: results are read but not added", folder.display());
    }
    let Index { entries, records, used, bytes: total } = index(&folder);
    let bytes = Arc::new(AtomicU64::new(total));
    let (orders, to_do) = crossbeam_channel::bounded(QUEUE);
    let (done, stored) = crossbeam_channel::unbounded();
    let writer = Writer {
        folder: folder.clone(),
        quota: options.quota,
        used,
        bytes: Arc::clone(&bytes),
        done,
        lock: writes.then_some(lock),
    };
    let thread = std::thread::Builder::new().name("sinew disk".into()).spawn(move || writer.run(&to_do))?;
    let writer = DiskWriter { present: entries, orders, stored, thread, bytes, least: options.least };
    Ok((DiskReader { folder, registry }, writer, records))
}

fn entry_name(key: Digest) -> String {
    format!("{key}.result")
}

fn index(folder: &Path) -> Index {
    let mut index = Index::default();
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    for file in files {
        let (path, name) = (file.path(), file.file_name());
        let name = name.to_string_lossy();
        let Ok(meta) = file.metadata() else { continue };
        match name.split_once('.') {
            Some((key, "result")) if key.len() == 32 => index.entries.extend(parse(key)),
            Some((key, "files")) if key.len() == 32 + 33 => match record(&path) {
                Ok(record) => index.records.push(record),
                Err(reason) => {
                    discard(&path, &reason);
                    continue;
                }
            },
            _ => continue,
        }
        index.bytes += meta.len();
        index.used.insert((meta.modified().unwrap_or(SystemTime::UNIX_EPOCH), path), meta.len());
    }
    // The order of a folder's listing is nobody's promise.
    index.records.sort();
    index
}

fn parse(hex: &str) -> Option<Digest> {
    let mut digest = [0; 16];
    for (k, byte) in digest.iter_mut().enumerate() {
        *byte = u8::from_str_radix(hex.get(2 * k..2 * k + 2)?, 16).ok()?;
    }
    Some(Digest(digest))
}

fn record(path: &Path) -> Result<(Digest, FileList), String> {
    let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
    let mut from = codec::Reader(codec::unseal(&bytes)?);
    let digest = |from: &mut codec::Reader| -> Result<Digest, String> {
        Ok(Digest(from.take(16)?.try_into().map_err(|_| "it ends early")?))
    };
    let base = digest(&mut from)?;
    let mut files = Vec::new();
    for _ in 0..from.number()? {
        let path: Arc<str> = from.text()?.into();
        let content = if from.take(1)?[0] != 0 { Some(digest(&mut from)?) } else { None };
        files.push((path, content));
    }
    Ok((base, files.into()))
}

fn discard(path: &Path, reason: &str) {
    tracing::warn!("{} is taken for a miss and deleted: {reason}", path.display());
    // If it cannot be deleted it stays a miss.
    let _ = std::fs::remove_file(path);
}

impl DiskReader {
    /// Reads a result; `None` if it is not there or not whole.
    pub fn load(&self, key: Digest) -> Option<(Vec<Value>, Vec<Warning>, u64)> {
        let path = self.folder.join(entry_name(key));
        let bytes = std::fs::read(&path).ok()?;
        match codec::read(&bytes, &self.registry) {
            Ok(stored) => {
                // The time of last use; if it cannot be set, the entry goes a little early.
                let _ = File::options().append(true).open(&path).and_then(|file| file.set_modified(SystemTime::now()));
                Some((stored.values, stored.warnings, stored.nanos))
            }
            Err(reason) => {
                discard(&path, &reason);
                None
            }
        }
    }
}

impl DiskWriter {
    /// Whether a result should be there.
    pub fn contains(&self, key: Digest) -> bool {
        self.present.contains(&key)
    }

    /// Bytes in the folder.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Takes in what the writing thread did.
    pub fn follow(&mut self) {
        for stored in self.stored.try_iter() {
            match stored {
                Stored::Added(key) => self.present.insert(key),
                Stored::Evicted(key) => self.present.remove(&key),
            };
        }
    }

    /// A result is not there after all.
    pub fn lost(&mut self, key: Digest) {
        self.present.remove(&key);
    }

    /// Orders a result to be written, if it is worth it and the disk keeps up.
    pub fn store(&self, key: Digest, results: &Results) {
        if Duration::from_nanos(results.nanos) < self.least || self.present.contains(&key) {
            return;
        }
        let (values, warnings) = (results.values.clone(), results.warnings.clone());
        let order = Order::Store { key, values, warnings, nanos: results.nanos };
        if let Err(TrySendError::Full(_)) = self.orders.try_send(order) {
            tracing::debug!("the disk does not keep up: {key} is not written");
        }
    }

    /// Orders a record of files to be written.
    pub fn store_record(&self, base: Digest, files: &FileList) {
        // A record that is not written is a miss in the next session, no more.
        let _ = self.orders.try_send(Order::Record { base, files: Arc::clone(files) });
    }

    /// Waits until all that was ordered is written.
    pub fn close(self) {
        drop(self.orders);
        if self.thread.join().is_err() {
            tracing::error!("the disk tier's thread panicked: please report this");
        }
    }
}

struct Writer {
    folder: PathBuf,
    quota: u64,
    used: BTreeMap<(SystemTime, PathBuf), u64>,
    bytes: Arc<AtomicU64>,
    done: Sender<Stored>,
    /// Held as long as this program writes to the folder; `None` if another one does.
    lock: Option<File>,
}

impl Writer {
    fn run(mut self, orders: &Receiver<Order>) {
        for order in orders {
            if self.lock.is_none() {
                continue;
            }
            let (name, bytes, key) = match order {
                Order::Store { key, values, warnings, nanos } => {
                    (entry_name(key), codec::write(&values, &warnings, nanos), Some(key))
                }
                Order::Record { base, files } => {
                    let effective = super::keys::with_files(base, &files);
                    (format!("{base}-{effective}.files"), write_record(base, &files), None)
                }
            };
            match self.put(&name, &bytes) {
                Ok(true) => key.into_iter().for_each(|key| self.tell(Stored::Added(key))),
                Ok(false) => {}
                Err(error) => tracing::warn!("{name} could not be written to the disk tier: {error}"),
            }
        }
    }

    fn tell(&self, stored: Stored) {
        // The scheduling thread may be gone already.
        let _ = self.done.send(stored);
    }

    /// Writes a file if the quota lets it; room is made first.
    fn put(&mut self, name: &str, bytes: &[u8]) -> std::io::Result<bool> {
        let path = self.folder.join(name);
        let size = bytes.len() as u64;
        if size > self.quota || path.exists() {
            return Ok(false);
        }
        while self.bytes.load(Ordering::Relaxed) + size > self.quota {
            if !self.evict() {
                return Ok(false);
            }
        }
        let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
        file.write_all(bytes)?;
        file.persist(&path).map_err(|error| error.error)?;
        self.bytes.fetch_add(size, Ordering::Relaxed);
        self.used.insert((SystemTime::now(), path), size);
        Ok(true)
    }

    /// Deletes the file not used longest.
    fn evict(&mut self) -> bool {
        while let Some(((seen, path), size)) = self.used.pop_first() {
            // Reading moves the time on.
            match std::fs::metadata(&path).and_then(|meta| meta.modified()) {
                Ok(now) if now > seen && !self.used.contains_key(&(now, path.clone())) => {
                    self.used.insert((now, path), size);
                    continue;
                }
                _ => {}
            }
            if let Err(error) = std::fs::remove_file(&path)
                && error.kind() != std::io::ErrorKind::NotFound
            {
                tracing::warn!("{} could not be deleted: {error}", path.display());
                continue;
            }
            self.bytes.fetch_sub(size, Ordering::Relaxed);
            let result = path.extension().is_some_and(|extension| extension == "result");
            if let Some(key) = path.file_stem().filter(|_| result).and_then(|stem| parse(&stem.to_string_lossy())) {
                self.tell(Stored::Evicted(key));
            }
            return true;
        }
        false
    }
}

fn write_record(base: Digest, files: &FileList) -> Vec<u8> {
    let mut bytes = base.0.to_vec();
    bytes.extend_from_slice(&(files.len() as u64).to_le_bytes());
    for (path, content) in files.iter() {
        codec::text(&mut bytes, path);
        bytes.push(u8::from(content.is_some()));
        bytes.extend_from_slice(&content.map_or([0; 16], |digest| digest.0)[..if content.is_some() { 16 } else { 0 }]);
    }
    codec::seal(bytes)
}
