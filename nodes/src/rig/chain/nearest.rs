//! The nearest of many points: a k-d tree in one array, median in the middle of each range.

use glam::Vec3;

/// Ranges up to this long are searched through.
const LEAF: usize = 8;

/// A k-d tree over numbered points.
pub struct Nearest {
    points: Vec<(Vec3, u32)>,
    /// The axis on which a range is split, at the place of its median.
    axes: Vec<u8>,
}

impl Nearest {
    /// Over points with their numbers.
    pub fn new(mut points: Vec<(Vec3, u32)>) -> Self {
        let mut axes = vec![0; points.len()];
        split(&mut points, &mut axes);
        Self { points, axes }
    }

    /// The number of the point nearest to `to` and its distance; the lowest number of equally near ones.
    pub fn find(&self, to: Vec3) -> Option<(u32, f32)> {
        let mut best = (f32::INFINITY, u32::MAX);
        search(&self.points, &self.axes, to, &mut best);
        (best.1 != u32::MAX).then(|| (best.1, best.0.sqrt()))
    }
}

fn split(points: &mut [(Vec3, u32)], axes: &mut [u8]) {
    if points.len() <= LEAF {
        return;
    }
    let first = points[0].0;
    let (lo, hi) = points.iter().fold((first, first), |(lo, hi), &(p, _)| (lo.min(p), hi.max(p)));
    let axis = (hi - lo).max_position();
    let middle = points.len() / 2;
    points.select_nth_unstable_by(middle, |a, b| a.0[axis].total_cmp(&b.0[axis]).then(a.1.cmp(&b.1)));
    axes[middle] = axis as u8;
    let (left, right) = points.split_at_mut(middle);
    let (left_axes, right_axes) = axes.split_at_mut(middle);
    split(left, left_axes);
    split(&mut right[1..], &mut right_axes[1..]);
}

fn search(points: &[(Vec3, u32)], axes: &[u8], to: Vec3, best: &mut (f32, u32)) {
    let mut consider = |&(p, number): &(Vec3, u32)| {
        let found = (p.distance_squared(to), number);
        if found < *best {
            *best = found;
        }
    };
    if points.len() <= LEAF {
        points.iter().for_each(consider);
        return;
    }
    let middle = points.len() / 2;
    consider(&points[middle]);
    let axis = usize::from(axes[middle]);
    let across = to[axis] - points[middle].0[axis];
    let left = (&points[..middle], &axes[..middle]);
    let right = (&points[middle + 1..], &axes[middle + 1..]);
    let (near, far) = if across < 0.0 { (left, right) } else { (right, left) };
    search(near.0, near.1, to, best);
    if across * across <= best.0 {
        search(far.0, far.1, to, best);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn point() -> impl Strategy<Value = Vec3> {
        // Whole numbers, so that ties are common.
        (0i8..6, 0i8..6, 0i8..6).prop_map(|(x, y, z)| Vec3::new(x.into(), y.into(), z.into()))
    }

    proptest! {
        #[test]
        fn the_tree_finds_what_a_search_through_all_finds(
            points in prop::collection::vec(point(), 0..80), to in point()
        ) {
            let numbered: Vec<(Vec3, u32)> = points.iter().copied().zip(0..).collect();
            let expected = numbered
                .iter()
                .min_by(|a, b| a.0.distance(to).total_cmp(&b.0.distance(to)).then(a.1.cmp(&b.1)))
                .map(|&(p, number)| (number, p.distance(to)));
            prop_assert_eq!(Nearest::new(numbered).find(to), expected);
        }
    }
}
