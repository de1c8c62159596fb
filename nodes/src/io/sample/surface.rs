//! The skin of blended solids as a mesh: naive surface nets (Gibson 1998) on a grid, each vertex then moved onto the
//! surface. Blocks that the surface does not pass are skipped, and within a block only solids near it are asked.

use glam::{DVec3, IVec3};
use sinew_graph::{Cx, Result};

use super::solid::{self, Blob};

/// Positions, normals and triangles.
#[derive(Debug, Default)]
pub struct Surface {
    pub positions: Vec<DVec3>,
    pub normals: Vec<DVec3>,
    pub triangles: Vec<[u32; 3]>,
}

const BLOCK: i32 = 8;

/// Meshes the surface of `blobs` with cells of a given size.
pub fn surface(blobs: &[Blob], cell: f64, cx: &Cx) -> Result<Surface> {
    let grid = Grid::sample(blobs, cell, cx)?;
    let mut surface = Surface::default();
    let mut vertex_of = vec![u32::MAX; grid.values.len()];
    for (number, at) in grid.cells() {
        if at.x == 0 && at.y == 0 {
            cx.check()?;
        }
        if let Some(near) = grid.crossing(at) {
            let (p, n) = settle(blobs, near, cell);
            vertex_of[number] = surface.positions.len() as u32;
            surface.positions.push(p);
            surface.normals.push(n);
        }
    }
    for (number, at) in grid.cells() {
        for axis in 0..3 {
            let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
            if at[u] == 0 || at[v] == 0 {
                continue;
            }
            let step = grid.steps;
            let (inside, beyond) = (grid.values[number] < 0.0, grid.values[number + step[axis]] < 0.0);
            if inside == beyond {
                continue;
            }
            let quad = [number, number - step[u], number - step[u] - step[v], number - step[v]].map(|k| vertex_of[k]);
            let [a, b, c, d] = if inside { quad } else { [quad[3], quad[2], quad[1], quad[0]] };
            let p = |k: u32| surface.positions[k as usize];
            let short = p(a).distance_squared(p(c)) <= p(b).distance_squared(p(d));
            surface.triangles.extend(if short { [[a, b, c], [a, c, d]] } else { [[a, b, d], [b, c, d]] });
        }
    }
    relax(&mut surface, blobs, cell, cx)?;
    Ok(surface)
}

/// Evens the mesh out: vertices move to the middle of their neighbours and back onto the surface, so that no edge is left
/// so short that it seems to stretch.
fn relax(surface: &mut Surface, blobs: &[Blob], cell: f64, cx: &Cx) -> Result<()> {
    for _ in 0..3 {
        let mut sums = vec![(DVec3::ZERO, 0.0); surface.positions.len()];
        for t in &surface.triangles {
            for k in 0..3 {
                let sum = &mut sums[t[k] as usize];
                *sum = (sum.0 + surface.positions[t[(k + 1) % 3] as usize], sum.1 + 1.0);
            }
        }
        for (v, (sum, count)) in sums.into_iter().enumerate() {
            if v % 256 == 0 {
                cx.check()?;
            }
            if count > 0.0 {
                let (p, n) = settle(blobs, surface.positions[v].lerp(sum / count, 0.5), cell);
                (surface.positions[v], surface.normals[v]) = (p, n);
            }
        }
    }
    Ok(())
}

/// Moves a point onto the surface, at most a cell; gives the normal there.
fn settle(blobs: &[Blob], start: DVec3, cell: f64) -> (DVec3, DVec3) {
    // Solids further off than this change nothing within a cell of the point.
    let near: Vec<&Blob> = blobs
        .iter()
        .filter(|blob| {
            let (centre, radius) = blob.shape.ball();
            centre.distance(start) < radius + blob.blend + 4.0 * cell
        })
        .collect();
    let near = || near.iter().copied();
    let gradient = |p: DVec3| {
        let slope = |axis: DVec3| solid::distance(near(), p + axis * 5e-4) - solid::distance(near(), p - axis * 5e-4);
        DVec3::new(slope(DVec3::X), slope(DVec3::Y), slope(DVec3::Z)).try_normalize().unwrap_or(DVec3::Y)
    };
    let mut p = start;
    for _ in 0..2 {
        p -= gradient(p) * solid::distance(near(), p).clamp(-0.5 * cell, 0.5 * cell);
    }
    (p, gradient(p))
}

struct Grid {
    origin: DVec3,
    cell: f64,
    size: IVec3,
    steps: [usize; 3],
    values: Vec<f32>,
}

impl Grid {
    fn sample(blobs: &[Blob], cell: f64, cx: &Cx) -> Result<Self> {
        let (mut low, mut high) = (DVec3::splat(f64::MAX), DVec3::splat(f64::MIN));
        for blob in blobs.iter().filter(|blob| !blob.carve) {
            let (centre, radius) = blob.shape.ball();
            low = low.min(centre - radius);
            high = high.max(centre + radius);
        }
        let origin = low - 2.5 * cell;
        let blocks = ((high - origin) / (cell * f64::from(BLOCK))).ceil().as_ivec3() + 1;
        let size = blocks * BLOCK;
        let steps = [1, size.x as usize, (size.x * size.y) as usize];
        let mut grid = Self { origin, cell, size, steps, values: vec![1.0; (size.x * size.y * size.z) as usize] };
        let reach = cell * f64::from(BLOCK) * 0.9;
        for block in 0..blocks.x * blocks.y * blocks.z {
            cx.check()?;
            let at = IVec3::new(block % blocks.x, block / blocks.x % blocks.y, block / (blocks.x * blocks.y)) * BLOCK;
            let centre = grid.point(at + BLOCK / 2);
            let near: Vec<Blob> = blobs
                .iter()
                .filter(|blob| {
                    let (c, r) = blob.shape.ball();
                    c.distance(centre) < r + blob.blend + reach
                })
                .copied()
                .collect();
            if !near.iter().any(|blob| !blob.carve) {
                continue;
            }
            for k in 0..BLOCK * BLOCK * BLOCK {
                let point = at + IVec3::new(k % BLOCK, k / BLOCK % BLOCK, k / (BLOCK * BLOCK));
                let number = grid.number(point);
                grid.values[number] = solid::distance(&near, grid.point(point)) as f32;
            }
        }
        Ok(grid)
    }

    fn point(&self, at: IVec3) -> DVec3 {
        self.origin + at.as_dvec3() * self.cell
    }

    fn number(&self, at: IVec3) -> usize {
        at.x as usize + at.y as usize * self.steps[1] + at.z as usize * self.steps[2]
    }

    /// Every cell that has eight corners.
    fn cells(&self) -> impl Iterator<Item = (usize, IVec3)> + use<'_> {
        let size = self.size - 1;
        (0..size.z).flat_map(move |z| {
            (0..size.y).flat_map(move |y| {
                (0..size.x).map(move |x| {
                    let at = IVec3::new(x, y, z);
                    (self.number(at), at)
                })
            })
        })
    }

    /// The mean of where the surface crosses the edges of a cell.
    fn crossing(&self, at: IVec3) -> Option<DVec3> {
        let offsets: [usize; 8] =
            [0, 1, 2, 3, 4, 5, 6, 7].map(|c| (0..3).filter(|a| c >> a & 1 == 1).map(|a| self.steps[a]).sum());
        let number = self.number(at);
        let values = offsets.map(|offset| f64::from(self.values[number + offset]));
        let (mut sum, mut count) = (DVec3::ZERO, 0.0);
        for corner in 0..8usize {
            for axis in (0..3).filter(|axis| corner >> axis & 1 == 0) {
                let (a, b) = (values[corner], values[corner | 1 << axis]);
                if (a < 0.0) != (b < 0.0) {
                    let mut p = DVec3::new((corner & 1) as f64, (corner >> 1 & 1) as f64, (corner >> 2) as f64);
                    p[axis] = a / (a - b);
                    sum += p;
                    count += 1.0;
                }
            }
        }
        (count > 0.0).then(|| self.point(at) + sum / count * self.cell)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use glam::DQuat;

    use super::super::solid::Shape;
    use super::*;

    #[test]
    fn a_ball_is_closed_round_and_faces_outward() {
        let shape = Shape::Egg { centre: DVec3::new(0.1, 0.2, 0.3), radii: DVec3::splat(0.25), turn: DQuat::IDENTITY };
        let blob = Blob { shape, blend: 0.05, carve: false, joint: 0 };
        let ball = surface(&[blob], 0.02, &Cx::detached()).unwrap();
        let centre = DVec3::new(0.1, 0.2, 0.3);
        assert!(ball.positions.iter().all(|p| (p.distance(centre) - 0.25).abs() < 1e-6));
        let mut volume = 0.0;
        let mut edges = BTreeMap::new();
        for t in &ball.triangles {
            let [a, b, c] = t.map(|k| ball.positions[k as usize] - centre);
            volume += a.dot(b.cross(c)) / 6.0;
            for k in 0..3 {
                *edges.entry((t[k], t[(k + 1) % 3])).or_insert(0) += 1;
            }
        }
        let known = 4.0 / 3.0 * std::f64::consts::PI * 0.25f64.powi(3);
        assert!((volume / known - 1.0).abs() < 0.01, "{volume} {known}");
        assert!(edges.iter().all(|(&(a, b), &n)| n == 1 && edges.get(&(b, a)) == Some(&1)));
    }
}
