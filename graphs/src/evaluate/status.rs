//! What the evaluator tells: events as they happen, a status per node, and the outcome of a blocking evaluation.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use imbl::OrdMap;
use serde::{Deserialize, Serialize};

use super::checked::Impurity;
use super::explain::Explained;
use super::path::{NodePath, OutputPath};
use crate::cx::{Cx, Warning};
use crate::error::NodeError;
use crate::value::{Digest, Value};

/// Counts the snapshots that were submitted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Generation(pub u64);

/// Where a node stands.
#[derive(Clone, Debug, PartialEq)]
pub enum NodeState {
    /// Nobody needs its result, and it is not there.
    Idle,
    /// It is wanted and waits for its inputs or for a free worker.
    Queued,
    /// A worker has it.
    Running,
    /// Its result is there.
    Done,
    /// It failed.
    Failed(Arc<NodeError>),
    /// It cannot run, because this node upstream failed.
    Blocked(NodePath),
}

impl NodeState {
    /// Whether nothing more happens to it in this generation.
    pub fn is_settled(&self) -> bool {
        matches!(self, Self::Done | Self::Failed(_) | Self::Blocked(_))
    }
}

impl fmt::Display for NodeState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Idle => f.write_str("idle"),
            Self::Queued => f.write_str("queued"),
            Self::Running => f.write_str("running"),
            Self::Done => f.write_str("done"),
            Self::Failed(error) => write!(f, "failed: {error}"),
            Self::Blocked(by) => write!(f, "blocked by {by}"),
        }
    }
}

/// All that is known of a node.
#[derive(Clone, Debug)]
pub struct NodeStatus {
    /// Where it stands.
    pub state: NodeState,
    /// Its recipe key, once known.
    pub key: Option<Digest>,
    /// How it came by its result, why, in what time and how many bytes.
    pub explanation: Option<Arc<Explained>>,
    /// The generation that the explanation is from.
    pub explained: Generation,
    /// What it noticed. Comes with a cached result too.
    pub warnings: Vec<Warning>,
    pub(super) running: Option<Cx>,
}

impl NodeStatus {
    /// How much of its run is done, 0 to 1, as of this moment; `None` unless it runs.
    pub fn progress(&self) -> Option<f32> {
        self.running.as_ref().map(Cx::fraction)
    }

    /// The error of a failed node.
    pub fn error(&self) -> Option<&NodeError> {
        match &self.state {
            NodeState::Failed(error) => Some(error),
            _ => None,
        }
    }
}

/// How full the caches are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Meter {
    /// Results in memory.
    pub entries: usize,
    /// Their bytes; what they share counts once.
    pub bytes: usize,
    /// Of those, the bytes that cannot be evicted now, because they are wanted or about to be used.
    pub held_bytes: usize,
    /// The budget in bytes.
    pub budget: usize,
    /// Results evicted so far.
    pub evicted: u64,
    /// Bytes in the disk tier.
    pub disk_bytes: u64,
}

/// What wanted outputs came to.
pub type Outputs = OrdMap<OutputPath, Result<Value, Unavailable>>;

/// A snapshot of the whole evaluation: cheap to take, never changes, at most a moment old.
#[derive(Clone, Debug, Default)]
pub struct Status {
    /// The snapshot that it is about.
    pub generation: Generation,
    /// Whether all that is wanted is settled.
    pub finished: bool,
    /// The nodes by path, groups opened up. Group nodes themselves are not in it; see [`Status::within`].
    pub nodes: OrdMap<NodePath, Arc<NodeStatus>>,
    /// What is wanted and settled.
    pub outputs: Outputs,
    /// How full the caches are.
    pub meter: Meter,
}

impl Status {
    /// The status of a node.
    pub fn node(&self, path: &NodePath) -> Option<&NodeStatus> {
        self.nodes.get(path).map(|status| &**status)
    }

    /// The nodes of a group.
    pub fn within<'a>(&'a self, group: &'a NodePath) -> impl Iterator<Item = (&'a NodePath, &'a NodeStatus)> {
        self.nodes
            .range(group.clone()..)
            .take_while(|(path, _)| path.is_within(group))
            .map(|(path, status)| (path, &**status))
    }
}

/// Why a wanted output has no value.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Unavailable {
    /// There is no such output.
    #[error("{0}")]
    Unknown(NodeError),
    /// Its node failed.
    #[error("{node} failed: {error}")]
    Failed {
        /// The node.
        node: NodePath,
        /// Its error.
        error: Arc<NodeError>,
    },
    /// A node upstream failed.
    #[error("{node} is blocked by {by}, which failed: {error}")]
    Blocked {
        /// The node of the output.
        node: NodePath,
        /// The node upstream.
        by: NodePath,
        /// Its error.
        error: Arc<NodeError>,
    },
    /// A newer snapshot came, or the evaluator was closed, before it was settled.
    #[error("a newer snapshot came before it was settled")]
    Superseded,
}

/// Something that happened.
#[derive(Clone, Debug)]
pub enum Event {
    /// A node is wanted and waits.
    Queued(Generation, NodePath),
    /// A worker took it.
    Running(Generation, NodePath),
    /// It got on, 0 to 1. A few times a second at most.
    Progress(Generation, NodePath, f32),
    /// Its result is there.
    Done(Generation, NodePath),
    /// It failed.
    Failed(Generation, NodePath, Arc<NodeError>),
    /// It cannot run, because the second node failed.
    Blocked(Generation, NodePath, NodePath),
    /// Its run was cancelled, because nobody wants it any more.
    Cancelled(Generation, NodePath),
    /// All that is wanted is settled.
    Finished(Generation),
}

/// What a blocking evaluation came to.
#[derive(Clone, Debug)]
pub struct Evaluation {
    /// The snapshot.
    pub generation: Generation,
    /// The wanted outputs.
    pub outputs: BTreeMap<OutputPath, Result<Value, Unavailable>>,
    /// The nodes that took part.
    pub nodes: BTreeMap<NodePath, NodeStatus>,
    /// In checked mode: nodes that gave something else for the same inputs.
    pub impure: Vec<Impurity>,
    /// How full the caches are.
    pub meter: Meter,
}

impl Evaluation {
    /// The value of an output.
    pub fn value(&self, output: &OutputPath) -> Result<&Value, Unavailable> {
        match self.outputs.get(output) {
            Some(Ok(value)) => Ok(value),
            Some(Err(why)) => Err(why.clone()),
            None => Err(Unavailable::Unknown(NodeError::new(format!("{output} was not asked for")))),
        }
    }

    /// The nodes that ran for it, rather than being found in memory, on disk, or muted.
    pub fn ran(&self) -> Vec<&NodePath> {
        let ran = self.nodes.iter().filter(|(_, status)| {
            status.explained == self.generation
                && status.explanation.as_ref().is_some_and(|why| why.outcome() == super::Outcome::Ran)
        });
        ran.map(|(path, _)| path).collect()
    }

    /// Whether every wanted output has a value and no node is impure.
    pub fn is_success(&self) -> bool {
        self.impure.is_empty() && self.outputs.values().all(Result::is_ok)
    }
}
