//! Maps of a file. A key that is there twice is an error, never "the last one wins": that is how a bad merge shows.

use std::collections::BTreeSet;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};

use crate::document::names::{check_id, check_node_id};
use crate::ids::{FrameId, GraphId, KnobId, NodeId, NodeTypeId, SocketId};

/// A key of a map in a file.
pub(super) trait Key: Clone + Ord + fmt::Debug {
    /// What it names, in an error.
    const WHAT: &'static str;

    /// Why it cannot be one.
    fn check(&self) -> Result<(), String>;
}

macro_rules! key {
    ($($id:ty, $what:literal, $check:path);* $(;)?) => {$(
        impl Key for $id {
            const WHAT: &'static str = $what;

            fn check(&self) -> Result<(), String> {
                $check(self.as_str())
            }
        }
    )*};
}
key! {
    NodeId, "node", check_node_id;
    GraphId, "graph", check_id;
    FrameId, "frame", check_id;
    SocketId, "socket", check_id;
    KnobId, "knob", check_id;
    NodeTypeId, "node type", check_id;
}

/// The entries of a map in the order of the file.
#[derive(Debug)]
pub(super) struct Entries<K, V>(pub Vec<(K, V)>);

impl<K, V> Default for Entries<K, V> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, K: Key + Deserialize<'de>, V: Deserialize<'de>> Deserialize<'de> for Entries<K, V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(EntriesVisitor(PhantomData))
    }
}

struct EntriesVisitor<K, V>(PhantomData<(K, V)>);

impl<'de, K: Key + Deserialize<'de>, V: Deserialize<'de>> Visitor<'de> for EntriesVisitor<K, V> {
    type Value = Entries<K, V>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a map by {} id", K::WHAT)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut seen = BTreeSet::new();
        let mut entries = Vec::new();
        while let Some(key) = map.next_key::<K>()? {
            key.check().map_err(A::Error::custom)?;
            if !seen.insert(key.clone()) {
                let what = K::WHAT;
                return Err(A::Error::custom(format!("the {what} {key:?} is there twice: rename or remove one")));
            }
            entries.push((key, map.next_value()?));
        }
        Ok(Entries(entries))
    }
}
