//! Length, bone count and joints of a chain (`tail-3d.md` B2, B3).

use glam::{DVec3, Vec3};
use sinew_graph::{Cx, Result};

use super::patch::{Patch, STRIDE};

/// The share of the vertices that lie within the length.
const WITHIN: f64 = 0.99;

/// How far below a half a count is rounded up, so that lengths made by people (4.5 segments) give the same count whatever
/// the unit and the rounding.
const HALF: f32 = 1e-4;

/// The 99th percentile, between ranks in proportion; 0 for none.
pub fn length(geodesic: &[f32]) -> f32 {
    let Some(last) = geodesic.len().checked_sub(1) else { return 0.0 };
    let rank = WITHIN * last as f64;
    let below = rank as usize;
    let mut values = geodesic.to_vec();
    let (_, &mut low, above) = values.select_nth_unstable_by(below, f32::total_cmp);
    let high = above.iter().copied().min_by(f32::total_cmp).unwrap_or(low);
    low + (high - low) * (rank - below as f64) as f32
}

/// How many bones: one per `segment`, within bounds.
pub fn bone_count(length: f32, segment: f32, least: u32, most: u32) -> u32 {
    ((length / segment + 0.5 + HALF).floor().max(0.0) as u32).clamp(least, most)
}

/// The K + 1 joints: the collar's centre, then the centroids of the skin within half a segment of `i L / K`, smoothed
/// twice. Centroids are those of the surface, cut exactly at the ends of each band: neither seams nor uneven meshes move
/// a joint. Where a band has no surface its vertices count, and with none of them the joint lies between its neighbours.
pub fn joints(patch: &Patch, geodesic: &[f32], centre: Vec3, length: f32, bones: u32, cx: &Cx) -> Result<Vec<Vec3>> {
    let bones = bones as usize;
    let width = length / bones as f32;
    let bands = Bands { width, per_unit: 1.0 / width, last: bones };
    let mut surface = vec![Centroid::default(); bones + 1];
    for stretch in patch.triangles.chunks(STRIDE) {
        cx.check()?;
        for corners in stretch {
            let corner = |k: usize| {
                let vertex = corners[k] as usize;
                (patch.positions[vertex] - centre, geodesic[vertex])
            };
            bands.add_triangle(&[corner(0), corner(1), corner(2)], &mut surface);
        }
    }
    let mut joints: Vec<Option<DVec3>> = surface.iter().map(Centroid::mean).collect();
    if joints[1..].contains(&None) {
        let mut points = vec![Centroid::default(); bones + 1];
        for (position, &g) in patch.positions.iter().zip(geodesic).take(patch.inside) {
            // The last band also takes what lies beyond it, so that there always is an end.
            points[bands.of(g)].add(1.0, (*position - centre).as_dvec3());
        }
        joints = joints.iter().zip(&points).map(|(joint, points)| joint.or(points.mean())).collect();
    }
    joints[0] = Some(DVec3::ZERO);
    let joints = smooth(fill(&joints));
    Ok(joints.into_iter().map(|joint| centre + joint.as_vec3()).collect())
}

/// Bands of one width around the multiples of it.
struct Bands {
    width: f32,
    /// 1 / `width`.
    per_unit: f32,
    last: usize,
}

impl Bands {
    fn of(&self, g: f32) -> usize {
        ((g * self.per_unit + 0.5) as usize).min(self.last)
    }

    /// Adds each band's share of a triangle, whose corners are given with their distances.
    fn add_triangle(&self, corners: &[(Vec3, f32); 3], to: &mut [Centroid]) {
        let [a, b, c] = corners;
        let (lo, hi) = (a.1.min(b.1).min(c.1), a.1.max(b.1).max(c.1));
        let (first, last) = (self.of(lo), self.of(hi));
        let end = (self.last as f32 + 0.5) * self.width;
        if first == last && hi <= end {
            to[first].add_polygon(&[a.0, b.0, c.0]);
            return;
        }
        for (band, centroid) in to.iter_mut().enumerate().take(last + 1).skip(first) {
            let from = (band as f32 - 0.5) * self.width;
            let above = clip(corners, |g| g - from);
            let within = clip(&above, |g| from + self.width - g);
            let polygon: Vec<Vec3> = within.iter().map(|corner| corner.0).collect();
            centroid.add_polygon(&polygon);
        }
    }
}

/// The part of a polygon where `inside` of the distance is not negative.
fn clip(corners: &[(Vec3, f32)], inside: impl Fn(f32) -> f32) -> Vec<(Vec3, f32)> {
    let mut out = Vec::with_capacity(corners.len() + 1);
    for (k, &(p, g)) in corners.iter().enumerate() {
        let (q, h) = corners[(k + 1) % corners.len()];
        let (here, there) = (inside(g), inside(h));
        if here >= 0.0 {
            out.push((p, g));
        }
        if (here < 0.0) != (there < 0.0) {
            let t = here / (here - there);
            out.push((p.lerp(q, t), g + (h - g) * t));
        }
    }
    out
}

/// A running weighted mean.
#[derive(Clone, Copy, Default)]
struct Centroid {
    weight: f64,
    moment: DVec3,
}

impl Centroid {
    fn add(&mut self, weight: f64, at: DVec3) {
        self.weight += weight;
        self.moment += at * weight;
    }

    /// Adds a flat convex polygon by its area.
    fn add_polygon(&mut self, corners: &[Vec3]) {
        let Some((&first, rest)) = corners.split_first() else { return };
        for pair in rest.windows(2) {
            let double_area = (pair[0] - first).cross(pair[1] - first).length();
            self.add(f64::from(double_area) / 2.0, ((first + pair[0] + pair[1]) / 3.0).as_dvec3());
        }
    }

    fn mean(&self) -> Option<DVec3> {
        (self.weight > 0.0).then(|| self.moment / self.weight)
    }
}

/// Puts missing joints evenly between their neighbours; at the end they go on in the last known direction.
fn fill(joints: &[Option<DVec3>]) -> Vec<DVec3> {
    let known: Vec<(usize, DVec3)> = joints.iter().enumerate().filter_map(|(k, j)| Some((k, (*j)?))).collect();
    let between = |k: usize| {
        let after = known.partition_point(|&(other, _)| other < k).clamp(1, known.len().max(2) - 1);
        match (known.get(after - 1), known.get(after)) {
            (Some(&(from, a)), Some(&(to, b))) => a + (b - a) * ((k as f64 - from as f64) / (to as f64 - from as f64)),
            (Some(&(_, a)), None) => a,
            _ => DVec3::ZERO,
        }
    };
    joints.iter().enumerate().map(|(k, joint)| joint.unwrap_or_else(|| between(k))).collect()
}

fn smooth(mut joints: Vec<DVec3>) -> Vec<DVec3> {
    for _ in 0..2 {
        let before = joints.clone();
        for (k, three) in before.windows(3).enumerate() {
            joints[k + 1] = three[1] / 2.0 + (three[0] + three[2]) / 4.0;
        }
    }
    joints
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn length_is_the_99th_percentile() {
        let values: Vec<f32> = (0..=200).rev().map(|k| k as f32).collect();
        assert_eq!(length(&values), 198.0);
        assert_eq!(length(&[1.0, 2.0]), 1.99);
        assert_eq!((length(&[5.0]), length(&[])), (5.0, 0.0));
    }

    #[test]
    fn bones_are_counted_by_rounding_within_bounds() {
        let count = |length| bone_count(length, 0.1, 3, 8);
        assert_eq!([0.0, 0.3, 0.42, 0.449, 0.45, 0.55, 1.5].map(count), [3, 3, 4, 4, 5, 6, 8]);
        // 4.5 segments in any unit, with the rounding of that unit.
        for unit in [0.01f32, 0.1, 0.3, 1.0, 7.7, 100.0] {
            assert_eq!(bone_count(0.45 * 1.8 * unit, 0.1 * 1.8 * unit, 3, 8), 5, "{unit}");
        }
    }

    #[test]
    fn a_triangle_is_cut_at_the_ends_of_its_bands() {
        // A right triangle along x with g = x: the area below x is x - x^2 / 2 over a total of 1/2.
        let corners = [(Vec3::ZERO, 0.0), (Vec3::X, 1.0), (Vec3::Y, 0.0)];
        let bands = Bands { width: 0.5, per_unit: 2.0, last: 2 };
        let mut sums = vec![Centroid::default(); 3];
        bands.add_triangle(&corners, &mut sums);
        let below = |x: f64| x - x * x / 2.0;
        let expected = [below(0.25), below(0.75) - below(0.25), 0.5 - below(0.75)];
        for (sum, expected) in sums.iter().zip(expected) {
            assert!((sum.weight - expected).abs() < 1e-7, "{} {expected}", sum.weight);
        }
        // First moment of the middle band: the integral of x (1 - x) from 0.25 to 0.75.
        let moment = |x: f64| x * x / 2.0 - x * x * x / 3.0;
        assert!((sums[1].moment.x - (moment(0.75) - moment(0.25))).abs() < 1e-7);
    }

    #[test]
    fn missing_joints_lie_between_their_neighbours() {
        let at = |x: f64| Some(DVec3::X * x);
        let filled = fill(&[at(0.0), None, None, at(6.0), at(7.0), None]);
        assert_eq!(filled.iter().map(|j| j.x).collect::<Vec<_>>(), [0.0, 2.0, 4.0, 6.0, 7.0, 8.0]);
        assert_eq!(fill(&[at(1.0), None]), [DVec3::X, DVec3::X]);
    }

    #[test]
    fn smoothing_halves_towards_the_neighbours_twice() {
        let bent = [0.0, 0.0, 1.0, 0.0, 0.0].map(|y| DVec3::Y * y).to_vec();
        let ys: Vec<f64> = smooth(bent).iter().map(|j| j.y).collect();
        assert_eq!(ys, [0.0, 0.25, 0.375, 0.25, 0.0]);
    }
}
