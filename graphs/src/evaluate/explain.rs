//! Why a node ran, or did not: as data and in words.

use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use serde::{Deserialize, Serialize, Serializer};

use smallvec::SmallVec;

use super::define::Recipe;
use super::keys::FileList;
use super::path::NodePath;
use crate::ids::{KnobId, NodeTypeId, SocketId};
use crate::knob::KnobValue;
use crate::value::Digest;

/// How a node came by its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It ran.
    Ran,
    /// Its result was in memory.
    Memory,
    /// Its result was on disk.
    Disk,
    /// It is muted and passes an input through.
    Passed,
}

/// One thing that is not as it was when the node's last result was made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// It has no result yet in this session.
    First,
    /// It is of another type or revision.
    Type {
        /// What it was: type and revision.
        from: (NodeTypeId, u32),
        /// What it is.
        to: (NodeTypeId, u32),
    },
    /// A knob holds another value.
    Knob {
        /// The knob.
        knob: KnobId,
        /// What it held.
        from: String,
        /// What it holds.
        to: String,
    },
    /// A knob's wire brings something else.
    Driven {
        /// The knob.
        knob: KnobId,
        /// The node that the wire comes from.
        by: NodePath,
    },
    /// An input brings something else.
    Input {
        /// The input.
        input: SocketId,
        /// The node that the wire comes from.
        by: NodePath,
    },
    /// An input has wires that it had not, or has lost some; or a knob is driven that was not, or no longer.
    Wires {
        /// The input or knob.
        socket: SocketId,
    },
    /// A file that it reads has other content, is new, or is gone.
    File {
        /// The file.
        path: String,
    },
    /// Nothing changed, but its result had to make room for others.
    Evicted,
    /// Nothing changed, but it failed before and was asked to try again.
    Retried,
    /// Nothing changed; it ran to be compared with its result.
    Checked,
}

/// Why a node ran or did not, and what that cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Explanation {
    /// How it came by its result.
    pub outcome: Outcome,
    /// What changed since its last result; empty if nothing did.
    pub causes: Vec<Cause>,
    /// How long it ran: now, or when its result was made.
    pub time: Duration,
    /// Bytes of its outputs, as if they shared nothing with others.
    pub bytes: usize,
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::First => f.write_str("it has no result yet"),
            Self::Type { from, to } if from.0 == to.0 => {
                write!(f, "{} changed from revision {} to {}", to.0, from.1, to.1)
            }
            Self::Type { from, to } => write!(f, "its type changed from {} to {}", from.0, to.0),
            Self::Knob { knob, from, to } => write!(f, "knob {knob} changed from {from} to {to}"),
            Self::Driven { knob, by } => write!(f, "knob {knob} is driven by {by}, which changed"),
            Self::Input { input, by } => write!(f, "input {input} comes from {by}, which changed"),
            Self::Wires { socket } => write!(f, "the wires of {socket} changed"),
            Self::File { path } => write!(f, "file {path} changed"),
            Self::Evicted => f.write_str("its result had made room for others"),
            Self::Retried => f.write_str("it was asked to try again"),
            Self::Checked => f.write_str("it was checked"),
        }
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let outcome = match self.outcome {
            Outcome::Ran => "ran",
            Outcome::Memory => "found in memory",
            Outcome::Disk => "found on disk",
            Outcome::Passed => return f.write_str("passed its input through, because it is muted"),
        };
        f.write_str(outcome)?;
        if self.causes.is_empty() {
            return f.write_str(": nothing changed");
        }
        if self.outcome != Outcome::Ran && self.causes == [Cause::First] {
            return f.write_str(": made earlier");
        }
        f.write_str(if self.outcome == Outcome::Ran { " because " } else { ", although " })?;
        for (k, cause) in self.causes.iter().enumerate() {
            if k > 0 {
                f.write_str(" and ")?;
            }
            cause.fmt(f)?;
        }
        Ok(())
    }
}

/// An [`Explanation`] that is put into words only when someone reads it: most never are.
#[derive(Clone, Debug)]
pub struct Explained {
    pub(super) outcome: Outcome,
    pub(super) ground: Ground,
    pub(super) nanos: u64,
    pub(super) bytes: usize,
    /// What the result before this one was made of, and this one.
    pub(super) old: Option<Components>,
    pub(super) new: Option<Components>,
    pub(super) told: OnceLock<Box<Explanation>>,
}

/// Why a node came by another result, as far as known without comparing what it is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ground {
    Nothing,
    First,
    Evicted,
    Retried,
    Checked,
    /// What has changed tells.
    Changed,
}

impl Explained {
    /// How it came by its result, without working out why.
    pub fn outcome(&self) -> Outcome {
        self.outcome
    }
}

impl Deref for Explained {
    type Target = Explanation;

    fn deref(&self) -> &Explanation {
        self.told.get_or_init(|| {
            let causes = match self.ground {
                Ground::Nothing => Vec::new(),
                Ground::First => vec![Cause::First],
                Ground::Evicted => vec![Cause::Evicted],
                Ground::Retried => vec![Cause::Retried],
                Ground::Checked => vec![Cause::Checked],
                Ground::Changed => match (&self.old, &self.new) {
                    (Some(old), Some(new)) => causes(old, new),
                    _ => Vec::new(),
                },
            };
            let time = Duration::from_nanos(self.nanos);
            Box::new(Explanation { outcome: self.outcome, causes, time, bytes: self.bytes })
        })
    }
}

impl fmt::Display for Explained {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl Serialize for Explained {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(to)
    }
}

/// What a node's key was made of, to compare the next one with.
#[derive(Clone, Debug)]
pub(super) struct Components {
    pub key: Digest,
    pub recipe: Arc<Recipe>,
    /// Per feed, its key.
    pub links: SmallVec<[Digest; 2]>,
    /// Per file that it read, what was in it.
    pub files: Option<FileList>,
}

/// What is different in `new`.
fn causes(old: &Components, new: &Components) -> Vec<Cause> {
    let source = |feed: usize| new.recipe.sources.get(feed).cloned().unwrap_or_else(|| NodePath::new([]));
    let mut causes = Vec::new();
    let (was, is) = (&old.recipe, &new.recipe);
    let type_of = |recipe: &Recipe| (recipe.node_type.id.clone(), recipe.node_type.revision);
    if type_of(was) != type_of(is) {
        return vec![Cause::Type { from: type_of(was), to: type_of(is) }];
    }
    let mut at = (0, 0);
    for (spec, (before, after)) in is.node_type.inputs.iter().zip(was.counts.iter().zip(&is.counts)) {
        let ranges = (at.0..at.0 + *before as usize, at.1..at.1 + *after as usize);
        at = (ranges.0.end, ranges.1.end);
        if before != after {
            causes.push(Cause::Wires { socket: spec.id.clone() });
            continue;
        }
        for (before, after) in ranges.0.zip(ranges.1) {
            if old.links.get(before) != new.links.get(after) {
                causes.push(Cause::Input { input: spec.id.clone(), by: source(after) });
            }
        }
    }
    for (k, spec) in is.node_type.knobs.iter().enumerate() {
        let driven = |recipe: &Recipe| recipe.driven.iter().position(|&knob| knob as usize == k);
        match (driven(was), driven(is)) {
            (Some(before), Some(after)) => {
                if old.links.get(at.0 + before) != new.links.get(at.1 + after) {
                    causes.push(Cause::Driven { knob: spec.id.clone(), by: source(at.1 + after) });
                }
            }
            (None, None) => {
                if let (Some(before), Some(after)) = (was.knobs.get(k), is.knobs.get(k))
                    && before != after
                {
                    causes.push(Cause::Knob { knob: spec.id.clone(), from: words(before), to: words(after) });
                }
            }
            _ => causes.push(Cause::Wires { socket: (&spec.id).into() }),
        }
    }
    for file in new.files.iter().flat_map(|files| files.iter()) {
        if !old.files.as_ref().is_some_and(|files| files.contains(file)) {
            causes.push(Cause::File { path: file.0.to_string() });
        }
    }
    causes
}

/// A knob's value as a person reads it.
pub(super) fn words(value: &KnobValue) -> String {
    let numbers = |values: &[f64]| values.iter().map(|&v| number(v)).collect::<Vec<_>>().join(" ");
    match value {
        KnobValue::Toggle(on) => if *on { "on" } else { "off" }.into(),
        KnobValue::Integer(v) => v.to_string(),
        KnobValue::Number(v) => number(*v),
        KnobValue::Text(v) => format!("{v:?}"),
        KnobValue::Choice(v) => v.to_string(),
        KnobValue::File(v) if v.is_empty() => "no file".into(),
        KnobValue::File(v) => v.to_string(),
        KnobValue::Vector(v) => numbers(v),
        KnobValue::Colour(v) => numbers(v),
        KnobValue::Curve(curve) => {
            let keys: Vec<String> = curve.keys.iter().map(|k| numbers(&[k.at, k.value, k.slope])).collect();
            format!("a curve through {}", keys.join(", "))
        }
    }
}

fn number(v: f64) -> String {
    if v != 0.0 && !(1e-4..1e7).contains(&v.abs()) { format!("{v:e}") } else { v.to_string() }
}
