//! Distance along the mesh from a collar: Dijkstra over edges weighted by length (`tail-3d.md` B2).

use sinew_graph::{Cx, Result};

use super::heap::RadixHeap;
use super::patch::{Patch, STRIDE};

/// Lowers `distance` to the least distance over edges from `sources`, whose own distances are set. Vertices that no path
/// reaches keep theirs: infinite, if never set.
pub fn spread(patch: &Patch, distance: &mut [f32], sources: impl Iterator<Item = u32>, cx: &Cx) -> Result<()> {
    let mut heap = RadixHeap::new();
    for source in sources {
        heap.push(distance[source as usize], source);
    }
    let mut taken = 0usize;
    while let Some((d, vertex)) = heap.pop() {
        if d > distance[vertex as usize] {
            continue;
        }
        taken += 1;
        if taken.is_multiple_of(STRIDE) {
            cx.check()?;
        }
        let at = patch.positions[vertex as usize];
        for &to in patch.links(vertex).as_flattened() {
            let known = &mut distance[to as usize];
            // A settled neighbour costs no square root.
            if *known > d {
                let through = d + at.distance(patch.positions[to as usize]);
                if through < *known {
                    *known = through;
                    heap.push(through, to);
                }
            }
        }
    }
    Ok(())
}
