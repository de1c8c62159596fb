//! Keys of the nodes of a plan: only those are worked out anew whose parts changed, in topological order.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::Arc;

use super::cache::{Place, Record};
use super::define::Work;
use super::engine::{Engine, Outs};
use super::files::local;
use super::plan::Slot;
use crate::key::{KeyWriter, digest};
use crate::value::Digest;

/// How many states of the same files are remembered per recipe.
const MOST_RECORDS: usize = 16;

/// Files by path with what is in them.
pub(super) type FileList = Arc<[(Arc<str>, Option<Digest>)]>;

impl Outs {
    /// How an output enters the keys of others.
    pub fn link(&self, output: u32) -> Option<Digest> {
        match self {
            Self::Unknown => None,
            Self::Key(key, false) => Some(*key),
            Self::Key(key, true) => {
                let mut bytes = [0; 20];
                bytes[..16].copy_from_slice(&key.0);
                bytes[16..].copy_from_slice(&output.to_le_bytes());
                Some(digest(&bytes))
            }
            Self::Content(digests) => digests.get(output as usize).copied(),
            Self::Passed(links) => links.get(output as usize).copied().flatten(),
        }
    }
}

/// Files in the order of their paths, each once.
pub(super) fn sorted_files(files: impl Iterator<Item = (Arc<str>, Option<Digest>)>) -> FileList {
    files.collect::<BTreeMap<_, _>>().into_iter().collect()
}

/// The key of a recipe together with the files that it read.
pub(super) fn with_files(base: Digest, files: &FileList) -> Digest {
    let mut key = KeyWriter::new("files");
    key.add(&base);
    for (path, content) in files.iter() {
        key.add(&**path);
        key.add(content);
    }
    // Paths and digests hold no floats.
    key.finish().unwrap_or(base)
}

impl Engine {
    /// Works out the keys of these nodes and of all downstream whose parts changed. Gives those with another key or
    /// other outputs, in topological order.
    pub fn rekey(&mut self, dirty: impl IntoIterator<Item = Slot>) -> Vec<Slot> {
        let mut heap = BinaryHeap::new();
        for slot in dirty {
            if let Some(position) = self.plan.position(slot) {
                heap.push(Reverse((position, slot)));
            }
        }
        let mut changed = Vec::new();
        let mut before = None;
        while let Some(Reverse((_, slot))) = heap.pop() {
            // Parallel wires and several changed inputs push a node more than once.
            if before.replace(slot) == Some(slot) {
                continue;
            }
            let (key, outs) = self.key_one(slot);
            if key || outs {
                changed.push(slot);
            }
            if outs {
                for consumer in self.plan.consumers(slot) {
                    if let Some(position) = self.plan.position(consumer) {
                        heap.push(Reverse((position, consumer)));
                    }
                }
            }
        }
        changed
    }

    /// Works out a node's key; whether it changed, and whether its outputs did.
    pub fn key_one(&mut self, slot: Slot) -> (bool, bool) {
        let Some(planned) = self.plan.get(slot) else { return (false, false) };
        let live = &mut self.live[slot as usize];
        let (old_base, old_key) = (live.base, live.key);
        let (mut base, mut key, mut outs) = (None, None, Outs::Unknown);
        let mut links = std::mem::take(&mut live.links);
        links.clear();
        let mut files: Option<FileList> = None;
        match &planned.work {
            Work::Broken(_) => {}
            Work::Pass(passes) => {
                let link = |feed: Option<u32>| {
                    let feed = planned.feeds.get(feed? as usize)?;
                    self.live[feed.slot as usize].outs.link(feed.output)
                };
                outs = Outs::Passed(passes.iter().map(|&feed| link(feed)).collect());
            }
            Work::Run(recipe) => {
                for feed in &planned.feeds {
                    let Some(link) = self.live[feed.slot as usize].outs.link(feed.output) else { break };
                    links.push(link);
                }
                if links.len() == planned.feeds.len() {
                    self.bytes.clear();
                    self.bytes.extend_from_slice(&recipe.fixed.0);
                    links.iter().for_each(|link| self.bytes.extend_from_slice(&link.0));
                    let recipe_place = self.cache.join(digest(&self.bytes));
                    base = Some(recipe_place);
                    key = Some(recipe_place);
                    let records = self.cache.records(recipe_place);
                    if !records.is_empty() {
                        self.file_slots.insert(slot);
                        let folder = self.plan.folder();
                        let mut unknown = false;
                        let effective = records.iter().rev().find_map(|record| {
                            let fits = record.files.iter().all(|(path, content)| {
                                match self.files.digest(&local(path, folder), self.generation.0) {
                                    Some(found) => found == *content,
                                    None => {
                                        unknown = true;
                                        false
                                    }
                                }
                            });
                            fits.then(|| {
                                files = Some(Arc::clone(&record.files));
                                record.effective
                            })
                        });
                        key = match effective {
                            Some(effective) => Some(self.cache.join(effective)),
                            None if unknown => {
                                self.file_waits.insert(slot);
                                None
                            }
                            // It has never read what is there now: its key is known once it has.
                            None => Some(recipe_place),
                        };
                    }
                    let node_type = &recipe.node_type;
                    outs = match key {
                        Some(key) if node_type.cut_off => {
                            self.cache.contents(key).map_or(Outs::Unknown, |c| Outs::Content(Arc::clone(c)))
                        }
                        Some(key) => Outs::Key(self.cache.key(key), node_type.outputs.len() > 1),
                        None => Outs::Unknown,
                    };
                }
            }
        }
        let live = &mut self.live[slot as usize];
        // The same key has the same place, because it is joined anew before it is left.
        let changed = (old_key != key || old_base != base, live.outs != outs);
        live.links = links;
        live.files = files;
        (live.base, live.key, live.outs) = (base, key, outs);
        self.leave(old_base, old_key);
        changed
    }

    /// Gives up what a node had as its keys.
    pub fn leave(&mut self, base: Option<Place>, key: Option<Place>) {
        base.into_iter().for_each(|base| self.cache.leave(base));
        // With nothing read from files they are one and the same, joined once.
        key.filter(|key| Some(*key) != base).into_iter().for_each(|key| self.cache.leave(key));
    }

    /// Remembers which files a recipe read, and gives the key of its result with them.
    pub fn record(&mut self, base: Digest, files: FileList) -> Digest {
        let effective = with_files(base, &files);
        if let Some(disk) = &self.disk {
            disk.store_record(base, &files);
        }
        self.remember(base, files, effective);
        effective
    }

    /// Takes in a record, made now or read from the disk tier.
    pub fn remember(&mut self, base: Digest, files: FileList, effective: Digest) {
        self.cache.add_record(base, Record { files, effective }, MOST_RECORDS);
    }

    /// Whether a file that a node read last is not as it was.
    pub fn files_changed(&mut self, slot: Slot) -> bool {
        let folder = self.plan.folder();
        self.live[slot as usize].files.as_ref().is_none_or(|files| {
            let (known, now) = (&mut self.files, self.generation.0);
            files.iter().any(|(path, digest)| known.digest(&local(path, folder), now) != Some(*digest))
        })
    }
}
