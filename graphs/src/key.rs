//! Recipe keys: what a result was made from, as 128 bits of BLAKE3.
//!
//! A key is the same across runs, threads and machines, because every part is written in one canonical form: lengths
//! before content, little-endian numbers, floats by their bits with one zero and no NaN. `Hash` promises none of that.

use crate::basic::Curve;
use crate::ids::{KnobId, NodeTypeId, SocketId};
use crate::knob::KnobValue;
use crate::value::Digest;

/// Something that takes part in a recipe key.
pub trait CacheKey {
    /// Writes its canonical form.
    fn cache_key(&self, key: &mut KeyWriter);
}

/// Takes the parts of a key and digests them.
#[derive(Debug, Default)]
pub struct KeyWriter {
    bytes: Vec<u8>,
    nan: bool,
}

/// A part of a key is not a number, so that it equals nothing, itself included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a value is not a number (NaN): set it to a number")]
pub struct NotANumber;

impl KeyWriter {
    /// An empty key of one kind; keys of different kinds never meet.
    pub fn new(kind: &str) -> Self {
        let mut key = Self::default();
        key.add(kind);
        key
    }

    /// Writes a part.
    pub fn add<T: CacheKey + ?Sized>(&mut self, part: &T) {
        part.cache_key(self);
    }

    /// The key; refused if a part was NaN.
    pub fn finish(self) -> Result<Digest, NotANumber> {
        if self.nan { Err(NotANumber) } else { Ok(digest(&self.bytes)) }
    }
}

/// The digest of a short text: without the set-up of a hasher that could take long ones.
pub(crate) fn digest(bytes: &[u8]) -> Digest {
    let mut out = [0; 16];
    out.copy_from_slice(&blake3::hash(bytes).as_bytes()[..16]);
    Digest(out)
}

macro_rules! number {
    ($($t:ty),*) => {$(
        impl CacheKey for $t {
            fn cache_key(&self, key: &mut KeyWriter) {
                key.bytes.extend_from_slice(&self.to_le_bytes());
            }
        }
    )*};
}
number!(u8, u32, u64, i64);

impl CacheKey for bool {
    fn cache_key(&self, key: &mut KeyWriter) {
        key.bytes.push(u8::from(*self));
    }
}

impl CacheKey for f64 {
    fn cache_key(&self, key: &mut KeyWriter) {
        key.nan |= self.is_nan();
        // Adding zero makes -0 into 0 and changes nothing else.
        key.bytes.extend_from_slice(&(self + 0.0).to_bits().to_le_bytes());
    }
}

impl CacheKey for str {
    fn cache_key(&self, key: &mut KeyWriter) {
        key.add(&(self.len() as u64));
        key.bytes.extend_from_slice(self.as_bytes());
    }
}

impl<T: CacheKey> CacheKey for [T] {
    fn cache_key(&self, key: &mut KeyWriter) {
        key.add(&(self.len() as u64));
        self.iter().for_each(|part| key.add(part));
    }
}

impl<T: CacheKey> CacheKey for Option<T> {
    fn cache_key(&self, key: &mut KeyWriter) {
        key.add(&self.is_some());
        if let Some(part) = self {
            key.add(part);
        }
    }
}

impl CacheKey for Digest {
    fn cache_key(&self, key: &mut KeyWriter) {
        key.bytes.extend_from_slice(&self.0);
    }
}

macro_rules! text_id {
    ($($t:ty),*) => {$(
        impl CacheKey for $t {
            fn cache_key(&self, key: &mut KeyWriter) {
                key.add(self.as_str());
            }
        }
    )*};
}
text_id!(NodeTypeId, SocketId, KnobId);

impl CacheKey for Curve {
    fn cache_key(&self, key: &mut KeyWriter) {
        key.add(&(self.keys.len() as u64));
        for point in &self.keys {
            [point.at, point.value, point.slope].iter().for_each(|part| key.add(part));
        }
    }
}

impl CacheKey for KnobValue {
    fn cache_key(&self, key: &mut KeyWriter) {
        match self {
            Self::Toggle(v) => (key.add(&0u8), key.add(v)),
            Self::Integer(v) => (key.add(&1u8), key.add(v)),
            Self::Number(v) => (key.add(&2u8), key.add(v)),
            Self::Text(v) => (key.add(&3u8), key.add(&**v)),
            Self::Choice(v) => (key.add(&4u8), key.add(&**v)),
            Self::File(v) => (key.add(&5u8), key.add(&**v)),
            Self::Vector(v) => (key.add(&6u8), key.add(&v[..])),
            Self::Colour(v) => (key.add(&7u8), key.add(&v[..])),
            Self::Curve(v) => (key.add(&8u8), key.add(v)),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key<T: CacheKey + ?Sized>(part: &T) -> Result<Digest, NotANumber> {
        let mut key = KeyWriter::new("test");
        key.add(part);
        key.finish()
    }

    #[test]
    fn a_key_is_the_same_on_every_machine() {
        // BLAKE3 of 04 00 00 00 00 00 00 00 "test" 02 00 00 00 00 00 00 f8 3f, worked out outside of this program.
        let number = key(&KnobValue::Number(1.5)).map(|digest| digest.to_string());
        assert_eq!(number, Ok("749776fc83300c9c0d3d191d8d0aec8a".to_owned()));
    }

    #[test]
    fn zero_has_one_key_and_nan_has_none() {
        assert_eq!(key(&0.0), key(&-0.0));
        assert_eq!(key(&KnobValue::Vector([0.0, f64::NAN, 1.0])), Err(NotANumber));
    }

    #[test]
    fn values_of_different_kinds_have_different_keys() {
        let values = [
            KnobValue::Text("1".into()),
            KnobValue::Choice("1".into()),
            KnobValue::File("1".into()),
            KnobValue::Integer(1),
            KnobValue::Number(1.0),
            KnobValue::Toggle(true),
        ];
        let mut keys: Vec<Digest> = values.iter().map(|value| key(value).unwrap()).collect();
        keys.sort();
        keys.dedup();
        assert_eq!(keys.len(), values.len());
        assert_ne!(key(&["ab", "c"].map(SocketId::from)[..]), key(&["a", "bc"].map(SocketId::from)[..]));
    }
}
