//! What each branch looks like at each threshold: its area, the length of the contour that bounds it, where it lies.

use glam::{DVec3, Vec3};
use sinew_graph::{Cx, Result};

use super::MergeTree;
use super::merge_tree::{NONE, Node};

/// A branch at one threshold.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sample {
    /// Area of its skin.
    pub area: f64,
    /// Length of its border.
    pub contour: f64,
    /// Positions times area.
    pub moment: DVec3,
    /// Values times area.
    pub values: f64,
}

impl Sample {
    /// Border over the square root of the area: 3.5 for a flat disc, 2.5 for half a sphere, under 1.5 for what sticks out.
    pub fn neck(&self) -> f64 {
        if self.area > 0.0 { self.contour / self.area.sqrt() } else { f64::INFINITY }
    }

    fn add(&mut self, area: f64, centre: DVec3, value: f64) {
        self.area += area;
        self.moment += centre * area;
        self.values += value * area;
    }

    fn merge(&mut self, other: &Self) {
        self.area += other.area;
        self.contour += other.contour;
        self.moment += other.moment;
        self.values += other.values;
    }

    /// The centroid of its skin.
    pub fn centroid(&self) -> Option<Vec3> {
        (self.area > 0.0).then(|| (self.moment / self.area).as_vec3())
    }

    /// The mean value over its skin.
    pub fn mean(&self) -> f64 {
        if self.area > 0.0 { self.values / self.area } else { 0.0 }
    }
}

/// Samples of every branch at every level.
#[derive(Clone, Debug)]
pub struct Profile {
    /// The thresholds, falling.
    pub levels: Vec<f32>,
    samples: Vec<Sample>,
}

/// Triangles between two looks at the cancel flag.
const BLOCK: usize = 1 << 14;

impl Profile {
    /// Samples a tree at falling `levels`. A triangle is part of a branch as far as it lies above the level.
    pub fn of(
        tree: &MergeTree,
        values: &[f32],
        places: &[Vec3],
        triangles: &[[u32; 3]],
        levels: Vec<f32>,
        cx: &Cx,
    ) -> Result<Self> {
        let count = levels.len();
        // A branch at a level: itself, or what it has become part of by then.
        let mut at = vec![NONE; tree.nodes.len() * count];
        for k in (0..tree.nodes.len()).rev() {
            let node = tree.nodes[k];
            for (l, &level) in levels.iter().enumerate() {
                at[k * count + l] = match node.parent {
                    Some(parent) if level < node.death => at[parent as usize * count + l],
                    _ => k as u32,
                };
            }
        }
        // The first level below a value. Levels are about evenly spaced: a guess is right or nearly so, where halving would
        // have the processor guess every step.
        let (top, span) = match levels[..] {
            [top, .., last] if top > last => (top, (count - 1) as f32 / (top - last)),
            _ => (0.0, 0.0),
        };
        let first_below = |value: f32| {
            let mut at = (((top - value) * span) as usize).min(count);
            while at < count && levels[at] >= value {
                at += 1;
            }
            while at > 0 && levels[at - 1] < value {
                at -= 1;
            }
            at
        };
        let place = |v: u32| places[v as usize].as_dvec3();
        // Cut triangles count at one level only, whole ones from their first level on down.
        let mut samples = vec![Sample::default(); tree.nodes.len() * count];
        let mut whole = samples.clone();
        for (block, chunk) in triangles.chunks(BLOCK).enumerate() {
            cx.check()?;
            cx.progress(0.5 + 0.2 * (block * BLOCK) as f32 / triangles.len() as f32);
            for &[a, b, c] in chunk {
                let corner = |v: u32| (values[v as usize], v);
                let corners = [corner(a), corner(b), corner(c)];
                let [(high, a), (middle, b), (low, c)] =
                    in_order(corners, |a, b| a.0 > b.0 || (a.0 == b.0 && a.1 < b.1));
                let home = tree.node_of[a as usize];
                if home == NONE {
                    continue;
                }
                let value = [f64::from(high), f64::from(middle), f64::from(low)];
                let p = [place(a), place(b), place(c)];
                let area = 0.5 * (p[1] - p[0]).cross(p[2] - p[0]).length();
                let (centre, mean) = ((p[0] + p[1] + p[2]) / 3.0, (value[0] + value[1] + value[2]) / 3.0);
                let row = home as usize * count;
                let first = first_below(high);
                let below = first_below(low);
                for l in first..below {
                    let (length, part) = cut(value, p, f64::from(levels[l]));
                    let sample = &mut samples[at[row + l] as usize * count + l];
                    sample.contour += length;
                    sample.add(area * part, centre, mean);
                }
                if below < count {
                    whole[row + below].add(area, centre, mean);
                }
            }
        }
        for k in 0..tree.nodes.len() {
            let mut sum = Sample::default();
            for l in 0..count {
                sum.merge(&whole[k * count + l]);
                samples[at[k * count + l] as usize * count + l].merge(&sum);
            }
        }
        Ok(Self { levels, samples })
    }

    /// A branch at a level.
    pub fn sample(&self, node: u32, level: usize) -> &Sample {
        &self.samples[node as usize * self.levels.len() + level]
    }

    /// The levels at which a branch exists, as a range of level numbers.
    pub fn life(&self, tree: &MergeTree, node: u32) -> std::ops::Range<usize> {
        let Node { top, death, .. } = tree.nodes[node as usize];
        let first = self.levels.partition_point(|&l| l >= top);
        first..self.levels.partition_point(|&l| l >= death).max(first)
    }
}

/// Three in order: `stands` tells whether one may stand before another.
#[inline]
pub(super) fn in_order<T: Copy>([a, b, c]: [T; 3], stands: impl Fn(&T, &T) -> bool) -> [T; 3] {
    let (a, b) = if stands(&a, &b) { (a, b) } else { (b, a) };
    let (b, c) = if stands(&b, &c) { (b, c) } else { (c, b) };
    let (a, b) = if stands(&a, &b) { (a, b) } else { (b, a) };
    [a, b, c]
}

/// The length of the line at `level` across a triangle, and the share of its area above it. Values fall.
#[inline]
pub(super) fn cut(value: [f64; 3], p: [DVec3; 3], level: f64) -> (f64, f64) {
    let share = |hi: usize, lo: usize| (value[hi] - level) / (value[hi] - value[lo]);
    if level >= value[1] {
        let (s, t) = (share(0, 1).min(1.0), share(0, 2));
        (p[0].lerp(p[1], s).distance(p[0].lerp(p[2], t)), s * t)
    } else {
        let (s, t) = (1.0 - share(0, 2), 1.0 - share(1, 2));
        (p[2].lerp(p[0], s).distance(p[2].lerp(p[1], t)), 1.0 - s * t)
    }
}

#[cfg(test)]
mod tests {
    use super::super::merge_tree::Significance;
    use super::*;

    #[test]
    fn a_cut_triangle_has_the_length_and_area_of_the_cut() {
        let p = [DVec3::new(0.0, 4.0, 0.0), DVec3::ZERO, DVec3::new(4.0, 0.0, 0.0)];
        // Values are twice the height: 8, 0 and 0 (made to fall).
        let (length, above) = cut([8.0, 1e-12, 0.0], p, 4.0);
        assert!((length - 2.0).abs() < 1e-9 && (above - 0.25).abs() < 1e-9);
        let upside = [DVec3::new(0.0, 0.0, 0.0), DVec3::new(4.0, 0.0, 0.0), DVec3::new(0.0, -4.0, 0.0)];
        let (length, above) = cut([8.0, 8.0, 0.0], upside, 2.0);
        assert!((length - 1.0).abs() < 1e-9 && (above - (1.0 - 1.0 / 16.0)).abs() < 1e-9);
    }

    #[test]
    fn a_cone_has_the_area_and_contour_of_its_top() {
        // A cone of height 1 and radius 1; the value is the height above its base.
        let n = 256u32;
        let at = |v: u32| {
            let a = v as f32 / n as f32 * std::f32::consts::TAU;
            if v == n { Vec3::Z } else { Vec3::new(a.cos(), a.sin(), 0.0) }
        };
        let places: Vec<Vec3> = (0..=n).map(at).collect();
        let values: Vec<f32> = places.iter().map(|p| p.z).collect();
        let triangles: Vec<[u32; 3]> = (0..n).map(|k| [k, (k + 1) % n, n]).collect();
        let cx = Cx::detached();
        let least = Significance { persistence: 0.0, vertices: 1 };
        let tree = MergeTree::of(&values, &triangles, -0.5, least, &cx).unwrap();
        let profile = Profile::of(&tree, &values, &places, &triangles, vec![0.75, 0.5, -0.25], &cx).unwrap();
        let root = tree.nodes.len() as u32 - 1;
        for (level, radius) in [(0, 0.25f64), (1, 0.5)] {
            let sample = profile.sample(root, level);
            assert!((sample.contour - std::f64::consts::TAU * radius).abs() < 1e-3);
            assert!((sample.area - std::f64::consts::PI * 2f64.sqrt() * radius * radius).abs() < 1e-3);
        }
        let all = profile.sample(root, 2);
        assert!(all.contour == 0.0 && (all.area - std::f64::consts::PI * 2f64.sqrt()).abs() < 1e-3);
        assert!((all.mean() - 1.0 / 3.0).abs() < 1e-3);
    }
}
