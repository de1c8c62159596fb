//! The edges of a mesh, in tiles of neighbouring triangles: what is known of the vertices of a tile at many times fits into
//! the nearest caches, and the vertices are numbered anew, so that an edge takes four bytes.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

use glam::{Affine3A, Mat4, Vec3};
use rayon::prelude::*;
use sinew_graph::{Cx, NodeError, Result};

use super::classes::Classes;
use crate::data::{Character, Regions};
use crate::measure::region::{Which, areas};

/// Triangles per tile.
const TRIANGLES: usize = 512;

/// Slots of the table that numbers the vertices of a tile; twice as many as there can be, at least.
const SLOTS: usize = (3 * TRIANGLES * 2).next_power_of_two();

/// Tiles that are made side by side.
const WAVE: usize = 256;

/// No number.
const NONE: u16 = u16::MAX;

/// The edges of a mesh, each once, without those that have no length in the bind pose.
pub(in crate::measure) struct Tiles {
    /// Which figures they count to.
    pub(super) classes: Classes,
    tiles: Vec<Ends>,
    /// Tile by tile the vertices of the mesh.
    vertices: Vec<u32>,
    /// Tile by tile, run by run: ends by their numbers within the tile.
    edges: Vec<[u16; 2]>,
    runs: Vec<Run>,
    /// What they were made of.
    positions: Arc<[Vec3]>,
    triangles: Arc<[[u32; 3]]>,
    to_world: [f32; 16],
}

/// Where the vertices, edges and runs of a tile end.
#[derive(Clone, Copy, Default)]
struct Ends {
    vertices: usize,
    edges: usize,
    runs: usize,
}

/// Edges of one class, one behind the other.
#[derive(Clone, Copy)]
pub(super) struct Run {
    pub class: u32,
    pub edges: u32,
}

/// A tile.
#[derive(Clone, Copy)]
pub(super) struct Tile<'a> {
    pub vertices: &'a [u32],
    pub edges: &'a [[u16; 2]],
    pub runs: &'a [Run],
}

impl Tiles {
    /// The edges of a character's mesh, by regions.
    pub fn new(character: &Character, regions: Option<&Regions>, measured: Which, cx: &Cx) -> Result<Self> {
        let mesh = &character.mesh;
        let areas = areas(character, regions, measured)?;
        if regions.is_some() && areas.is_empty() {
            cx.warn_at(
                "regions",
                "no region is treated: all edges count as body; set measured to all to measure every region",
            );
        }
        if !mesh.positions.iter().all(|p| p.is_finite()) {
            return Err(not_finite());
        }
        let mut out = Self {
            classes: Classes::new(&areas),
            tiles: Vec::with_capacity(mesh.triangles.len().div_ceil(TRIANGLES)),
            vertices: Vec::new(),
            edges: Vec::new(),
            runs: Vec::new(),
            positions: Arc::clone(&mesh.positions),
            triangles: Arc::clone(&mesh.triangles),
            to_world: character.skeleton.to_world,
        };
        drop(areas);
        let shared = shared(mesh.positions.len(), &mesh.triangles, cx)?;
        let mut seen = Seen::default();
        for wave in mesh.triangles.chunks(TRIANGLES * WAVE) {
            let found: Vec<Found> = wave
                .par_chunks(TRIANGLES)
                .map(|triangles| {
                    cx.check()?;
                    Ok(out.find(triangles, &shared))
                })
                .collect::<Result<_>>()?;
            for tile in found {
                out.take(tile, &mut seen);
            }
        }
        let skipped: usize = out.classes.groups.iter().map(|group| group.skipped).sum();
        if skipped > 0 {
            cx.warn_at("character", format!("{skipped} edges have no length in the bind pose and were left out"));
        }
        Ok(out)
    }

    /// Whether a character has the same edges of the same lengths.
    pub fn are_of(&self, character: &Character) -> bool {
        let mesh = &character.mesh;
        (Arc::ptr_eq(&self.positions, &mesh.positions) || self.positions == mesh.positions)
            && (Arc::ptr_eq(&self.triangles, &mesh.triangles) || self.triangles == mesh.triangles)
            && self.to_world == character.skeleton.to_world
    }

    /// Where the vertices are in the bind pose.
    pub(super) fn positions(&self) -> &[Vec3] {
        &self.positions
    }

    /// How many tiles there are.
    pub(super) fn len(&self) -> usize {
        self.tiles.len()
    }

    pub(super) fn tile(&self, tile: usize) -> Tile<'_> {
        let start = tile.checked_sub(1).map_or(Ends::default(), |before| self.tiles[before]);
        let end = self.tiles[tile];
        Tile {
            vertices: &self.vertices[start.vertices..end.vertices],
            edges: &self.edges[start.edges..end.edges],
            runs: &self.runs[start.runs..end.runs],
        }
    }

    /// Writes 1 / the squared length in the bind pose of each edge of a tile.
    pub(super) fn inverse_squares(&self, tile: Tile, out: &mut Vec<f32>) {
        let world = World::new(&self.to_world);
        let at = |end: u16| self.positions[tile.vertices[usize::from(end)] as usize];
        out.clear();
        out.extend(tile.edges.iter().map(|&[a, b]| world.square(at(a), at(b)).recip()));
    }

    /// Every so many edges of each class, in tiles of their own, the more the more edges there are; of each class also how
    /// many were taken. `least` edges at least are taken of a class.
    pub(super) fn sample(&self, least: usize) -> (Self, Vec<usize>) {
        let classes = self.classes.members.len();
        let mut total = vec![0usize; classes];
        for run in &self.runs {
            total[run.class as usize] += run.edges as usize;
        }
        let strides: Vec<usize> = total.iter().map(|&edges| (edges / least).clamp(1, 64)).collect();
        let (mut passed, mut taken) = (vec![0usize; classes], vec![0usize; classes]);
        let mut out = Self {
            classes: Classes::new(&[]),
            tiles: Vec::new(),
            vertices: Vec::new(),
            edges: Vec::new(),
            runs: Vec::new(),
            positions: Arc::clone(&self.positions),
            triangles: Arc::clone(&self.triangles),
            to_world: self.to_world,
        };
        let mut first = 0;
        for tile in (0..self.len()).map(|tile| self.tile(tile)) {
            let mut start = 0;
            for run in tile.runs {
                let (class, end) = (run.class as usize, start + run.edges as usize);
                let stride = strides[class];
                let ahead = (stride - passed[class] % stride) % stride;
                for &ends in tile.edges[start..end].iter().skip(ahead).step_by(stride) {
                    let local = (out.vertices.len() - first) as u16;
                    out.vertices.extend(ends.map(|end| tile.vertices[usize::from(end)]));
                    out.edges.push([local, local + 1]);
                    out.push_run(run.class, 1);
                    taken[class] += 1;
                    if out.vertices.len() - first >= 2 * TRIANGLES {
                        out.end();
                        first = out.vertices.len();
                    }
                }
                passed[class] += run.edges as usize;
                start = end;
            }
        }
        out.end();
        (out, taken)
    }

    /// Counts the last edges to their run.
    fn push_run(&mut self, class: u32, edges: u32) {
        let start = self.tiles.last().map_or(0, |end| end.runs);
        match self.runs[start..].last_mut() {
            Some(run) if run.class == class => run.edges += edges,
            _ => self.runs.push(Run { class, edges }),
        }
    }

    fn end(&mut self) {
        self.tiles.push(Ends { vertices: self.vertices.len(), edges: self.edges.len(), runs: self.runs.len() });
    }

    /// The edges of some triangles, each once.
    fn find(&self, triangles: &[[u32; 3]], shared: &[bool]) -> Found {
        let world = World::new(&self.to_world);
        let mut numbers = Numbers::new();
        let mut edges: Vec<FoundEdge> = Vec::with_capacity(2 * triangles.len());
        // The edges from each vertex to those of lower number, as a list through `next`.
        let (mut head, mut next): (Vec<u16>, Vec<u16>) = (Vec::new(), Vec::with_capacity(2 * triangles.len()));
        for triangle in triangles {
            let [a, b, c] = triangle.map(|vertex| numbers.number(vertex));
            head.resize(numbers.vertices.len(), NONE);
            for (a, b) in [(a, b), (b, c), (c, a)] {
                let (low, high) = (a.min(b), a.max(b));
                let mut at = head[usize::from(high)];
                while at != NONE && edges[usize::from(at)].ends[0] != low {
                    at = next[usize::from(at)];
                }
                if at != NONE || low == high {
                    continue;
                }
                next.push(head[usize::from(high)]);
                head[usize::from(high)] = edges.len() as u16;
                let [p, q] = [low, high].map(|end| numbers.vertices[usize::from(end)]);
                let square = world.square(self.positions[p as usize], self.positions[q as usize]);
                edges.push(FoundEdge {
                    ends: [low, high],
                    labels: [self.classes.label(p), self.classes.label(q)],
                    shared: shared[p as usize] && shared[q as usize],
                    has_length: square > 0.0 && square.recip().is_finite(),
                });
            }
        }
        // Few tiles have edges of several classes.
        if edges.iter().any(|edge| edge.labels != edges[0].labels) {
            edges.sort_by_key(|edge| edge.labels);
        }
        Found { vertices: numbers.vertices, edges }
    }

    /// Adds a tile, without the edges that an earlier one has.
    fn take(&mut self, tile: Found, seen: &mut Seen) {
        for edges in tile.edges.chunk_by(|a, b| a.labels == b.labels) {
            let class = self.classes.class(edges[0].labels);
            let (before, mut skipped) = (self.edges.len(), 0);
            for edge in edges {
                let [a, b] = edge.ends.map(|end| tile.vertices[usize::from(end)]);
                if edge.shared && !seen.insert(u64::from(a.min(b)) << 32 | u64::from(a.max(b))) {
                    continue;
                }
                if edge.has_length {
                    self.edges.push(edge.ends);
                } else {
                    skipped += 1;
                }
            }
            let added = self.edges.len() - before;
            self.classes.count(class, added, skipped);
            self.push_run(class, added as u32);
        }
        self.vertices.extend_from_slice(&tile.vertices);
        self.end();
    }
}

pub(super) fn not_finite() -> NodeError {
    NodeError::new("a position or weight is not a finite number")
        .at("character")
        .help("import the file with the importer of this version, which repairs such numbers")
}

/// Bind space to the world, which may be scaled against it.
struct World(Affine3A);

impl World {
    fn new(to_world: &[f32; 16]) -> Self {
        Self(Affine3A::from_mat4(Mat4::from_cols_array(to_world)))
    }

    fn square(&self, a: Vec3, b: Vec3) -> f32 {
        self.0.transform_vector3(a - b).length_squared()
    }
}

/// The edges of a tile as found, some of which another tile may have, too.
struct Found {
    vertices: Vec<u32>,
    edges: Vec<FoundEdge>,
}

struct FoundEdge {
    ends: [u16; 2],
    labels: [u32; 2],
    /// Both ends are in several tiles, so the edge may be.
    shared: bool,
    has_length: bool,
}

/// Per vertex whether it is in several tiles.
fn shared(vertices: usize, triangles: &[[u32; 3]], cx: &Cx) -> Result<Vec<bool>> {
    let mut first = vec![u32::MAX; vertices];
    let mut shared = vec![false; vertices];
    for (tile, triangles) in triangles.chunks(TRIANGLES).enumerate() {
        cx.check()?;
        for &vertex in triangles.as_flattened() {
            let first = &mut first[vertex as usize];
            if *first == u32::MAX {
                *first = tile as u32;
            }
            shared[vertex as usize] |= *first != tile as u32;
        }
    }
    Ok(shared)
}

/// Numbers the vertices of a tile by first appearance: a table with open addresses.
struct Numbers {
    slots: Vec<u16>,
    vertices: Vec<u32>,
}

impl Numbers {
    fn new() -> Self {
        Self { slots: vec![NONE; SLOTS], vertices: Vec::with_capacity(TRIANGLES) }
    }

    #[inline(always)]
    fn number(&mut self, vertex: u32) -> u16 {
        let mut slot = vertex.wrapping_mul(0x9e37_79b1) as usize >> (32 - SLOTS.trailing_zeros());
        loop {
            match self.slots[slot % SLOTS] {
                NONE => {
                    let number = self.vertices.len() as u16;
                    self.slots[slot % SLOTS] = number;
                    self.vertices.push(vertex);
                    return number;
                }
                number if self.vertices[usize::from(number)] == vertex => return number,
                _ => slot += 1,
            }
        }
    }
}

/// Edges that were taken and may come again, the lower end first. It is only ever asked whether one is in it.
type Seen = HashSet<u64, BuildHasherDefault<Mixed>>;

/// Hashes by a multiplication; the default's protection against made keys costs more than the edges do.
#[derive(Default)]
struct Mixed(u64);

impl Hasher for Mixed {
    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(byte.into()));
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(29) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}
