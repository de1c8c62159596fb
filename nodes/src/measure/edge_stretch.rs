//! `measure.edge_stretch` (`tail-3d.md` E1).

use std::sync::Arc;

use sinew_graph::{Cx, NodeError, Outputs, Result, node};

use super::region::Which;
use crate::data::{Character, Clip, Clips, Field, Regions, Table};
use crate::pose::find_clip;

mod edges;
mod ratios;

pub(super) use edges::Edges;

/// What [`edge_stretch`] gives.
#[derive(Clone, Debug, PartialEq, Outputs)]
pub struct Stretched {
    /// A row per region, and one for all other edges: percentiles and greatest ratio, and the share that is torn.
    pub table: Table,
    /// Per vertex the greatest ratio that any of its edges reaches; 1 for vertices without edges.
    pub stretch: Field,
}

impl Stretched {
    fn new(rows: &[Stretch], clip: &Clip, samples: u32, stretch: Field) -> Self {
        let of = |value: fn(&Stretch) -> f64| rows.iter().map(value).collect::<Vec<_>>();
        let table = Table::new("edge_stretch")
            .texts("region", rows.iter().map(|row| Arc::clone(&row.region)))
            .texts("clip", rows.iter().map(|_| Arc::clone(&clip.name)))
            .integers("edges", rows.iter().map(|row| row.edges as i32))
            .integers("times", rows.iter().map(|_| samples as i32))
            .numbers("p95", "ratio", of(|row| row.p95))
            .numbers("p99", "ratio", of(|row| row.p99))
            .numbers("max", "ratio", of(|row| row.max))
            .numbers("torn", "%", of(|row| row.torn * 100.0));
        Self { table, stretch }
    }
}

/// How the edges of a part of the skin stretch over a clip.
#[derive(Clone, Debug, PartialEq)]
pub struct Stretch {
    /// The region, or `body`.
    pub region: Arc<str>,
    /// Ratio of skinned to bind length that 95 % of the samples do not exceed.
    pub p95: f64,
    /// The same for 99 %.
    pub p99: f64,
    /// The greatest ratio.
    pub max: f64,
    /// Share of samples above 1.5 or below 0.67.
    pub torn: f64,
    /// Edges measured.
    pub edges: usize,
    /// Edges left out because both ends are at one place in the bind pose.
    pub skipped: usize,
}

/// Measures how a clip stretches the skin: the length of each edge over its length in the bind pose.
///
/// Sampled at evenly spaced times, the first at 0 and the last one step before the end, so that a loop counts no pose
/// twice. Edges are those of the original triangles, each once. Percentiles are taken over all edges and times together.
/// A rigidly attached region measures exactly 1.00 with 0 % torn. A low figure alone proves little: a chain that hardly
/// moves does not stretch either.
#[node(id = "measure.edge_stretch", revision = 1)]
pub fn edge_stretch(
    /// The character to measure.
    character: &Character,
    /// The regions to measure. The same regions before and after a change make figures that can be compared.
    regions: Option<&Regions>,
    /// The clip; upper case, spaces and prefixes do not matter. Empty: the walk, or the first clip.
    #[param(default = String::new())]
    clip: String,
    /// How many times of the clip to sample.
    #[param(default = 24, range = 1..=1000)]
    samples: u32,
    /// Which regions.
    #[param(default = Which::Treated)]
    measured: Which,
    cx: &Cx,
) -> Result<Stretched> {
    Edges::new(character, regions, measured, cx)?.measure(character, &clip, samples, cx)
}

/// The clip called `name`; with an empty name the walk, or the first one.
pub(super) fn choose_clip<'a>(clips: &'a Clips, name: &str) -> Result<&'a Clip> {
    if !name.trim().is_empty() {
        return find_clip(clips, name).map_err(|error| error.at("clip"));
    }
    match find_clip(clips, "walk") {
        Ok(walk) => Ok(walk),
        Err(_) => clips.clips.first().ok_or_else(|| {
            NodeError::new("the character has no clips").at("character").help("measure a character that moves")
        }),
    }
}

#[cfg(test)]
pub(crate) mod tests;
