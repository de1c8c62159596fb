//! Joins vertices that share a position (`tail-3d.md` A3).
//!
//! A vertex joins the first welded vertex within the tolerance. Welded vertices are found through a hash grid whose cells
//! are wide against the tolerance, so that a vertex near a cell border looks into the neighbour too: no two vertices are
//! kept apart by where a border happens to lie.

use std::collections::HashSet;
use std::iter::repeat_n;
use std::sync::Arc;

use glam::Vec3;
use sinew_graph::{Cx, NodeError, Result, node};

use crate::data::{Character, Weld};
use crate::rig::anatomy;

/// Joins vertices that share a position, so that one shell is one piece again. Nothing is merged in the character itself:
/// the result maps every original vertex to its welded one, and holds the triangles over welded vertices without degenerate
/// and repeated ones.
#[node(id = "mesh.weld", revision = 1)]
pub fn weld(
    /// The character whose seams to close.
    character: &Character,
    /// How far apart two vertices may be and still be one. 0 joins equal positions only.
    #[param(default = 1e-6, range = 0.0..=0.1, unit = "heights")]
    tolerance: f32,
    cx: &Cx,
) -> Result<Weld> {
    let mesh = &character.mesh;
    let numbers = bytemuck::cast_slice::<Vec3, f32>(&mesh.positions);
    let finite = |row: &[f32]| row.iter().fold(true, |all, x| all & x.is_finite());
    if let Some(row) = numbers.chunks(BLOCK).position(|row| !finite(row)) {
        let bad = (row * BLOCK + numbers[row * BLOCK..].iter().position(|x| !x.is_finite()).unwrap_or(0)) / 3;
        return Err(NodeError::new(format!("vertex {bad} has no finite position"))
            .at("character")
            .help("clean the mesh in the tool it comes from and import it again"));
    }
    let height = if tolerance > 0.0 { anatomy::height(character) } else { 0.0 };
    weld_positions(&mesh.positions, &mesh.triangles, tolerance * height, cx)
}

/// The weld of plain positions and triangles; `tolerance` in the unit of the positions.
pub fn weld_positions(positions: &[Vec3], triangles: &[[u32; 3]], tolerance: f32, cx: &Cx) -> Result<Weld> {
    let Joined { welded, first } = join(positions, tolerance, cx)?;
    cx.progress(0.6);
    let triangles = clean_triangles(triangles, &welded, first.len(), cx)?;
    Ok(Weld { welded, first, triangles })
}

/// Vertices between two looks at the cancel flag.
const BLOCK: usize = 1 << 15;

/// Vertices whose slots are read together.
const GROUP: usize = 64;

/// Triangles under one corner that are compared one by one.
const FAN: usize = 64;

/// No entry.
const NONE: u32 = u32::MAX;

/// Open-addressing table from grid cells to the first vertices of the welded ones in them. A slot holds the number of a vertex
/// plus one and, in the bits that numbers of this mesh do not need, some of the cell's hash, so that a probe that meets another
/// cell seldom has to look at a position; 0 if it is free.
struct Grid {
    slots: Vec<u32>,
    mask: usize,
    /// The bits of a vertex number.
    number: u32,
}

impl Grid {
    fn new(vertices: usize) -> Self {
        let size = (vertices * 3 / 2).next_power_of_two().max(16);
        let number = ((vertices as u64 + 1).next_power_of_two() - 1) as u32;
        Self { slots: vec![0; size], mask: size - 1, number }
    }

    /// The bits of a hash that a slot holds.
    fn tag(&self, hash: u64) -> u32 {
        (hash >> 32) as u32 & !self.number
    }

    fn find(&self, hash: u64, positions: &[Vec3], near: impl Fn(Vec3) -> bool) -> Option<u32> {
        let (mut slot, tag) = (hash as usize & self.mask, self.tag(hash));
        loop {
            let entry = self.slots[slot];
            if entry == 0 {
                return None;
            }
            if entry & !self.number == tag {
                let vertex = (entry & self.number) - 1;
                if near(positions[vertex as usize]) {
                    return Some(vertex);
                }
            }
            slot = (slot + 1) & self.mask;
        }
    }

    /// Reads the slots of several hashes, so that the table comes into the cache for all of them at once instead of for one
    /// after the other.
    fn warm(&self, hashes: &[u64]) {
        let sum = hashes.iter().fold(0, |sum, &hash| sum ^ self.slots[hash as usize & self.mask]);
        std::hint::black_box(sum);
    }

    fn insert(&mut self, hash: u64, vertex: u32) {
        let mut slot = hash as usize & self.mask;
        while self.slots[slot] != 0 {
            slot = (slot + 1) & self.mask;
        }
        self.slots[slot] = self.tag(hash) | (vertex + 1);
    }
}

fn mix(x: u64) -> u64 {
    let x = (x ^ x >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ x >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x ^ x >> 32
}

fn hash_cell(x: i32, y: i32, z: i32) -> u64 {
    let xy = u64::from(x as u32) | u64::from(y as u32) << 32;
    mix(xy ^ u64::from(z as u32).wrapping_mul(0xd6e8_feb8_6659_fd93))
}

/// The hash of an exact position; adding zero makes -0 and 0 one.
fn hash_bits(p: Vec3) -> u64 {
    let bits = |x: f32| (x + 0.0).to_bits() as i32;
    hash_cell(bits(p.x), bits(p.y), bits(p.z))
}

/// Cells of one size from the least corner of all positions on, so that no position has a negative cell.
struct Cells {
    origin: Vec3,
    per_cell: f32,
    /// The tolerance, in cells.
    margin: f32,
}

impl Cells {
    /// Cells are wide against a small tolerance: then nearly all vertices look into one cell only.
    fn of(positions: &[Vec3], tolerance: f32) -> Self {
        let (origin, far) = bounds(positions);
        let extent = (far - origin).max_element();
        let cell = (tolerance * 128.0).min(extent / 4096.0).max(tolerance * 2.0).max(extent / 1e9);
        let per_cell = if cell > 0.0 { 1.0 / cell } else { 0.0 };
        Self { origin, per_cell, margin: tolerance * per_cell }
    }

    /// The hash of the cell of a position, and whether another cell is within the tolerance.
    fn hash(&self, p: Vec3) -> (u64, bool) {
        let at = (p - self.origin) * self.per_cell;
        // Not negative, so that the whole part is the floor.
        let (x, y, z) = (at.x as i32, at.y as i32, at.z as i32);
        let border = |at: f32, cell: i32| (at - cell as f32 - 0.5).abs() > 0.5 - self.margin;
        (hash_cell(x, y, z), border(at.x, x) | border(at.y, y) | border(at.z, z))
    }

    /// The least vertex that `find` finds in a cell within the tolerance of a position.
    fn around(&self, p: Vec3, find: impl Fn(u64) -> Option<u32>) -> Option<u32> {
        let at = (p - self.origin) * self.per_cell;
        let (lo, hi) = ((at - self.margin).floor().as_ivec3(), (at + self.margin).floor().as_ivec3());
        let cells = (lo.x..=hi.x).flat_map(|x| (lo.y..=hi.y).flat_map(move |y| (lo.z..=hi.z).map(move |z| (x, y, z))));
        cells.filter_map(|(x, y, z)| find(hash_cell(x, y, z))).min()
    }
}

/// The least and the greatest coordinates, four positions at a time.
fn bounds(positions: &[Vec3]) -> (Vec3, Vec3) {
    let (mut lo, mut hi) = ([f32::MAX; 12], [f32::MIN; 12]);
    let (rows, rest) = bytemuck::cast_slice::<Vec3, f32>(positions).as_chunks::<12>();
    for row in rows {
        for k in 0..12 {
            lo[k] = if row[k] < lo[k] { row[k] } else { lo[k] };
            hi[k] = if row[k] > hi[k] { row[k] } else { hi[k] };
        }
    }
    let corners = |row: &[f32]| -> Vec<Vec3> { row.chunks_exact(3).map(Vec3::from_slice).collect() };
    let rest = corners(rest);
    let least = corners(&lo).into_iter().chain(rest.iter().copied()).fold(Vec3::MAX, Vec3::min);
    (least, corners(&hi).into_iter().chain(rest).fold(Vec3::MIN, Vec3::max))
}

/// Per vertex its welded vertex, and per welded vertex its first one.
struct Joined {
    welded: Arc<[u32]>,
    first: Arc<[u32]>,
}

/// Joins each position to the first one within the tolerance.
fn join(positions: &[Vec3], tolerance: f32, cx: &Cx) -> Result<Joined> {
    let mut welded: Arc<[u32]> = repeat_n(0, positions.len()).collect();
    let to = Arc::make_mut(&mut welded);
    let mut first: Vec<u32> = Vec::with_capacity(positions.len());
    let mut grid = Grid::new(positions.len());
    let cells = (tolerance > 0.0).then(|| Cells::of(positions, tolerance));
    let reach = tolerance * tolerance;
    let mut hashes = [0u64; GROUP];
    let mut borders = [false; GROUP];
    for (block, chunk) in positions.chunks(BLOCK).enumerate() {
        cx.check()?;
        cx.progress(0.6 * (block * BLOCK) as f32 / positions.len() as f32);
        for (group, points) in chunk.chunks(GROUP).enumerate() {
            for ((hash, border), &p) in hashes.iter_mut().zip(&mut borders).zip(points) {
                (*hash, *border) = cells.as_ref().map_or_else(|| (hash_bits(p), false), |cells| cells.hash(p));
            }
            grid.warm(&hashes[..points.len()]);
            let start = block * BLOCK + group * GROUP;
            for (k, &p) in points.iter().enumerate() {
                let near = |q: Vec3| if cells.is_some() { q.distance_squared(p) <= reach } else { q == p };
                let found = match &cells {
                    Some(cells) if borders[k] => cells.around(p, |hash| grid.find(hash, positions, near)),
                    _ => grid.find(hashes[k], positions, near),
                };
                to[start + k] = match found {
                    Some(vertex) => to[vertex as usize],
                    None => {
                        grid.insert(hashes[k], (start + k) as u32);
                        first.push((start + k) as u32);
                        first.len() as u32 - 1
                    }
                };
            }
        }
    }
    Ok(Joined { welded, first: first.into() })
}

/// The kept triangles under one least corner: the newest of them, and a bit for each by its other corners.
#[derive(Clone, Copy)]
struct Fan {
    newest: u32,
    filter: u32,
}

/// Triangles over welded vertices, in their order, without those that have no area left or come a second time (in whatever
/// order of corners).
fn clean_triangles(triangles: &[[u32; 3]], welded: &[u32], vertices: usize, cx: &Cx) -> Result<Arc<[[u32; 3]]>> {
    // Triangles are listed under their least corner; with that one, the greatest corner and the sum tell them apart. The bits
    // spare almost every triangle a look at the list.
    let other = |&[a, b, c]: &[u32; 3]| (a.max(b).max(c), a.wrapping_add(b).wrapping_add(c));
    let mut fans = vec![Fan { newest: NONE, filter: 0 }; vertices];
    let mut all: Arc<[[u32; 3]]> = repeat_n([0; 3], triangles.len()).collect();
    let kept = Arc::make_mut(&mut all);
    let mut count = 0usize;
    let mut older: Vec<u32> = Vec::with_capacity(triangles.len());
    let mut great: HashSet<(u32, u32, u32)> = HashSet::new();
    for chunk in triangles.chunks(BLOCK) {
        cx.check()?;
        for &[a, b, c] in chunk {
            let t = [welded[a as usize], welded[b as usize], welded[c as usize]];
            if t[0] == t[1] || t[1] == t[2] || t[0] == t[2] {
                continue;
            }
            let least = t[0].min(t[1]).min(t[2]);
            let (most, sum) = other(&t);
            let bit = 1u32 << ((most ^ sum.rotate_left(16)).wrapping_mul(0x9e37_79b9) >> 27);
            let fan = &mut fans[least as usize];
            let mut listed = true;
            if fan.filter & bit != 0 {
                let (mut at, mut steps) = (fan.newest, 0);
                while at != NONE && other(&kept[at as usize]) != (most, sum) {
                    at = older[at as usize];
                    steps += 1;
                }
                // A fan of very many triangles is looked up instead of looked through.
                listed = steps < FAN;
                if at != NONE || (!listed && !great.insert((least, most, sum))) {
                    continue;
                }
            }
            if listed {
                older.push(fan.newest);
                *fan = Fan { newest: count as u32, filter: fan.filter | bit };
            } else {
                older.push(NONE);
            }
            kept[count] = t;
            count += 1;
        }
    }
    Ok(if count == all.len() { all } else { Arc::from(&all[..count]) })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A cube whose corners are split per face: 24 vertices, 8 places.
    fn split_cube(at: Vec3, size: f32) -> (Vec<Vec3>, Vec<[u32; 3]>) {
        let (mut positions, mut triangles) = (Vec::new(), Vec::new());
        for axis in 0..3 {
            for side in 0..2 {
                let start = positions.len() as u32;
                for (u, v) in [(0, 0), (1, 0), (1, 1), (0, 1)] {
                    let mut corner = [0.0; 3];
                    corner[axis] = side as f32;
                    corner[(axis + 1) % 3] = u as f32;
                    corner[(axis + 2) % 3] = v as f32;
                    positions.push(at + Vec3::from(corner) * size);
                }
                triangles.extend([[start, start + 1, start + 2], [start, start + 2, start + 3]]);
            }
        }
        (positions, triangles)
    }

    #[test]
    fn a_split_cube_is_one_piece_of_eight_vertices() {
        let (positions, triangles) = split_cube(Vec3::ZERO, 1.0);
        let weld = weld_positions(&positions, &triangles, 1e-6, &Cx::detached()).unwrap();
        assert_eq!((weld.welded.len(), weld.first.len(), weld.triangles.len()), (24, 8, 12));
        for (vertex, &w) in weld.welded.iter().enumerate() {
            assert_eq!(positions[weld.first[w as usize] as usize], positions[vertex]);
        }
        assert_eq!(&weld.first[..4], [0, 1, 2, 3], "numbered by first appearance");
    }

    #[test]
    fn no_cell_border_keeps_two_near_vertices_apart() {
        // Pairs half a tolerance apart, at places that sweep over many cell borders.
        let step = 0.37e-5;
        let mut positions = Vec::new();
        for k in 0..4000 {
            let p = Vec3::new(k as f32 * step, (k % 61) as f32 * 0.013, 1.0);
            positions.extend([p, p + Vec3::new(0.5e-6, -0.3e-6, 0.0)]);
        }
        let weld = weld_positions(&positions, &[], 1e-6, &Cx::detached()).unwrap();
        assert_eq!(weld.first.len(), 4000);
        assert!(weld.welded.chunks(2).all(|pair| pair[0] == pair[1]));
    }

    #[test]
    fn tolerance_zero_joins_equal_positions_only() {
        let positions = [Vec3::ZERO, Vec3::new(-0.0, 0.0, 0.0), Vec3::new(1e-30, 0.0, 0.0)];
        let weld = weld_positions(&positions, &[], 0.0, &Cx::detached()).unwrap();
        assert_eq!(&*weld.welded, [0, 0, 1]);
    }

    #[test]
    fn degenerate_and_repeated_triangles_are_dropped() {
        let positions = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::ZERO];
        let triangles = [[0, 1, 2], [0, 1, 3], [2, 1, 3], [1, 2, 0], [0, 0, 1]];
        let weld = weld_positions(&positions, &triangles, 1e-6, &Cx::detached()).unwrap();
        assert_eq!(&*weld.triangles, [[0, 1, 2]]);
    }

    #[test]
    fn repeated_triangles_of_a_great_fan_are_dropped() {
        let positions: Vec<Vec3> = (0..502).map(|k| Vec3::new(k as f32, (k * k % 97) as f32, 0.0)).collect();
        let fan: Vec<[u32; 3]> = (1..501).map(|k| [0, k, k + 1]).collect();
        let twice: Vec<[u32; 3]> = fan.iter().copied().chain(fan.iter().map(|t| [t[2], t[0], t[1]])).collect();
        let weld = weld_positions(&positions, &twice, 1e-6, &Cx::detached()).unwrap();
        assert_eq!(&*weld.triangles, fan);
    }

    #[test]
    fn a_wide_tolerance_stays_quick_and_keeps_vertices_near_their_place() {
        let positions: Vec<Vec3> = (0..20_000).map(|k| Vec3::new((k % 141) as f32, (k / 141) as f32, 0.0)).collect();
        let weld = weld_positions(&positions, &[], 10.0, &Cx::detached()).unwrap();
        assert!(weld.first.len() < 400);
        for (vertex, &w) in weld.welded.iter().enumerate() {
            assert!(positions[weld.first[w as usize] as usize].distance(positions[vertex]) <= 10.0);
        }
    }

    #[test]
    fn a_cancelled_run_ends_as_cancelled() {
        let cx = Cx::detached();
        cx.cancel();
        assert!(weld_positions(&[Vec3::ZERO], &[], 1e-6, &cx).unwrap_err().is_cancelled());
    }
}
