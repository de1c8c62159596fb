//! Tubes along a curve (tails) and balls (eyes), with the seams that modelling programs leave.

use glam::{DVec2, DVec3};

use super::maths::turn;
use super::shell::{Material, Shell};
use super::weights::{Influences, influences};

/// A tube along a curve, closed at both ends.
pub struct Tube<'a> {
    pub material: Material,
    /// The curve passes through these; metres.
    pub through: &'a [DVec3],
    /// The radius at a place: fraction of the length, fraction of the turn.
    pub radius: &'a dyn Fn(f64, f64) -> f64,
    /// The colour at a place: fraction of the length, position.
    pub paint: &'a dyn Fn(f64, DVec3) -> [f64; 3],
    /// The weights at a place: fraction of the length, position.
    pub weights: &'a dyn Fn(f64, DVec3) -> Vec<(usize, f64)>,
    /// Vertices along it.
    pub rings: usize,
    /// Vertices around it.
    pub sides: usize,
}

impl Tube<'_> {
    /// The tube as a shell. The seam along it, and the hard edge of its root, are stored twice.
    pub fn shell(&self) -> Shell {
        let curve = Curve::through(self.through);
        let (rings, sides) = (self.rings, self.sides);
        let mut shell = Shell::new(self.material);
        let mut side_axis = DVec3::X;
        let vertex = |shell: &mut Shell, p: DVec3, t: f64, uv: DVec2| {
            shell.push(p, DVec3::ZERO, uv, (self.paint)(t, p), influences((self.weights)(t, p)))
        };
        for ring in 0..rings {
            let t = ring as f64 / rings as f64;
            let (centre, along) = curve.at(t);
            side_axis = (side_axis - along * along.dot(side_axis)).normalize();
            let up_axis = side_axis.cross(along);
            for side in 0..=sides {
                // The seam's two sides are one place to the last bit.
                let around = (side % sides) as f64 / sides as f64;
                let (sin, cos) = turn(around);
                let p = centre + (side_axis * cos + up_axis * sin) * (self.radius)(t, around);
                vertex(&mut shell, p, t, DVec2::new(side as f64 / sides as f64 * 2.0, t * 4.0));
            }
        }
        let tip = vertex(&mut shell, curve.at(1.0).0, 1.0, DVec2::new(1.0, 4.0));
        let at = |ring: usize, side: usize| (ring * (sides + 1) + side) as u32;
        for side in 0..sides {
            for ring in 1..rings {
                let [a, b] = [at(ring - 1, side), at(ring - 1, side + 1)];
                let [d, c] = [at(ring, side), at(ring, side + 1)];
                shell.triangles.extend([[a, c, b], [a, d, c]]);
            }
            shell.triangles.push([at(rings - 1, side), tip, at(rings - 1, side + 1)]);
        }
        smooth_normals(&mut shell, |k| if k < tip && k as usize % (sides + 1) == sides { k - sides as u32 } else { k });
        let (root, along) = curve.at(0.0);
        let middle = vertex(&mut shell, root, 0.0, DVec2::splat(0.5));
        let rim: Vec<u32> = (0..sides)
            .map(|side| {
                let (sin, cos) = turn(side as f64 / sides as f64);
                let p = shell.positions[side];
                vertex(&mut shell, p, 0.0, DVec2::new(0.5 + 0.5 * cos, 0.5 + 0.5 * sin))
            })
            .collect();
        for k in 0..sides {
            shell.triangles.push([middle, rim[k], rim[(k + 1) % sides]]);
        }
        for k in std::iter::once(middle).chain(rim) {
            shell.normals[k as usize] = -along;
        }
        shell
    }
}

/// Normals from the triangles; `same` names the vertex whose place a copy shares.
fn smooth_normals(shell: &mut Shell, same: impl Fn(u32) -> u32) {
    for t in &shell.triangles {
        let [a, b, c] = t.map(|k| shell.positions[k as usize]);
        for &k in t {
            shell.normals[same(k) as usize] += (b - a).cross(c - a);
        }
    }
    for k in 0..shell.normals.len() {
        shell.normals[k] = shell.normals[same(k as u32) as usize].try_normalize().unwrap_or(DVec3::Y);
    }
}

/// A Catmull-Rom curve by arc length.
pub struct Curve {
    points: Vec<DVec3>,
    lengths: Vec<f64>,
}

impl Curve {
    /// The curve through some points, at least two.
    pub fn through(knots: &[DVec3]) -> Self {
        let knot = |k: i64| {
            let last = knots.len() as i64 - 1;
            match k {
                k if k < 0 => knots[0] * 2.0 - knots[1],
                k if k > last => knots[last as usize] * 2.0 - knots[last as usize - 1],
                k => knots[k as usize],
            }
        };
        let mut points = vec![knots[0]];
        for k in 0..knots.len() as i64 - 1 {
            let [a, b, c, d] = [knot(k - 1), knot(k), knot(k + 1), knot(k + 2)];
            for step in 1..=32 {
                let t = f64::from(step) / 32.0;
                let cubic = a * (-1.0) + b * 3.0 - c * 3.0 + d;
                let square = a * 2.0 - b * 5.0 + c * 4.0 - d;
                points.push(((cubic * t + square) * t + (c - a)) * (t * 0.5) + b);
            }
        }
        let mut lengths = vec![0.0];
        for pair in points.windows(2) {
            lengths.push(lengths[lengths.len() - 1] + pair[0].distance(pair[1]));
        }
        Self { points, lengths }
    }

    /// How long it is.
    pub fn length(&self) -> f64 {
        self.lengths[self.lengths.len() - 1]
    }

    /// Place and direction at a fraction of the length.
    pub fn at(&self, fraction: f64) -> (DVec3, DVec3) {
        let length = fraction.clamp(0.0, 1.0) * self.length();
        let next = self.lengths.partition_point(|&l| l <= length).clamp(1, self.points.len() - 1);
        let (a, b) = (self.points[next - 1], self.points[next]);
        let t = (length - self.lengths[next - 1]) / (self.lengths[next] - self.lengths[next - 1]);
        let before = self.points[next.saturating_sub(2)];
        let after = self.points[(next + 1).min(self.points.len() - 1)];
        let along = (b - before).normalize().lerp((after - a).normalize(), t).normalize();
        (a.lerp(b, t), along)
    }
}

/// A ball that is stretched along the axes.
pub struct Ball<'a> {
    pub centre: DVec3,
    pub radii: DVec3,
    /// The direction of its pole: an eye looks there.
    pub pole: DVec3,
    pub joint: usize,
    /// The colour at the cosine of the angle from the pole, and at a direction.
    pub paint: &'a dyn Fn(f64, DVec3) -> [f64; 3],
    pub rows: usize,
}

impl Ball<'_> {
    /// The ball as a shell, with a seam from pole to pole.
    pub fn shell(&self) -> Shell {
        let (rows, sides) = (self.rows, self.rows * 2);
        let mut shell = Shell::new(Material::Gloss);
        let pole = self.pole.normalize();
        let side_axis = pole.any_orthonormal_vector();
        let up_axis = pole.cross(side_axis);
        let weights: Influences = influences([(self.joint, 1.0)]);
        for row in 0..=rows {
            let (ring, height) = turn(row as f64 / rows as f64 * 0.5);
            let ring = if row == 0 || row == rows { 0.0 } else { ring };
            for side in 0..=sides {
                let (sin, cos) = turn((side % sides) as f64 / sides as f64);
                let d = (pole * height + (side_axis * cos + up_axis * sin) * ring).normalize();
                let uv = DVec2::new(side as f64 / sides as f64, row as f64 / rows as f64);
                let normal = (d / self.radii).normalize();
                shell.push(self.centre + d * self.radii, normal, uv, (self.paint)(height, d), weights);
            }
        }
        let at = |row: usize, side: usize| (row * (sides + 1) + side) as u32;
        for row in 0..rows {
            for side in 0..sides {
                let [a, b, c, d] = [at(row, side), at(row + 1, side), at(row + 1, side + 1), at(row, side + 1)];
                if row + 1 < rows {
                    shell.triangles.push([a, b, c]);
                }
                if row > 0 {
                    shell.triangles.push([a, c, d]);
                }
            }
        }
        shell
    }
}
