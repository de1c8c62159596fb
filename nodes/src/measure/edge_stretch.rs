//! `measure.edge_stretch` (`tail-3d.md` E1).

use std::sync::Arc;

use sinew_graph::{Cx, NodeError, Outputs, Result, node};

use super::region::Which;
use crate::data::{Character, Clip, Clips, Field, Regions, Table};
use crate::pose::find_clip;
use classes::Group;
use ratios::{Shown, measure};

mod classes;
mod high;
mod ratios;
mod subject;
mod tiles;

pub(super) use subject::Subject;
pub(super) use tiles::Tiles;

/// What [`edge_stretch`] gives.
#[derive(Clone, Debug, PartialEq, Outputs)]
pub struct Stretched {
    /// A row per region, and one for all other edges: percentiles and greatest ratio, and the share that is torn.
    pub table: Table,
    /// Per vertex the greatest ratio that any of its edges reaches; 1 for vertices without edges.
    pub stretch: Field,
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
    let tiles = Tiles::new(character, regions, measured, cx)?;
    let subject = Subject::new(character, &clip, samples)?;
    let [shown] = measure(&tiles, [&subject], true, cx)?;
    let root = |&square: &f32| if square < 0.0 { 1.0 } else { square.sqrt() };
    let stretch = Field {
        name: "greatest stretch".into(),
        unit: "ratio".into(),
        values: shown.worst.iter().map(root).collect(),
        stub: None,
    };
    Ok(Stretched { table: table(&tiles, &subject, &shown), stretch })
}

/// The figures of characters whose mesh these edges are of, without a field. What two of them move alike is measured once.
pub(super) fn tables<const N: usize>(tiles: &Tiles, subjects: [&Subject; N], cx: &Cx) -> Result<[Table; N]> {
    let shown = measure(tiles, subjects, false, cx)?;
    Ok(std::array::from_fn(|k| table(tiles, subjects[k], &shown[k])))
}

/// A row per group of edges.
fn table(tiles: &Tiles, subject: &Subject, shown: &Shown) -> Table {
    let rows = || tiles.classes.groups.iter().zip(&shown.groups);
    let samples = |group: &Group| group.edges * subject.samples;
    let ratio = |k: usize| rows().map(move |(_, figures)| figures.ratios[k]);
    Table::new("edge_stretch")
        .texts("region", rows().map(|(group, _)| Arc::clone(&group.name)))
        .texts("clip", rows().map(|_| Arc::clone(&subject.clip.name)))
        .integers("edges", rows().map(|(group, _)| group.edges as i32))
        .integers("times", rows().map(|_| subject.samples as i32))
        .numbers("p95", "ratio", ratio(0))
        .numbers("p99", "ratio", ratio(1))
        .numbers("max", "ratio", ratio(2))
        .numbers("torn", "%", rows().map(|(group, figures)| figures.torn as f64 / samples(group) as f64 * 100.0))
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
