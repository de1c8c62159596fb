//! Where a picture is taken from: all of the figure in view, whatever its size and pose.

use glam::{Mat3, Vec3};

/// A camera with a long lens.
#[derive(Clone, Debug)]
pub struct Camera {
    /// Its place.
    pub eye: Vec3,
    /// World to view: x right, y up, z towards the camera.
    pub view: Mat3,
    /// Samples per unit of x over distance.
    scale: f32,
    /// The sample that the camera looks at.
    middle: (f32, f32),
}

/// The tangent of half the angle of view.
const LENS: f32 = 0.16;

impl Camera {
    /// A camera turned by `turn` degrees about the upright axis (0 sees the face of what looks along +z, 90 its left
    /// side) and raised by `tilt` degrees, that frames the finite ones of `points` on a picture of samples.
    pub fn framing(points: &[Vec3], turn: f32, tilt: f32, zoom: f32, width: usize, height: usize) -> Self {
        let (turn, tilt) = (turn.to_radians(), tilt.to_radians());
        let back = Vec3::new(turn.sin() * tilt.cos(), tilt.sin(), turn.cos() * tilt.cos());
        let right = Vec3::new(turn.cos(), 0.0, -turn.sin());
        let view = Mat3::from_cols(right, back.cross(right), back).transpose();
        let (mut low, mut high) = (Vec3::MAX, Vec3::MIN);
        for &p in points.iter().filter(|p| p.is_finite()) {
            low = low.min(view * p);
            high = high.max(view * p);
        }
        if low.x > high.x {
            (low, high) = (Vec3::splat(-1.0), Vec3::ONE);
        }
        let half = ((high - low) * 0.5).max(Vec3::splat(1e-6));
        let (w, h) = (width as f32, height as f32);
        // A margin of a tenth, and the nearest point rather than the middle must fit.
        let fit = (half.x / w).max(half.y / h) * w.min(h);
        let distance = fit / LENS * 1.12 + half.z;
        let eye = view.transpose() * ((low + high) * 0.5 + Vec3::Z * distance);
        Self { eye, view, scale: w.min(h) / (2.0 * LENS) * zoom, middle: (w * 0.5, h * 0.5) }
    }

    /// A point on the picture: x and y in samples, z one over the distance.
    pub fn project(&self, p: Vec3) -> Vec3 {
        let p = self.view * (p - self.eye);
        let near = -1.0 / p.z;
        Vec3::new(self.middle.0 + p.x * near * self.scale, self.middle.1 - p.y * near * self.scale, near)
    }

    /// The direction seen at a sample, not of unit length: one unit of distance deep.
    pub fn ray(&self, x: f32, y: f32) -> Vec3 {
        self.view.transpose() * Vec3::new((x - self.middle.0) / self.scale, (self.middle.1 - y) / self.scale, -1.0)
    }

    /// How many samples a length at a distance spans.
    pub fn span(&self, length: f32, nearness: f32) -> f32 {
        length * nearness * self.scale
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_in_view_and_the_middle_in_the_middle() {
        let points: Vec<Vec3> = (0..8u32)
            .map(|k| Vec3::new((k & 1) as f32 * 3.0, (k >> 1 & 1) as f32 * 1.0, (k >> 2) as f32 * 2.0) * 100.0)
            .collect();
        for turn in [0.0, 35.0, 90.0, 200.0] {
            let camera = Camera::framing(&points, turn, 10.0, 1.0, 640, 480);
            for &p in &points {
                let q = camera.project(p);
                assert!(q.x > 0.0 && q.x < 640.0 && q.y > 0.0 && q.y < 480.0 && q.z > 0.0, "{turn} {q}");
                let back = camera.eye + camera.ray(q.x, q.y) / q.z;
                assert!(back.distance(p) < 0.1, "{back} {p}");
            }
        }
        let camera = Camera::framing(&points, 90.0, 0.0, 1.0, 640, 480);
        let aside = camera.eye - Vec3::new(150.0, 50.0, 100.0);
        assert!(aside.x > 300.0 && aside.y.abs() < 0.1 && aside.z.abs() < 0.1, "from the left side: {aside}");
    }

    #[test]
    fn nothing_to_see_is_no_reason_to_fail() {
        assert!(Camera::framing(&[Vec3::NAN], 0.0, 0.0, 1.0, 10, 10).project(Vec3::ZERO).is_finite());
    }
}
