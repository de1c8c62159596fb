//! Animation clips: keyed channels over the nodes of a file.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sinew_graph::Data;
use sinew_graph::column::{Column, ColumnError, Columns};
use sinew_graph::value::{DataType, DataTypeId};

/// Clips, in the order of the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Clips {
    /// The clips.
    pub clips: Vec<Clip>,
}

/// A clip.
#[derive(Clone, Debug, PartialEq)]
pub struct Clip {
    /// Its name.
    pub name: Arc<str>,
    /// The time of its last key, seconds.
    pub duration: f32,
    /// Its channels.
    pub channels: Vec<Channel>,
}

/// The keys of one property of one node.
#[derive(Clone, Debug, PartialEq)]
pub struct Channel {
    /// The node of the file that it moves; node numbers from `nodes.len()` on are joints that Sinew added, in order.
    pub node: u32,
    /// Which property.
    pub target: Target,
    /// What happens between keys.
    pub interpolation: Interpolation,
    /// Key times in seconds, rising.
    pub times: Arc<[f32]>,
    /// Key values, `target.arity()` each (weights: as many as the node's morph targets); with cubic interpolation
    /// in-tangent, value and out-tangent per key, as in glTF.
    pub values: Arc<[f32]>,
}

/// A property that a channel moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Target {
    /// Translation: 3 numbers.
    Translation,
    /// Rotation: a quaternion x, y, z, w.
    Rotation,
    /// Scale: 3 numbers.
    Scale,
    /// Morph target weights.
    Weights,
}

/// What happens between keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Interpolation {
    /// The earlier key holds.
    Step,
    /// Straight, and spherical for rotations.
    Linear,
    /// Cubic Hermite with stored tangents.
    Cubic,
}

#[derive(Serialize, Deserialize)]
struct ClipHead {
    name: Arc<str>,
    duration: f32,
    channels: Vec<(u32, Target, Interpolation)>,
}

impl Data for Clips {
    const TYPE: DataType =
        DataType { id: DataTypeId("clips"), label: "Clips", help: "Animation clips.", colour: [235, 129, 77] };

    fn columns(&self) -> Vec<Column> {
        let heads: Vec<ClipHead> = self
            .clips
            .iter()
            .map(|clip| ClipHead {
                name: Arc::clone(&clip.name),
                duration: clip.duration,
                channels: clip.channels.iter().map(|c| (c.node, c.target, c.interpolation)).collect(),
            })
            .collect();
        let mut columns = vec![Column::json("clips", &heads)];
        for (k, clip) in self.clips.iter().enumerate() {
            for (c, channel) in clip.channels.iter().enumerate() {
                columns.push(Column::f32(format!("clip{k}.channel{c}.time"), &channel.times));
                columns.push(Column::f32(format!("clip{k}.channel{c}.value"), &channel.values));
            }
        }
        columns
    }

    fn from_columns(columns: &Columns) -> Result<Self, ColumnError> {
        let heads: Vec<ClipHead> = columns.get("clips")?.as_json()?;
        let clip = |(k, head): (usize, ClipHead)| {
            let channel = |(c, (node, target, interpolation)): (usize, (u32, Target, Interpolation))| {
                Ok(Channel {
                    node,
                    target,
                    interpolation,
                    times: columns.get(&format!("clip{k}.channel{c}.time"))?.as_f32()?,
                    values: columns.get(&format!("clip{k}.channel{c}.value"))?.as_f32()?,
                })
            };
            let channels = head.channels.into_iter().enumerate().map(channel).collect::<Result<_, ColumnError>>()?;
            Ok(Clip { name: head.name, duration: head.duration, channels })
        };
        Ok(Self { clips: heads.into_iter().enumerate().map(clip).collect::<Result<_, ColumnError>>()? })
    }
}
