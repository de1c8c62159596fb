//! One cubic for many: whether a cubic through two points of a curve stays within a tolerance of all between, and which.
//!
//! Its two inner values span a plane. What a time asks of them is a strip of it; what all times ask is a convex polygon,
//! cut strip by strip at the time where the error is greatest, until the polygon's middle is within the tolerance or
//! nothing is left. The error is known exactly: over each piece it is a cubic itself.

use crate::data::Segment;
use crate::live2d::play::bezier;

/// A cubic over a stretch of time: the values of a Bezier whose handles are at thirds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Piece {
    pub start: f64,
    pub end: f64,
    pub values: [f64; 4],
}

impl Piece {
    /// A smooth segment as a piece; none for a step.
    pub fn of(segment: Segment, points: &[[f64; 2]]) -> Option<Self> {
        let values = match (segment, points) {
            (Segment::Linear, &[a, b]) => {
                let third = (b[1] - a[1]) / 3.0;
                [a[1], a[1] + third, b[1] - third, b[1]]
            }
            (Segment::Bezier, &[a, b, c, d]) => [a[1], b[1], c[1], d[1]],
            _ => return None,
        };
        Some(Self { start: points[0][0], end: points[points.len() - 1][0], values })
    }

    /// Whether it runs straight, but for rounding.
    pub fn is_straight(&self) -> bool {
        let [a, b, c, d] = self.values;
        let third = (d - a) / 3.0;
        let slack = 1e-12 * (a.abs() + d.abs() + 1.0);
        (b - a - third).abs() <= slack && (d - c - third).abs() <= slack
    }

    fn share(&self, time: f64) -> f64 {
        (time - self.start) / (self.end - self.start)
    }

    /// The values of the same cubic over a part of its time.
    fn part(&self, start: f64, end: f64) -> [f64; 4] {
        let (s, e) = (self.share(start), self.share(end));
        [[s, s, s], [s, s, e], [s, e, e], [e, e, e]].map(|shares| blossom(self.values, shares))
    }
}

/// The polar form of a cubic: its value where all three shares are one.
fn blossom([a, b, c, d]: [f64; 4], [r, s, t]: [f64; 3]) -> f64 {
    let mix = |a: f64, b: f64, share: f64| a * (1.0 - share) + b * share;
    let [ab, bc, cd] = [mix(a, b, r), mix(b, c, r), mix(c, d, r)];
    mix(mix(ab, bc, s), mix(bc, cd, s), t)
}

/// How often the polygon is cut before a fit is given up: each cut is at the worst time, so few are needed.
const CUTS: usize = 40;

/// How much of the tolerance is kept for rounding.
const SLACK: f64 = 1e-9;

/// A cubic through the ends of a run of pieces that is within the tolerance of all of them.
pub fn fit(pieces: &[Piece], tolerance: f64) -> Option<Piece> {
    let (first, last) = (pieces.first()?, pieces.last()?);
    if pieces.len() == 1 {
        return Some(*first);
    }
    let [a, d] = [first.values[0], last.values[3]];
    let mut low = f64::INFINITY;
    let mut high = f64::NEG_INFINITY;
    for value in pieces.iter().flat_map(|piece| piece.values) {
        low = low.min(value);
        high = high.max(value);
    }
    // The inner values of a cubic that stays in a band are at most five times its half-width from its middle.
    let (middle, half) = (0.5 * (low + high), 5.0 * (0.5 * (high - low) + tolerance) + 1e-9);
    let (lo, hi) = (middle - half, middle + half);
    let mut polygon = vec![[lo, lo], [hi, lo], [hi, hi], [lo, hi]];
    let mut fitted = Piece { start: first.start, end: last.end, values: [a, a + (d - a) / 3.0, d - (d - a) / 3.0, d] };
    for _ in 0..CUTS {
        let (time, target, error) = worst(&fitted, pieces);
        if error <= tolerance {
            return Some(fitted);
        }
        let s = fitted.share(time);
        let r = 1.0 - s;
        let fixed = r * r * r * a + s * s * s * d;
        let normal = [3.0 * r * r * s, 3.0 * r * s * s];
        let width = tolerance * (1.0 - SLACK);
        clip(&mut polygon, normal, target + width - fixed);
        clip(&mut polygon, normal.map(|x| -x), -(target - width - fixed));
        if polygon.is_empty() {
            return None;
        }
        let corners = polygon.len() as f64;
        let sum = polygon.iter().fold([0.0; 2], |sum, corner| [sum[0] + corner[0], sum[1] + corner[1]]);
        fitted.values[1] = sum[0] / corners;
        fitted.values[2] = sum[1] / corners;
    }
    None
}

/// Keeps the part of a convex polygon where `normal · corner <= limit`.
fn clip(polygon: &mut Vec<[f64; 2]>, normal: [f64; 2], limit: f64) {
    let side = |corner: [f64; 2]| normal[0] * corner[0] + normal[1] * corner[1] - limit;
    let mut kept = Vec::with_capacity(polygon.len() + 1);
    for (k, &corner) in polygon.iter().enumerate() {
        let next = polygon[(k + 1) % polygon.len()];
        let (here, there) = (side(corner), side(next));
        if here <= 0.0 {
            kept.push(corner);
        }
        if (here < 0.0 && there > 0.0) || (here > 0.0 && there < 0.0) {
            let share = here / (here - there);
            kept.push([corner[0] + (next[0] - corner[0]) * share, corner[1] + (next[1] - corner[1]) * share]);
        }
    }
    *polygon = kept;
}

/// The time at which a cubic is farthest from the pieces, their value there, and how far that is.
pub fn worst(fitted: &Piece, pieces: &[Piece]) -> (f64, f64, f64) {
    let mut worst = (fitted.start, fitted.values[0], 0.0);
    for piece in pieces {
        let part = fitted.part(piece.start, piece.end);
        let error: [f64; 4] = std::array::from_fn(|k| part[k] - piece.values[k]);
        // The error is nowhere greater than its greatest Bezier value.
        if error.iter().all(|value| value.abs() <= worst.2) {
            continue;
        }
        for share in turning_points(error).into_iter().chain([1.0]) {
            let value = bezier(error, share).abs();
            if value > worst.2 {
                worst = (piece.start + (piece.end - piece.start) * share, bezier(piece.values, share), value);
            }
        }
    }
    worst
}

/// Where a cubic is neither rising nor falling, within 0 to 1; 0 where it is so nowhere.
fn turning_points([a, b, c, d]: [f64; 4]) -> [f64; 2] {
    let [p, q, r] = [b - a, c - b, d - c];
    let (square, half, constant) = (p - 2.0 * q + r, q - p, p);
    let root = (half * half - square * constant).max(0.0).sqrt();
    // The form that does not cancel.
    let sum = -(half + root.copysign(half));
    let within = |share: f64| if share > 0.0 && share < 1.0 { share } else { 0.0 };
    [within(sum / square), within(constant / sum)]
}
