//! Distance along the mesh: the least way over edges weighted by length (`tail-3d.md` B2).
//!
//! A vertex is asked again whenever its distance falls (L. R. Ford's rule), in waves of about the same distance instead of
//! strictly one after the other: few are asked twice, and the neighbours of many come into the cache at once. The order does
//! not matter for the outcome: sums of lengths round upwards or downwards alike on every way, so that the least one is the
//! same to the bit.

use glam::Vec3;
use sinew_graph::{Cx, Result};

use super::heap::RadixHeap;
use super::patch::STRIDE;
use crate::rig::sweep::graph::Graph;

/// Vertices whose neighbours are brought into the cache at once.
const GROUP: usize = 16;

/// Lowers `distance` to the least distance over edges from `sources`, whose own distances are set, where that is at most
/// `limit`. Ways lead over vertices that `inside` allows. Vertices that no way reaches keep theirs: infinite, if never set.
pub fn spread(
    graph: &Graph,
    place: impl Fn(u32) -> Vec3,
    distance: &mut [f32],
    sources: impl Iterator<Item = u32>,
    limit: f32,
    inside: impl Fn(u32) -> bool,
    cx: &Cx,
) -> Result<()> {
    let mut heap = RadixHeap::new();
    for source in sources {
        heap.push(distance[source as usize], source);
    }
    let mut wave = Vec::new();
    let mut taken = 0usize;
    loop {
        heap.take(&mut wave);
        if wave.is_empty() {
            return Ok(());
        }
        for group in wave.chunks(GROUP) {
            std::hint::black_box(group.iter().fold(0, |sum, &(_, vertex)| sum ^ graph.touch(vertex)));
            for &(d, vertex) in group {
                if d > distance[vertex as usize] {
                    continue;
                }
                taken += 1;
                if taken.is_multiple_of(STRIDE / 4) {
                    cx.check()?;
                }
                let at = place(vertex);
                for &to in graph.neighbours(vertex) {
                    let known = distance[to as usize];
                    // Measured at once: a guess whether it is worth it costs more than the square root when it is wrong.
                    let through = d + at.distance(place(to));
                    if through < known && through <= limit && inside(to) {
                        distance[to as usize] = through;
                        heap.push(through, to);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_follow_the_edges_up_to_the_limit() {
        // A strip of unit squares, each cut along its rising diagonal.
        let positions: Vec<Vec3> = (0..10).map(|v| Vec3::new((v / 2) as f32, (v % 2) as f32, 0.0)).collect();
        let triangles: Vec<[u32; 3]> =
            (0..4).flat_map(|k| [[2 * k, 2 * k + 2, 2 * k + 3], [2 * k, 2 * k + 3, 2 * k + 1]]).collect();
        let graph = Graph::of_first(10, &triangles);
        let from_first = |limit: f32, inside: fn(u32) -> bool| {
            let mut distance = vec![f32::INFINITY; 10];
            distance[0] = 0.0;
            spread(&graph, |v| positions[v as usize], &mut distance, [0].into_iter(), limit, inside, &Cx::detached())
                .unwrap();
            distance
        };
        let d = from_first(f32::INFINITY, |_| true);
        assert_eq!((d[8], d[1]), (4.0, 1.0));
        assert!((d[9] - (3.0 + 2f32.sqrt())).abs() < 1e-6);
        let near = from_first(2.0, |v| v % 2 == 0);
        assert_eq!((near[4], near[6], near[1]), (2.0, f32::INFINITY, f32::INFINITY));
    }
}
