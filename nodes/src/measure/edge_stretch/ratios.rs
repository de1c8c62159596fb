//! Squared ratios of length over the times of a clip, tile by tile; roots are taken of the few that are told.

use std::array::from_fn;
use std::ops::Range;

use glam::Vec4;
use rayon::prelude::*;
use sinew_graph::{Cx, Result};

use super::classes::Group;
use super::high::{High, level, percentiles};
use super::subject::{Alike, Subject};
use super::tiles::{Run, Tile, Tiles};
use crate::pose::{FOUR, Place4, QuadMatrices};

/// A ratio beyond these limits is a tear.
const TORN: (f32, f32) = (0.67, 1.5);

/// Percentiles that are told.
const SHARES: [f64; 3] = [0.95, 0.99, 1.0];

/// Quads of times that a tile is measured at in one go: with them its vertices still fit into the second cache.
const QUADS: usize = 8;

/// Tiles that are measured side by side before their figures are put together.
const WAVE: usize = 128;

/// Edges of a class from which on a sample tells what can be among the highest.
const SAMPLED: usize = 2048;

/// What a group of edges shows.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Figures {
    /// The 95th and 99th percentile and the greatest of the ratios.
    pub ratios: [f64; 3],
    /// How many samples are torn.
    pub torn: u64,
}

/// What a character shows.
pub(super) struct Shown {
    pub groups: Vec<Figures>,
    /// Per vertex the greatest squared ratio of its edges, negative without any; empty if it was not asked for.
    pub worst: Vec<f32>,
}

/// Measures characters of one mesh. Where two of them move a tile alike it is measured once.
///
/// Only numbers above a level are kept for the percentiles, which a sample of the edges tells beforehand. If it is too high
/// after all, all is measured once more, and all numbers of that class are kept.
pub(super) fn measure<const N: usize>(
    tiles: &Tiles,
    subjects: [&Subject; N],
    worst: bool,
    cx: &Cx,
) -> Result<[Shown; N]> {
    let mut levels: [Vec<f32>; N] = from_fn(|_| Vec::new());
    let (sample, taken) = tiles.sample(SAMPLED);
    for (levels, subject) in levels.iter_mut().zip(subjects) {
        *levels = sampled_levels(tiles, &sample, &taken, subject, cx)?;
    }
    loop {
        let parts = parts(tiles, subjects, &levels, worst, cx)?;
        let mut missed = false;
        let groups: [Vec<Figures>; N] = from_fn(|number| {
            let of = [&parts.both, &parts.each[number]];
            let figures = |(number_of_group, group): (usize, &Group)| {
                let classes = tiles.classes.of(number_of_group);
                let high: Vec<&High> = classes.clone().flat_map(|class| of.map(|part| &part.high[class])).collect();
                let torn = classes.clone().flat_map(|class| of.map(|part| part.torn[class])).sum();
                let ratios = percentiles(&high, group.edges * subjects[number].samples, SHARES, f64::sqrt);
                if ratios.is_none() {
                    missed = true;
                    classes.for_each(|class| levels[number][class] = -1.0);
                }
                Figures { ratios: ratios.unwrap_or([f64::NAN; 3]), torn }
            };
            tiles.classes.groups.iter().enumerate().map(figures).collect()
        });
        if !missed {
            let mut shown = groups.into_iter().zip(parts.worst);
            return Ok(from_fn(|_| {
                let (groups, worst) = shown.next().unwrap_or_default();
                Shown { groups, worst }
            }));
        }
    }
}

/// Per class a level that some more than the highest twentieth are above.
fn sampled_levels(tiles: &Tiles, sample: &Tiles, taken: &[usize], subject: &Subject, cx: &Cx) -> Result<Vec<f32>> {
    let everything = [vec![-1.0; taken.len()]];
    let parts = parts(sample, [subject], &everything, false, cx)?;
    let told = |(class, mut high): (usize, High)| {
        // Four times the deviation of the share that a sample of so many edges shows.
        let share = 0.05 + 4.0 * (0.05 * 0.95 / taken[class] as f64).sqrt();
        let enough = taken[class] >= SAMPLED && tiles.classes.alone(class);
        if enough { level(&mut high.values, share) } else { -1.0 }
    };
    Ok(parts.both.high.into_iter().enumerate().map(told).collect())
}

/// What tiles show, per class.
struct Part {
    high: Vec<High>,
    torn: Vec<u64>,
}

impl Part {
    fn new(levels: impl Iterator<Item = f32>) -> Self {
        let high: Vec<High> = levels.map(High::above).collect();
        Self { torn: vec![0; high.len()], high }
    }

    fn add(&mut self, run: &RunShown) {
        let class = run.class as usize;
        self.torn[class] += run.torn;
        self.high[class].values.extend_from_slice(&run.high);
        self.high[class].equal += run.equal;
    }
}

/// What the tiles show that all characters move alike, and what the others show for each.
struct Parts<const N: usize> {
    both: Part,
    each: [Part; N],
    /// Per character and vertex the greatest squared ratio; negative without an edge.
    worst: [Vec<f32>; N],
}

fn parts<const N: usize>(
    tiles: &Tiles,
    subjects: [&Subject; N],
    levels: &[Vec<f32>; N],
    worst: bool,
    cx: &Cx,
) -> Result<Parts<N>> {
    let classes = levels.iter().map(Vec::len).min().unwrap_or(0);
    let least = |class: usize| levels.iter().map(|levels| levels[class]).fold(f32::INFINITY, f32::min);
    let mut all = Parts {
        both: Part::new((0..classes).map(least)),
        each: levels.each_ref().map(|levels| Part::new(levels.iter().copied())),
        worst: from_fn(|_| vec![-1.0; if worst { tiles.positions().len() } else { 0 }]),
    };
    let alike = match subjects[..] {
        [before, after] => Some(Alike::new(before, after)),
        _ => None,
    };
    for first in (0..tiles.len()).step_by(WAVE) {
        let wave = (first..tiles.len().min(first + WAVE)).into_par_iter();
        let shown: Vec<Vec<TileShown>> = wave
            .map_init(Scratch::default, |scratch, number| {
                cx.check()?;
                let tile = tiles.tile(number);
                tiles.inverse_squares(tile, &mut scratch.inverse);
                let once = alike.as_ref().is_none_or(|alike| alike.tile(tile));
                let measured = if once { &subjects[..1] } else { &subjects[..] };
                let shown = measured.iter().enumerate().map(|(number, subject)| {
                    let part = if once { &all.both } else { &all.each[number] };
                    measure_tile(tiles, tile, subject, part, worst, scratch)
                });
                Ok(shown.collect())
            })
            .collect::<Result<_>>()?;
        for (number, shown) in (first..).zip(&shown) {
            let once = shown.len() < N || N == 1;
            for (subject, shown) in shown.iter().enumerate() {
                let part = if once { &mut all.both } else { &mut all.each[subject] };
                shown.runs.iter().for_each(|run| part.add(run));
                let to = if once { 0..N } else { subject..subject + 1 };
                for known in &mut all.worst[to] {
                    for (&vertex, &worst) in tiles.tile(number).vertices.iter().zip(&shown.worst) {
                        known[vertex as usize] = known[vertex as usize].max(worst);
                    }
                }
            }
        }
        cx.progress((first + WAVE) as f32 / tiles.len() as f32);
    }
    Ok(all)
}

/// What one piece of work needs, made once for many.
#[derive(Default)]
struct Scratch {
    /// Per edge 1 / the squared length in the bind pose.
    inverse: Vec<f32>,
    /// Quad by quad, the place of each vertex.
    places: Vec<Place4>,
    /// Per edge the greatest squared ratio in each lane.
    worst: Vec<Vec4>,
}

/// What a tile shows of a character.
struct TileShown {
    runs: Vec<RunShown>,
    /// Per vertex of the tile the greatest squared ratio; empty if it was not asked for.
    worst: Vec<f32>,
}

/// What edges of one class show.
struct RunShown {
    class: u32,
    torn: u64,
    equal: u64,
    high: Vec<f32>,
}

fn measure_tile(
    tiles: &Tiles,
    tile: Tile,
    subject: &Subject,
    part: &Part,
    worst: bool,
    scratch: &mut Scratch,
) -> TileShown {
    let empty = |run: &Run| RunShown { class: run.class, torn: 0, equal: 0, high: Vec::new() };
    let mut runs: Vec<RunShown> = tile.runs.iter().map(empty).collect();
    let vertices = tile.vertices.len();
    scratch.worst.clear();
    scratch.worst.resize(if worst { tile.edges.len() } else { 0 }, Vec4::ZERO);
    let quads = subject.matrices.quads();
    for first in (0..quads).step_by(QUADS) {
        let block = first..quads.min(first + QUADS);
        place(tiles, tile, subject, block.clone(), &mut scratch.places);
        for (quad, places) in block.zip(scratch.places.chunks_exact(vertices.max(1))) {
            let lanes = FOUR.min(subject.samples - quad * FOUR);
            let mut start = 0;
            for (run, shown) in tile.runs.iter().zip(&mut runs) {
                let span = start..start + run.edges as usize;
                start = span.end;
                let level = part.high[run.class as usize].level;
                let (edges, inverse) = (&tile.edges[span.clone()], &scratch.inverse[span.clone()]);
                if worst {
                    let keep = scratch.worst[span].iter_mut();
                    let keep = keep.map(|worst| |squares: Vec4| *worst = worst.max(squares));
                    measure_edges(places, edges, inverse, keep, level, lanes, shown);
                } else {
                    measure_edges(
                        places,
                        edges,
                        inverse,
                        std::iter::repeat_n(|_| (), edges.len()),
                        level,
                        lanes,
                        shown,
                    );
                }
            }
        }
    }
    let mut at_vertices = vec![-1.0f32; if worst { vertices } else { 0 }];
    for (ends, worst) in tile.edges.iter().zip(&scratch.worst) {
        for &end in ends {
            let known = &mut at_vertices[usize::from(end)];
            *known = known.max(worst.max_element());
        }
    }
    TileShown { runs, worst: at_vertices }
}

/// Moves the vertices of a tile.
fn place(tiles: &Tiles, tile: Tile, subject: &Subject, quads: Range<usize>, places: &mut Vec<Place4>) {
    let (skin, matrices): (_, &QuadMatrices) = (subject.skin, &subject.matrices);
    let vertices = tile.vertices.len();
    places.resize(vertices * quads.len(), [Vec4::ZERO; 3]);
    for (number, &vertex) in tile.vertices.iter().enumerate() {
        let row = vertex as usize * skin.width..(vertex as usize + 1) * skin.width;
        let (joints, weights) = (&skin.joints[row.clone()], &skin.weights[row]);
        let position = tiles.positions()[vertex as usize];
        matrices
            .place(position, joints, weights, quads.clone(), |quad, place| places[quad * vertices + number] = place);
    }
}

/// Measures edges at the times of a quad, of which the first `lanes` count. `keep` gets the squared ratios of each edge.
#[inline(always)]
fn measure_edges<K: FnMut(Vec4)>(
    places: &[Place4],
    edges: &[[u16; 2]],
    inverse: &[f32],
    keep: impl Iterator<Item = K>,
    level: f32,
    lanes: usize,
    shown: &mut RunShown,
) {
    let (low, high, level) = (Vec4::splat(TORN.0 * TORN.0), Vec4::splat(TORN.1 * TORN.1), Vec4::splat(level));
    let counted = (1u32 << lanes) - 1;
    // Counted in lanes; a tile is small enough for a count to be exact.
    let mut torn = Vec4::ZERO;
    for ((&[a, b], &inverse), mut keep) in edges.iter().zip(inverse).zip(keep) {
        let (a, b) = (&places[usize::from(a)], &places[usize::from(b)]);
        let (x, y, z) = (a[0] - b[0], a[1] - b[1], a[2] - b[2]);
        let squares = (x * x + y * y + z * z) * Vec4::splat(inverse);
        keep(squares);
        torn += Vec4::select(squares.cmplt(low) | squares.cmpgt(high), Vec4::ONE, Vec4::ZERO);
        let matter = squares.cmpge(level).bitmask() & counted;
        if matter != 0 {
            let above = squares.cmpgt(level).bitmask() & counted;
            shown.equal += u64::from((matter & !above).count_ones());
            for (lane, square) in squares.to_array().into_iter().enumerate() {
                if above >> lane & 1 == 1 {
                    shown.high.push(square);
                }
            }
        }
    }
    shown.torn += torn.to_array()[..lanes].iter().map(|&count| count as u64).sum::<u64>();
}
