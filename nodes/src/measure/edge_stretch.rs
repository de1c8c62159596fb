//! `measure.edge_stretch` (`tail-3d.md` E1).

use std::sync::Arc;

use glam::{Affine3A, Mat4, Vec4};
use rayon::prelude::*;
use sinew_graph::{Cx, NodeError, Outputs, Result, node};

use super::region::{Area, Which, areas};
use super::top::Top;
use crate::data::{Character, Clip, Clips, Field, Regions, Table};
use crate::mesh::edges::unique_edges;
use crate::pose::{Rig, find_clip, skin_slice};

/// A ratio beyond these limits is a tear.
const TORN: (f32, f32) = (0.67, 1.5);

/// Edges per piece of work.
const CHUNK: usize = 1 << 15;

/// What [`edge_stretch`] gives.
#[derive(Clone, Debug, PartialEq, Outputs)]
pub struct Stretched {
    /// A row per region, and one for all other edges: percentiles and greatest ratio, and the share that is torn.
    pub table: Table,
    /// Per vertex the greatest ratio that any of its edges reaches; 1 for vertices without edges.
    pub stretch: Field,
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
    let clip = choose_clip(&character.clips, &clip)?;
    let areas = areas(character, regions, measured)?;
    if regions.is_some() && areas.is_empty() {
        cx.warn_at(
            "regions",
            "no region is treated: all edges count as body; set measured to all to measure every region",
        );
    }
    let (rows, stretch) = measure(character, clip, samples, &areas, cx)?;
    let skipped = rows.iter().map(|row| row.skipped).sum::<usize>();
    if skipped > 0 {
        cx.warn_at("character", format!("{skipped} edges have no length in the bind pose and were left out"));
    }
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
    Ok(Stretched { table, stretch })
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

/// Edges with both ends in each area, and all other edges as `body`; and the greatest ratio at each vertex.
fn measure(character: &Character, clip: &Clip, samples: u32, areas: &[Area], cx: &Cx) -> Result<(Vec<Stretch>, Field)> {
    let mesh = &character.mesh;
    let rig = Rig::new(&character.skeleton).map_err(|error| error.at("character"))?;
    if !mesh.positions.iter().all(|p| p.is_finite()) || !character.skin.weights.iter().all(|w| w.is_finite()) {
        return Err(NodeError::new("a position or weight is not a finite number")
            .at("character")
            .help("import the file with the importer of this version, which repairs such numbers"));
    }
    cx.check()?;
    let edges: Vec<[u32; 2]> =
        unique_edges(mesh.positions.len(), &mesh.triangles, cx)?.into_iter().map(|edge| edge.ends).collect();
    cx.check()?;

    // One stretch of edges per area, the body last.
    let inside = |area: &Area, [a, b]: [u32; 2]| area.mask[a as usize] && area.mask[b as usize];
    let mut groups: Vec<(Arc<str>, Vec<[u32; 2]>)> = areas
        .iter()
        .map(|area| (Arc::clone(&area.name), edges.iter().copied().filter(|&edge| inside(area, edge)).collect()))
        .collect();
    groups.push((
        "body".into(),
        match areas {
            [] => edges,
            _ => edges.into_iter().filter(|&edge| !areas.iter().any(|area| inside(area, edge))).collect(),
        },
    ));

    // Bind lengths in the world, which may be scaled against bind space.
    let to_world = Affine3A::from_mat4(Mat4::from_cols_array(&character.skeleton.to_world));
    let mut all: Vec<[u32; 2]> = Vec::new();
    let mut inverse_squares: Vec<f32> = Vec::new();
    let mut ranges = Vec::with_capacity(groups.len());
    let mut skipped = Vec::with_capacity(groups.len());
    for (_, group) in &mut groups {
        let start = all.len();
        for &[a, b] in group.iter() {
            let edge = mesh.positions[a as usize] - mesh.positions[b as usize];
            let square = to_world.transform_vector3(edge).length_squared();
            if square > 0.0 && square.recip().is_finite() {
                all.push([a, b]);
                inverse_squares.push(square.recip());
            }
        }
        skipped.push(group.len() - (all.len() - start));
        ranges.push(start..all.len());
        *group = Vec::new();
    }

    let mut tops: Vec<Top> = ranges.iter().map(|range| Top::new(range.len() * samples as usize, 0.95)).collect();
    let mut torn = vec![0u64; ranges.len()];
    // Padded to four numbers each, which are fetched at once.
    let mut skinned = vec![Vec4::ZERO; mesh.positions.len()];
    let mut worst = vec![0.0f32; all.len()];
    for k in 0..samples {
        cx.check()?;
        let time = f64::from(clip.duration) * f64::from(k) / f64::from(samples);
        let matrices = rig.matrices(&rig.sample(clip, time as f32).map_err(|error| error.at("clip"))?);
        if let Some(joint) = matrices.joints.iter().position(|matrix| !matrix.is_finite()) {
            return Err(NodeError::new(format!(
                "clip {:?} at {time:.3} s moves joint {joint} ({:?}) to no finite place",
                clip.name, character.skeleton.joints[joint].name
            ))
            .at("character"));
        }
        skin_slice(&mesh.positions, &character.skin, &matrices, &mut skinned, |p| p.extend(0.0))
            .map_err(|error| error.at("character"))?;
        for (group, range) in ranges.iter().enumerate() {
            let least = tops[group].least();
            let edges = all[range.clone()].par_chunks(CHUNK).zip(inverse_squares[range.clone()].par_chunks(CHUNK));
            let parts: Vec<Part> = edges
                .zip(worst[range.clone()].par_chunks_mut(CHUNK))
                .map(|((edges, inverse), worst)| {
                    cx.check()?;
                    Ok(ratios(&skinned, edges, inverse, worst, least))
                })
                .collect::<Result<_>>()?;
            for part in parts {
                torn[group] += u64::from(part.torn);
                tops[group].extend(&part.high);
            }
        }
        cx.progress((k + 1) as f32 / samples as f32);
    }

    let mut field = vec![-1.0f32; mesh.positions.len()];
    for (&[a, b], &worst) in all.iter().zip(&worst) {
        for end in [a, b] {
            field[end as usize] = field[end as usize].max(worst);
        }
    }
    let field = field.into_iter().map(|square| if square < 0.0 { 1.0 } else { square.sqrt() }).collect();
    let rows = groups.into_iter().zip(tops).enumerate().map(|(k, ((region, _), top))| {
        let [p95, p99, max] = top.percentiles([0.95, 0.99, 1.0], f64::sqrt);
        let edges = ranges[k].len();
        let torn = torn[k] as f64 / (edges * samples as usize) as f64;
        Stretch { region, p95, p99, max, torn, edges, skipped: skipped[k] }
    });
    Ok((rows.collect(), Field { name: "greatest stretch".into(), unit: "ratio".into(), values: field }))
}

/// What a piece of the edges shows at one time.
struct Part {
    /// How many are torn.
    torn: u32,
    /// The squared ratios above the least that can matter, in order.
    high: Vec<f32>,
}

/// Squared ratios of a piece of the edges at one time, in blocks that stay in registers and the nearest cache.
fn ratios(skinned: &[Vec4], edges: &[[u32; 2]], inverse: &[f32], worst: &mut [f32], least: f32) -> Part {
    const BLOCK: usize = 64;
    let (low, high) = (TORN.0 * TORN.0, TORN.1 * TORN.1);
    let mut part = Part { torn: 0, high: Vec::new() };
    let mut buffer = [0.0f32; BLOCK];
    let blocks = edges.chunks(BLOCK).zip(inverse.chunks(BLOCK)).zip(worst.chunks_mut(BLOCK));
    for ((edges, inverse), worst) in blocks {
        let squares = &mut buffer[..edges.len()];
        let vector = |[a, b]: [u32; 2]| skinned[a as usize] - skinned[b as usize];
        let (fours, rest) = edges.as_chunks::<4>();
        let (inverse_fours, inverse_rest) = inverse.as_chunks::<4>();
        let (square_fours, square_rest) = squares.as_chunks_mut::<4>();
        for ((&[a, b, c, d], &inverse), squares) in fours.iter().zip(inverse_fours).zip(square_fours) {
            // Four edges side by side: x, y and z of all in a row each.
            let rows = Mat4::from_cols(vector(a), vector(b), vector(c), vector(d)).transpose();
            let sum = rows.x_axis * rows.x_axis + rows.y_axis * rows.y_axis + rows.z_axis * rows.z_axis;
            *squares = (sum * Vec4::from_array(inverse)).to_array();
        }
        for ((&edge, &inverse), square) in rest.iter().zip(inverse_rest).zip(square_rest) {
            let v = vector(edge);
            *square = (v.x * v.x + v.y * v.y + v.z * v.z) * inverse;
        }
        let mut any = false;
        for (&square, worst) in squares.iter().zip(worst) {
            *worst = worst.max(square);
            part.torn += u32::from(square > high) + u32::from(square < low);
            any |= square > least;
        }
        if any {
            part.high.extend(squares.iter().copied().filter(|&square| square > least));
        }
    }
    part
}

#[cfg(test)]
pub(crate) mod tests;
