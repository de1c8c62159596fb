//! Weights of a body: falling with the distance to a joint's own solids, and only from the joint that rules a place to
//! its neighbours in the skeleton, so that nothing leaks from one leg to the other through the air between them.

use glam::DVec3;
use sinew_graph::{Cx, Result};

use super::solid::Blob;
use super::surface::Surface;

/// Up to four joints with their weights; the weights fall and sum to 1.
pub type Influences = [(u16, f32); 4];

/// The four largest of some weights, as a sum of 1.
pub fn influences(weights: impl IntoIterator<Item = (usize, f64)>) -> Influences {
    let mut all: Vec<(usize, f64)> = weights.into_iter().filter(|&(_, w)| w > 1e-4).collect();
    all.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    all.truncate(4);
    let sum: f64 = all.iter().map(|&(_, w)| w).sum();
    let mut out = [(0, 0.0); 4];
    for (slot, (joint, weight)) in out.iter_mut().zip(all) {
        *slot = (joint as u16, (weight / sum) as f32);
    }
    // What rounding took goes to the largest, so that files add up to 1.
    out[0].1 = 1.0 - out[1].1 - out[2].1 - out[3].1;
    out
}

/// The weights of a body's skin. `reach` is how far a joint works beyond its own solids, metres.
pub fn body(
    surface: &Surface,
    blobs: &[Blob],
    parents: &[Option<usize>],
    reach: f64,
    cx: &Cx,
) -> Result<Vec<Influences>> {
    let joints = parents.len();
    // Asking every few hundred vertices keeps a cancelled run from going on.
    let polled = |v: usize| if v.is_multiple_of(256) { cx.check() } else { Ok(()) };
    let mut all: Vec<Vec<f64>> = Vec::with_capacity(surface.positions.len());
    for (v, &p) in surface.positions.iter().enumerate() {
        polled(v)?;
        all.push(falloff(p, blobs, parents, reach));
    }
    // Smoothing over the skin, not through space.
    let mut neighbours = vec![Vec::new(); surface.positions.len()];
    for t in &surface.triangles {
        for k in 0..3 {
            neighbours[t[k] as usize].push(t[(k + 1) % 3] as usize);
        }
    }
    for _ in 0..6 {
        all = (0..all.len())
            .map(|v| {
                polled(v)?;
                let mut sum: Vec<f64> = all[v].iter().map(|w| w * 2.0).collect();
                for &n in &neighbours[v] {
                    (0..joints).for_each(|j| sum[j] += all[n][j]);
                }
                let count = 2.0 + neighbours[v].len() as f64;
                sum.iter_mut().for_each(|w| *w /= count);
                Ok(sum)
            })
            .collect::<Result<_>>()?;
    }
    Ok(all.into_iter().map(|weights| influences(weights.into_iter().enumerate())).collect())
}

fn falloff(p: DVec3, blobs: &[Blob], parents: &[Option<usize>], reach: f64) -> Vec<f64> {
    let mut distances = vec![f64::MAX; parents.len()];
    for blob in blobs.iter().filter(|blob| !blob.carve) {
        let d = &mut distances[blob.joint];
        *d = d.min(blob.shape.distance(p));
    }
    let ruler = (0..distances.len()).min_by(|&a, &b| distances[a].total_cmp(&distances[b])).unwrap_or(0);
    let weight = |j: usize| {
        let beside = j == ruler || parents[j] == Some(ruler) || parents[ruler] == Some(j);
        let near = 1.0 - (distances[j] - distances[ruler]) / reach;
        if beside { near.max(0.0) * near.max(0.0) } else { 0.0 }
    };
    let weights: Vec<f64> = (0..parents.len()).map(weight).collect();
    let sum: f64 = weights.iter().sum();
    weights.into_iter().map(|w| w / sum).collect()
}
