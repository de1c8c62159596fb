//! Distance across shells that share no edge: fur over skin, loose specks, a tail in pieces (`tail-3d.md` A7, B2).
//!
//! The nearest unreached shells take their distance from the reached ones. Where a shell *faces* a reached one, each of
//! its vertices reads the distance of the nearest reached vertex, corrected by how much further along the tail it lies:
//! over a concentric shell the distance is then continuous. The rest of the shell follows by Dijkstra from there, so that
//! a piece that goes on where another ends is measured along its own surface.

use glam::{DVec3, Vec3};
use rayon::prelude::*;
use sinew_graph::{Cx, NodeError, Result};

use super::geodesic::spread;
use super::nearest::Nearest;
use super::patch::{Patch, STRIDE};

/// Shells up to this many times the least gap away are reached in the same round.
const SAME_ROUND: f32 = 2.0;

/// A vertex faces the reached shell if it is at most this many times as far from it as the nearest vertex of its shell is
/// from the same place.
const FACING: f32 = 2.0;

/// After this many rounds all that is left is reached at once: bounds the time on dust.
const ROUNDS: usize = 64;

/// Bands along the reached part that give it a direction.
const BANDS: usize = 24;

/// What had to be bridged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bridged {
    /// Shells that no edge connects with the collar.
    pub shells: usize,
    /// Their vertices.
    pub vertices: usize,
}

/// Gives every vertex that `distance` has not reached (infinite) a finite distance. Something must be reached already.
pub fn bridge(patch: &Patch, distance: &mut [f32], cx: &Cx) -> Result<Bridged> {
    let mut islands = islands(patch, distance);
    if islands.is_empty() {
        return Ok(Bridged::default());
    }
    let bridged = Bridged { shells: islands.len(), vertices: islands.iter().map(|i| i.vertices.len()).sum() };
    let mut fresh: Vec<u32> = (0..distance.len() as u32).filter(|&v| distance[v as usize].is_finite()).collect();
    let edge = patch.mean_edge();
    let mut gaps = vec![f32::INFINITY; patch.positions.len()];
    for round in 1.. {
        if islands.is_empty() {
            break;
        }
        let tree = Nearest::new(fresh.iter().map(|&v| (patch.positions[v as usize], v)).collect());
        for island in &mut islands {
            island.approach(patch, &tree, cx)?;
        }
        let least = islands.iter().map(|island| island.gap).fold(f32::INFINITY, f32::min);
        if !least.is_finite() {
            return Err(NodeError::new("nothing of the region touches its collar")
                .at("regions")
                .help("connect the output of the collar node"));
        }
        let reach = if round < ROUNDS { (least * SAME_ROUND).max(least + edge) } else { f32::INFINITY };
        let (now, later) = islands.into_iter().partition(|island| island.gap <= reach);
        islands = later;
        fresh.clear();
        let direction = Direction::of(patch, distance);
        for island in now {
            let seeds = island.seeds(patch, distance, &direction, edge, &mut gaps);
            for &(vertex, d) in &seeds {
                distance[vertex as usize] = d;
            }
            let from = seeds.iter().map(|&(vertex, _)| vertex);
            spread(&patch.graph, |v| patch.positions[v as usize], distance, from, f32::INFINITY, |_| true, cx)?;
            fresh.extend(&island.vertices);
        }
    }
    Ok(bridged)
}

/// A connected part that is not reached yet.
struct Island {
    vertices: Vec<u32>,
    /// Per vertex the nearest reached vertex and how far it is.
    nearest: Vec<(u32, f32)>,
    /// The least of these distances.
    gap: f32,
}

impl Island {
    /// Takes vertices reached in the last round into account.
    fn approach(&mut self, patch: &Patch, tree: &Nearest, cx: &Cx) -> Result<()> {
        for (vertices, nearest) in self.vertices.chunks(STRIDE / 2).zip(self.nearest.chunks_mut(STRIDE / 2)) {
            cx.check()?;
            nearest.par_chunks_mut(1024).zip(vertices.par_chunks(1024)).for_each(|(nearest, vertices)| {
                // The nearest one of the last vertex is a good guess for the next.
                let mut guess = None;
                for (nearest, &v) in nearest.iter_mut().zip(vertices) {
                    let at = patch.positions[v as usize];
                    let known = (nearest.1 * nearest.1, nearest.0);
                    let guessed = guess.map_or(known, |to| (patch.positions[to as usize].distance_squared(at), to));
                    let found = tree.find(at, if guessed < known { guessed } else { known });
                    if found.0 < known.0 {
                        *nearest = (found.1, found.0.sqrt());
                        guess = Some(found.1);
                    }
                }
            });
        }
        self.gap = self.nearest.iter().map(|&(_, d)| d).fold(self.gap, f32::min);
        Ok(())
    }

    /// The vertices that face what is reached, with their distances. `gaps` is scratch space, infinite before and after.
    fn seeds(
        &self,
        patch: &Patch,
        distance: &[f32],
        direction: &Direction,
        edge: f32,
        gaps: &mut [f32],
    ) -> Vec<(u32, f32)> {
        for &(to, d) in &self.nearest {
            gaps[to as usize] = gaps[to as usize].min(d);
        }
        let faces = |&(_, (to, d)): &(u32, (u32, f32))| d <= FACING * gaps[to as usize] + edge;
        let pairs = self.vertices.iter().copied().zip(self.nearest.iter().copied());
        let seed = |(vertex, (to, d)): (u32, (u32, f32))| {
            let start = distance[to as usize];
            let further = match direction.at(start) {
                Some(along) => (patch.positions[vertex as usize] - patch.positions[to as usize]).dot(along),
                None => d,
            };
            (vertex, (start + further).max(0.0))
        };
        let seeds = pairs.filter(faces).map(seed).collect();
        for &(to, _) in &self.nearest {
            gaps[to as usize] = f32::INFINITY;
        }
        seeds
    }
}

fn islands(patch: &Patch, distance: &[f32]) -> Vec<Island> {
    let mut seen: Vec<bool> = distance.iter().map(|d| d.is_finite()).collect();
    let mut islands = Vec::new();
    for start in 0..patch.positions.len() as u32 {
        if std::mem::replace(&mut seen[start as usize], true) {
            continue;
        }
        let mut vertices = vec![start];
        let mut next = 0;
        while let Some(&vertex) = vertices.get(next) {
            next += 1;
            for &to in patch.graph.neighbours(vertex) {
                if !std::mem::replace(&mut seen[to as usize], true) {
                    vertices.push(to);
                }
            }
        }
        let nearest = vec![(u32::MAX, f32::INFINITY); vertices.len()];
        islands.push(Island { vertices, nearest, gap: f32::INFINITY });
    }
    islands
}

/// Which way the reached part runs, by distance: the mean gradient of the distance over its surface, in bands. Around a
/// tube all but the direction along it cancels out, also where a bend tilts the lines of equal distance.
struct Direction {
    longest: f32,
    bands: Vec<Option<Vec3>>,
}

impl Direction {
    fn of(patch: &Patch, distance: &[f32]) -> Self {
        let longest = distance.iter().copied().filter(|d| d.is_finite()).fold(0.0, f32::max);
        let mut sums = [DVec3::ZERO; BANDS];
        for corners in &patch.triangles {
            let [a, b, c] = corners.map(|v| distance[v as usize]);
            let mean = (a + b + c) / 3.0;
            if longest > 0.0 && mean.is_finite() {
                sums[band(mean, longest)] += slope(corners.map(|v| patch.positions[v as usize]), b - a, c - a);
            }
        }
        Self { longest, bands: sums.iter().map(|sum| sum.as_vec3().try_normalize()).collect() }
    }

    /// Unit direction away from the collar at a distance; none if only the collar is reached.
    fn at(&self, distance: f32) -> Option<Vec3> {
        let here = band(distance, self.longest);
        let below = self.bands[..=here].iter().rev();
        below.chain(&self.bands[here..]).find_map(|&direction| direction)
    }
}

fn band(distance: f32, longest: f32) -> usize {
    ((distance / longest * BANDS as f32) as usize).min(BANDS - 1)
}

/// The direction in which a distance rises over a triangle, as long as the triangle's area; `b` and `c` are how much
/// further the second and third corner are than the first.
fn slope([p, q, r]: [Vec3; 3], b: f32, c: f32) -> DVec3 {
    let (q, r) = ((q - p).as_dvec3(), (r - p).as_dvec3());
    let normal = q.cross(r);
    let gradient = (r * f64::from(b) - q * f64::from(c)).cross(normal);
    gradient.normalize_or_zero() * normal.length()
}
