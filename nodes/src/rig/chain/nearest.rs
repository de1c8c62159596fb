//! The nearest of many points, or one as good: a k-d tree in one array, median in the middle of each range.

use glam::Vec3;

/// Ranges up to this long are searched through.
const LEAF: usize = 8;

/// What is found is at most this much further than the nearest, in squared distance (5 % in distance). Without it a point
/// far from a smooth surface, where hundreds are about as near, would see them all.
const GOOD: f32 = 1.1;

/// Ranges longer than this are split on several threads.
const ALONE: usize = 1 << 14;

/// A k-d tree over numbered points.
pub struct Nearest {
    points: Vec<(Vec3, u32)>,
    /// The axis on which a range is split, at the place of its median.
    axes: Vec<u8>,
    lo: Vec3,
    hi: Vec3,
}

impl Nearest {
    /// Over points with their numbers.
    pub fn new(mut points: Vec<(Vec3, u32)>) -> Self {
        let mut axes = vec![0; points.len()];
        let (lo, hi) = bounds(&points);
        split(&mut points, &mut axes);
        Self { points, axes, lo, hi }
    }

    /// The squared distance and the number of a point about as near to `to` as the nearest; `known` if that is. A good
    /// guess makes the search short.
    pub fn find(&self, to: Vec3, known: (f32, u32)) -> (f32, u32) {
        let mut search = Search { to, best: known, outside: (self.lo - to).max(to - self.hi).max(Vec3::ZERO) };
        search.visit(&self.points, &self.axes, search.outside.length_squared());
        search.best
    }
}

fn bounds(points: &[(Vec3, u32)]) -> (Vec3, Vec3) {
    let first = points.first().map_or(Vec3::ZERO, |point| point.0);
    points.iter().fold((first, first), |(lo, hi), &(p, _)| (lo.min(p), hi.max(p)))
}

fn split(points: &mut [(Vec3, u32)], axes: &mut [u8]) {
    if points.len() <= LEAF {
        return;
    }
    let (lo, hi) = bounds(points);
    let axis = (hi - lo).max_position();
    let middle = points.len() / 2;
    points.select_nth_unstable_by(middle, |a, b| a.0[axis].total_cmp(&b.0[axis]).then(a.1.cmp(&b.1)));
    axes[middle] = axis as u8;
    let alone = points.len() <= ALONE;
    let (left, right) = points.split_at_mut(middle);
    let (left_axes, right_axes) = axes.split_at_mut(middle);
    let mut left = || split(left, left_axes);
    let mut right = || split(&mut right[1..], &mut right_axes[1..]);
    if alone {
        left();
        right();
    } else {
        rayon::join(left, right);
    }
}

/// A search under way: cells are skipped by their distance, which is kept per axis (Arya and Mount 1993).
struct Search {
    to: Vec3,
    best: (f32, u32),
    /// How far `to` is outside of the cell at hand, per axis.
    outside: Vec3,
}

impl Search {
    fn consider(&mut self, &(p, number): &(Vec3, u32)) {
        let found = (p.distance_squared(self.to), number);
        if found < self.best {
            self.best = found;
        }
    }

    fn visit(&mut self, points: &[(Vec3, u32)], axes: &[u8], cell: f32) {
        if points.len() <= LEAF {
            points.iter().for_each(|point| self.consider(point));
            return;
        }
        let middle = points.len() / 2;
        self.consider(&points[middle]);
        let axis = usize::from(axes[middle]);
        let across = self.to[axis] - points[middle].0[axis];
        let left = (&points[..middle], &axes[..middle]);
        let right = (&points[middle + 1..], &axes[middle + 1..]);
        let (near, far) = if across < 0.0 { (left, right) } else { (right, left) };
        self.visit(near.0, near.1, cell);
        let before = self.outside[axis];
        let cell = cell - before * before + across * across;
        if cell * GOOD < self.best.0 {
            self.outside[axis] = across;
            self.visit(far.0, far.1, cell);
            self.outside[axis] = before;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn point() -> impl Strategy<Value = Vec3> {
        // Whole numbers, so that ties are common.
        (0i8..20, 0i8..20, 0i8..20).prop_map(|(x, y, z)| Vec3::new(x.into(), y.into(), z.into()))
    }

    proptest! {
        #[test]
        fn the_tree_finds_a_point_at_most_five_percent_further_than_the_nearest(
            points in prop::collection::vec(point(), 1..80), to in point()
        ) {
            let numbered: Vec<(Vec3, u32)> = points.iter().copied().zip(0..).collect();
            let least = points.iter().map(|p| p.distance_squared(to)).fold(f32::INFINITY, f32::min);
            let (found, number) = Nearest::new(numbered).find(to, (f32::INFINITY, u32::MAX));
            prop_assert_eq!(found, points[number as usize].distance_squared(to));
            prop_assert!(found.sqrt() <= least.sqrt() * 1.05);
        }
    }
}
