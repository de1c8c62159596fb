//! Simulated chains: what a solver made of them while clips moved what they hang from.

use std::sync::Arc;

use glam::{DQuat, DVec3};
use serde::{Deserialize, Serialize};
use sinew_graph::Data;
use sinew_graph::column::{Column, ColumnError, Columns};
use sinew_graph::value::{DataType, DataTypeId};

use super::{Kind, Stance};

/// Chains in motion, one take per clip. Lengths and places are in the units of the file's world, in 64 bits.
#[derive(Clone, Debug, PartialEq)]
pub struct Motion {
    /// How the character stands.
    pub stance: Stance,
    /// The chains that were simulated.
    pub chains: Vec<MovedChain>,
    /// A take per clip, in the order of the clips.
    pub takes: Vec<Take>,
}

/// A chain of N links as it was simulated. Its directions are in *hips space*: x to the character's left, y up, z forward,
/// turning with the joint that the chain hangs from.
#[derive(Clone, Debug, PartialEq)]
pub struct MovedChain {
    /// The name of its bones, without numbers.
    pub name: Arc<str>,
    /// What it is.
    pub kind: Kind,
    /// The node of each link's joint, from the root: what a [`super::Channel`] calls a node. Empty for a 2D chain.
    pub nodes: Arc<[u32]>,
    /// Length per link.
    pub lengths: Arc<[f64]>,
    /// Direction per link in the bind pose, unit length.
    pub bind: Arc<[DVec3]>,
    /// Direction per link that its spring pulls to, unit length.
    pub rest: Arc<[DVec3]>,
}

/// What became of the chains in one clip: samples in even steps from its start to its end, both included.
#[derive(Clone, Debug, PartialEq)]
pub struct Take {
    /// The name of the clip.
    pub clip: Arc<str>,
    /// Seconds.
    pub duration: f64,
    /// Whether it was played as a loop.
    pub looped: bool,
    /// How often it was played before it was recorded.
    pub passes: u32,
    /// How far the farthest tip is at the end from where it was at the start; 0 for a clip that is no loop.
    pub gap: f64,
    /// A track per chain.
    pub tracks: Vec<Track>,
}

/// A chain over a take.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Track {
    /// Where the first joint is, per sample.
    pub roots: Arc<[DVec3]>,
    /// What turns hips space to the world, per sample: unit quaternion x, y, z, w.
    pub turns: Arc<[[f64; 4]]>,
    /// Where the far end of each link is, N per sample.
    pub points: Arc<[DVec3]>,
    /// Local rotation of each link's joint, N per sample: unit quaternions x, y, z, w whose signs run on.
    pub rotations: Arc<[[f32; 4]]>,
}

impl Take {
    /// How many samples a track has.
    pub fn samples(&self) -> usize {
        self.tracks.first().map_or(0, |track| track.roots.len())
    }

    /// Seconds from one sample to the next.
    pub fn step(&self) -> f64 {
        self.duration / self.samples().saturating_sub(1).max(1) as f64
    }
}

impl Track {
    /// The first joint and the far ends of all links at a sample, N + 1 points.
    pub fn line(&self, sample: usize) -> impl Iterator<Item = DVec3> + '_ {
        let links = self.points.len() / self.roots.len().max(1);
        let ends = &self.points[sample * links..(sample + 1) * links];
        std::iter::once(self.roots[sample]).chain(ends.iter().copied())
    }

    /// What turns hips space to the world at a sample.
    pub fn turn(&self, sample: usize) -> DQuat {
        DQuat::from_array(self.turns[sample])
    }
}

#[derive(Serialize, Deserialize)]
struct Head {
    stance: Stance,
    chains: Vec<(Arc<str>, Kind)>,
    takes: Vec<TakeHead>,
}

#[derive(Serialize, Deserialize)]
struct TakeHead {
    clip: Arc<str>,
    duration: f64,
    looped: bool,
    passes: u32,
    gap: f64,
}

impl Data for Motion {
    const TYPE: DataType = DataType {
        id: DataTypeId("motion"),
        label: "Motion",
        help: "Chains in motion: what a simulation made of them, clip by clip.",
        colour: [96, 200, 180],
    };

    fn columns(&self) -> Vec<Column> {
        let take = |take: &Take| TakeHead {
            clip: Arc::clone(&take.clip),
            duration: take.duration,
            looped: take.looped,
            passes: take.passes,
            gap: take.gap,
        };
        let head = Head {
            stance: self.stance,
            chains: self.chains.iter().map(|chain| (Arc::clone(&chain.name), chain.kind)).collect(),
            takes: self.takes.iter().map(take).collect(),
        };
        let mut columns = vec![Column::json("motion", &head)];
        for (k, chain) in self.chains.iter().enumerate() {
            columns.push(Column::u32(format!("chain{k}.node"), &chain.nodes));
            columns.push(Column::f64(format!("chain{k}.length"), &chain.lengths));
            columns.push(Column::f64(format!("chain{k}.bind"), &chain.bind));
            columns.push(Column::f64(format!("chain{k}.rest"), &chain.rest));
        }
        for (t, take) in self.takes.iter().enumerate() {
            for (k, track) in take.tracks.iter().enumerate() {
                columns.push(Column::f64(format!("take{t}.chain{k}.root"), &track.roots));
                columns.push(Column::f64(format!("take{t}.chain{k}.turn"), &track.turns));
                columns.push(Column::f64(format!("take{t}.chain{k}.point"), &track.points));
                columns.push(Column::f32(format!("take{t}.chain{k}.rotation"), &track.rotations));
            }
        }
        columns
    }

    fn from_columns(columns: &Columns) -> Result<Self, ColumnError> {
        let head: Head = columns.get("motion")?.as_json()?;
        let count = head.chains.len();
        let chain = |(k, (name, kind)): (usize, (Arc<str>, Kind))| {
            Ok(MovedChain {
                name,
                kind,
                nodes: columns.get(&format!("chain{k}.node"))?.as_u32()?,
                lengths: columns.get(&format!("chain{k}.length"))?.as_f64()?,
                bind: columns.get(&format!("chain{k}.bind"))?.as_f64()?,
                rest: columns.get(&format!("chain{k}.rest"))?.as_f64()?,
            })
        };
        let track = |t: usize, k: usize| {
            Ok(Track {
                roots: columns.get(&format!("take{t}.chain{k}.root"))?.as_f64()?,
                turns: columns.get(&format!("take{t}.chain{k}.turn"))?.as_f64()?,
                points: columns.get(&format!("take{t}.chain{k}.point"))?.as_f64()?,
                rotations: columns.get(&format!("take{t}.chain{k}.rotation"))?.as_f32()?,
            })
        };
        let take = |(t, head): (usize, TakeHead)| {
            Ok(Take {
                clip: head.clip,
                duration: head.duration,
                looped: head.looped,
                passes: head.passes,
                gap: head.gap,
                tracks: (0..count).map(|k| track(t, k)).collect::<Result<_, ColumnError>>()?,
            })
        };
        Ok(Self {
            stance: head.stance,
            chains: head.chains.into_iter().enumerate().map(chain).collect::<Result<_, ColumnError>>()?,
            takes: head.takes.into_iter().enumerate().map(take).collect::<Result<_, ColumnError>>()?,
        })
    }
}
