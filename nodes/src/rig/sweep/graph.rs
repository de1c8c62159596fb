//! Edges of a welded mesh as an adjacency list, and distances along them.

use glam::Vec3;
use sinew_graph::{Cx, Result};

use crate::data::{Region, Weld};
use crate::rig::chain::heap::RadixHeap;

/// Per vertex: whether it is one of some.
pub fn marked(vertices: usize, some: &[u32]) -> Vec<bool> {
    let mut marked = vec![false; vertices];
    some.iter().for_each(|&v| marked[v as usize] = true);
    marked
}

/// Neighbours of each vertex.
#[derive(Clone, Debug)]
pub struct Graph {
    starts: Vec<u32>,
    to: Vec<u32>,
}

impl Graph {
    /// The edges of the triangles that touch a region: all that there is to know of the regions' own vertices, without the rest
    /// of the skin.
    pub fn around(regions: &[Region], weld: &Weld) -> Self {
        let mut inside = vec![false; weld.first.len()];
        regions.iter().flat_map(|region| region.vertices.iter()).for_each(|&v| inside[v as usize] = true);
        let touches = |t: &&[u32; 3]| t.iter().any(|&v| inside[v as usize]);
        let triangles: Vec<[u32; 3]> = weld.triangles.iter().filter(touches).copied().collect();
        Self::of(weld.first.len(), &triangles)
    }

    /// The edges of some triangles. An edge of two triangles is listed twice.
    pub fn of(vertices: usize, triangles: &[[u32; 3]]) -> Self {
        let mut starts = vec![0u32; vertices + 2];
        for &v in triangles.iter().flatten() {
            starts[v as usize + 2] += 2;
        }
        for k in 1..starts.len() {
            starts[k] += starts[k - 1];
        }
        let mut to = vec![0; triangles.len() * 6];
        for t in triangles {
            for k in 0..3 {
                let at = &mut starts[t[k] as usize + 1];
                to[*at as usize] = t[(k + 1) % 3];
                to[*at as usize + 1] = t[(k + 2) % 3];
                *at += 2;
            }
        }
        starts.pop();
        Self { starts, to }
    }

    /// The neighbours of a vertex; some come twice.
    pub fn neighbours(&self, vertex: u32) -> &[u32] {
        &self.to[self.starts[vertex as usize] as usize..self.starts[vertex as usize + 1] as usize]
    }

    /// The triangles at a vertex, each as its other two corners.
    pub fn fans(&self, vertex: u32) -> impl Iterator<Item = [u32; 2]> + '_ {
        self.neighbours(vertex).chunks_exact(2).map(|pair| [pair[0], pair[1]])
    }

    /// The least way along edges from any of `sources` to each vertex, up to `limit`; infinite beyond. Ways lead over
    /// vertices that `inside` allows.
    pub fn distances(
        &self,
        positions: impl Fn(u32) -> Vec3,
        sources: &[u32],
        limit: f32,
        inside: impl Fn(u32) -> bool,
        cx: &Cx,
    ) -> Result<Vec<f32>> {
        let mut distance = vec![f32::INFINITY; self.starts.len() - 1];
        let mut queue = RadixHeap::new();
        for &source in sources {
            distance[source as usize] = 0.0;
            queue.push(0.0, source);
        }
        let mut steps = 0usize;
        while let Some((here, v)) = queue.pop() {
            steps += 1;
            if steps.is_multiple_of(1 << 14) {
                cx.check()?;
            }
            if here > distance[v as usize] {
                continue;
            }
            let p = positions(v);
            for &u in self.neighbours(v) {
                // A settled neighbour costs no square root.
                if distance[u as usize] > here && inside(u) {
                    let there = here + p.distance(positions(u));
                    if there < distance[u as usize] && there <= limit {
                        distance[u as usize] = there;
                        queue.push(there, u);
                    }
                }
            }
        }
        Ok(distance)
    }

    /// The connected pieces: per vertex, the number of its piece, by first appearance.
    pub fn pieces(&self) -> Vec<u32> {
        let mut piece = vec![u32::MAX; self.starts.len() - 1];
        let mut count = 0;
        let mut stack = Vec::new();
        for v in 0..piece.len() as u32 {
            if piece[v as usize] != u32::MAX {
                continue;
            }
            piece[v as usize] = count;
            stack.push(v);
            while let Some(at) = stack.pop() {
                for &u in self.neighbours(at) {
                    if piece[u as usize] == u32::MAX {
                        piece[u as usize] = count;
                        stack.push(u);
                    }
                }
            }
            count += 1;
        }
        piece
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_follow_the_edges() {
        // A strip of unit squares, each cut along its rising diagonal.
        let at = |v: u32| Vec3::new((v / 2) as f32, (v % 2) as f32, 0.0);
        let triangles: Vec<[u32; 3]> =
            (0..4).flat_map(|k| [[2 * k, 2 * k + 2, 2 * k + 3], [2 * k, 2 * k + 3, 2 * k + 1]]).collect();
        let graph = Graph::of(10, &triangles);
        let d = graph.distances(at, &[0], f32::INFINITY, |_| true, &Cx::detached()).unwrap();
        assert_eq!((d[8], d[1]), (4.0, 1.0));
        assert!((d[9] - (3.0 + 2f32.sqrt())).abs() < 1e-6);
        let near = graph.distances(at, &[0], 2.0, |v| v % 2 == 0, &Cx::detached()).unwrap();
        assert_eq!((near[4], near[6], near[1]), (2.0, f32::INFINITY, f32::INFINITY));
    }

    #[test]
    fn pieces_are_what_edges_connect() {
        assert_eq!(Graph::of(7, &[[0, 1, 2], [4, 5, 6], [2, 1, 3]]).pieces(), [0, 0, 0, 0, 1, 1, 1]);
    }
}
