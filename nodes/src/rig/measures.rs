//! What can be measured of a region: how long, how slender, how far aside it is (`tail-3d.md` A6).

use glam::{DMat3, DVec3, Vec3};
use sinew_graph::{Cx, Result};

use super::anatomy::Segment;
use super::eigen;
use super::skeleton_distance::to_point;
use super::surface::Surface;
use crate::data::{Body, Region};

/// The widest border of what sticks out, as a share of the square root of its area: a flat patch has 3.5, half a sphere 2.5,
/// a stub half as long as it is wide 2.0.
pub const NECK: f32 = 2.0;

/// The measures of a region; lengths in file units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measures {
    /// The 99th percentile of the way along the skin from the collar, or the diameter where there is no way.
    pub extent: f32,
    /// `sqrt(l1 / l2)` of the covariance of the vertices.
    pub elongation: f32,
    /// The same along and across the region, unrolled: a curled tail is as slender as a straight one.
    pub unrolled: f32,
    /// The centroid's distance to the skeleton.
    pub away: f32,
    /// The mean distance of the skin to the skeleton.
    pub skin: f32,
    /// Length of the border over the square root of the area; 0 for a closed shell.
    pub neck: f32,
    /// The centroid.
    pub centroid: Vec3,
    /// The vertex furthest from the collar.
    pub tip: Vec3,
}

impl Measures {
    /// Measures a region that has its collar.
    pub fn of(region: &Region, body: &Body, surface: &mut Surface<'_>, segments: &[Segment], cx: &Cx) -> Result<Self> {
        let (along, neck) = (surface.along(region, cx)?, surface.neck(region));
        let place = |v: u32| surface.place(v);
        let count = region.vertices.len().max(1) as f64;
        let centre = region.vertices.iter().map(|&v| place(v).as_dvec3()).sum::<DVec3>() / count;
        let (mut covariance, mut furthest) = (DMat3::ZERO, 0.0f64);
        for &v in region.vertices.iter() {
            let r = place(v).as_dvec3() - centre;
            furthest = furthest.max(r.length());
            covariance += DMat3::from_cols(r * r.x, r * r.y, r * r.z);
        }
        let (values, axes) = eigen::symmetric(covariance * (1.0 / count));
        let extent = match percentile(&along, 0.99) {
            Some(length) if length > 0.0 => length,
            _ => span(region, place, axes[0].as_vec3()),
        };
        let tip = along.last().map_or_else(|| centre.as_vec3(), |&(_, v)| place(v));
        let centroid = centre.as_vec3();
        let skin = region
            .vertices
            .iter()
            .map(|&v| f64::from(body.distance.values[body.weld.first[v as usize] as usize]))
            .sum::<f64>()
            / count;
        Ok(Self {
            extent,
            elongation: ratio(values[0], values[1]),
            unrolled: unrolled(&along, place),
            away: to_point(centroid, segments),
            skin: skin as f32,
            neck,
            centroid,
            tip,
        })
    }

    /// The centroid's distance as a share of the extent.
    pub fn offset(&self) -> f32 {
        if self.extent > 0.0 { self.away / self.extent } else { 0.0 }
    }

    /// The centroid's distance as a share of that of the skin: near 0 for what wraps around its bones.
    pub fn aside(&self) -> f32 {
        if self.skin > 0.0 { self.away / self.skin } else { 0.0 }
    }
}

fn ratio(a: f64, b: f64) -> f32 {
    if a <= 0.0 {
        1.0
    } else if b <= a * 1e-8 {
        1e4
    } else {
        (a / b).sqrt() as f32
    }
}

fn percentile(sorted: &[(f32, u32)], share: f64) -> Option<f32> {
    let last = sorted.len().checked_sub(1)?;
    let at = share * last as f64;
    let (lo, hi) = (sorted[at.floor() as usize].0, sorted[at.ceil() as usize].0);
    Some(lo + (hi - lo) * at.fract() as f32)
}

/// The extent along an axis: the diameter of what is elongated.
fn span(region: &Region, place: impl Fn(u32) -> Vec3, axis: Vec3) -> f32 {
    let (lo, hi) = region.vertices.iter().fold((f32::MAX, f32::MIN), |(lo, hi), &v| {
        let x = place(v).dot(axis);
        (lo.min(x), hi.max(x))
    });
    (hi - lo).max(0.0)
}

/// Slices along the way from the collar.
const SLICES: usize = 24;

/// Elongation of the region as if it were straight: the spread along the way from the collar against the wider spread across
/// it, each slice about its own centre.
fn unrolled(along: &[(f32, u32)], place: impl Fn(u32) -> Vec3) -> f32 {
    let Some(&(length, _)) = along.last() else { return 1.0 };
    if length <= 0.0 {
        return 1.0;
    }
    let slice = |g: f32| ((g / length * SLICES as f32) as usize).min(SLICES - 1);
    let mut centres = [(DVec3::ZERO, 0.0f64); SLICES];
    let (mut mean, count) = (0.0f64, along.len() as f64);
    for &(g, v) in along {
        let centre = &mut centres[slice(g)];
        *centre = (centre.0 + place(v).as_dvec3(), centre.1 + 1.0);
        mean += f64::from(g) / count;
    }
    let (mut lengthwise, mut across) = (0.0f64, DMat3::ZERO);
    for &(g, v) in along {
        let (sum, n) = centres[slice(g)];
        let r = place(v).as_dvec3() - sum / n;
        across += DMat3::from_cols(r * r.x, r * r.y, r * r.z);
        lengthwise += (f64::from(g) - mean).powi(2);
    }
    ratio(lengthwise, eigen::symmetric(across).0[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curled_strip_is_as_slender_as_a_straight_one() {
        let bend = |angle: f32| {
            let along: Vec<(f32, u32)> = (0..200).map(|v| ((v / 2) as f32 * 0.1, v)).collect();
            unrolled(&along, |v| {
                let (g, side) = ((v / 2) as f32 * 0.1, (v % 2) as f32);
                let radius = 10.0 / angle.max(1e-3);
                let a = g / radius;
                Vec3::new(radius * a.cos(), radius * a.sin(), side)
            })
        };
        let (straight, curled) = (bend(0.0), bend(5.5));
        // A strip of 10 by 1: its long spread is 10 / sqrt(12), its short one 1 / 2.
        assert!((straight - 10.0 / 12f32.sqrt() / 0.5).abs() < 0.1, "{straight}");
        assert!((straight - curled).abs() < 0.35, "{straight} {curled}");
    }

    #[test]
    fn percentiles_lie_between_ranks() {
        let sorted: Vec<(f32, u32)> = (0..=100).map(|k| (k as f32, k)).collect();
        assert_eq!(percentile(&sorted, 0.99), Some(99.0));
        assert_eq!(percentile(&sorted[..2], 0.25), Some(0.25));
        assert_eq!(percentile(&[], 0.5), None);
    }
}
