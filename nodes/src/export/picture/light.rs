//! Light: a warm key light with a soft shadow, a cool sky, a rim from behind, and less light in hollows.

use glam::{Mat3, Vec2, Vec3};
use sinew_graph::{Cx, Result};

use super::camera::Camera;
use super::raster::{NOTHING, Raster};

/// A fixed scatter of places on the unit disc: a sunflower's, so that no two are near each other.
pub fn scatter(count: usize) -> Vec<Vec2> {
    (0..count)
        .map(|k| {
            let (sin, cos) = (k as f32 * 2.399_963).sin_cos();
            Vec2::new(cos, sin) * ((k as f32 + 0.5) / count as f32).sqrt()
        })
        .collect()
}

/// What the key light sees: a depth map.
pub struct Shadow {
    raster: Raster,
    /// World to the light's view: z towards the light.
    view: Mat3,
    low: Vec3,
    scale: f32,
    extent: f32,
    taps: Vec<Vec2>,
}

/// Samples along the map.
const MAP: usize = 1024;

impl Shadow {
    /// The shadow of triangles in light from a direction.
    pub fn cast(points: &[Vec3], triangles: &[[u32; 3]], to_light: Vec3, cx: &Cx) -> Result<Self> {
        let right = Vec3::Y.cross(to_light).normalize_or(Vec3::X);
        let view = Mat3::from_cols(right, to_light.cross(right), to_light).transpose();
        let seen: Vec<Vec3> = points.iter().map(|&p| view * p).collect();
        let (mut low, mut high) = (Vec3::MAX, Vec3::MIN);
        for &p in seen.iter().filter(|p| p.is_finite()) {
            low = low.min(p);
            high = high.max(p);
        }
        if low.x > high.x {
            (low, high) = (Vec3::ZERO, Vec3::ONE);
        }
        let extent = (high - low).max_element().max(1e-6);
        let scale = MAP as f32 / extent * 0.98;
        // Nearer to the light is greater, and never zero.
        let place = |p: Vec3| Vec3::new((p.x - low.x) * scale, (p.y - low.y) * scale, (p.z - low.z) / extent + 1.0);
        let placed: Vec<Vec3> = seen.into_iter().map(place).collect();
        let mut raster = Raster::new(MAP, MAP);
        raster.draw(&placed, triangles, cx)?;
        Ok(Self { raster, view, low, scale, extent, taps: scatter(20) })
    }

    /// How much of the key light reaches a point, 0 to 1. `blur` is the radius of softness in world units, `turn` turns
    /// the scatter so that neighbouring samples take different ones.
    pub fn light(&self, p: Vec3, blur: f32, turn: f32) -> f32 {
        let p = self.view * p;
        let depth = (p.z - self.low.z) / self.extent + 1.0;
        let at = Vec2::new((p.x - self.low.x) * self.scale, (p.y - self.low.y) * self.scale);
        let spin = Vec2::from_angle(turn);
        let radius = blur * self.scale;
        let lit = self.taps.iter().filter(|&&tap| {
            let q = at + spin.rotate(tap) * radius;
            let bias = 0.004 + 0.35 * tap.length() * blur / self.extent;
            let nearest = self.raster.get(q.x as i64, q.y as i64);
            nearest.triangle == NOTHING || nearest.nearness < depth + bias
        });
        lit.count() as f32 / self.taps.len() as f32
    }
}

/// How open a sample is, 0 to 1: hollows, and where parts meet, are darker. `radius` in world units.
pub fn openness(raster: &Raster, camera: &Camera, x: usize, y: usize, radius: f32, taps: &[Vec2], turn: f32) -> f32 {
    let here = raster.samples[y * raster.width + x];
    let depth = 1.0 / here.nearness;
    let reach = camera.span(radius, here.nearness);
    let spin = Vec2::from_angle(turn);
    let closed: f32 = taps
        .iter()
        .map(|&tap| {
            let q = spin.rotate(tap) * reach;
            let there = raster.get(x as i64 + q.x as i64, y as i64 + q.y as i64);
            if there.triangle == NOTHING {
                return 0.0;
            }
            let rise = (depth - 1.0 / there.nearness) / radius;
            // What lies far in front does not close a hollow; it only passes by.
            let counts = (1.6 - rise).clamp(0.0, 1.0);
            (rise - 0.45 * tap.length() - 0.03).clamp(0.0, 0.5) * 2.0 * counts
        })
        .sum();
    1.0 - (closed / taps.len() as f32 * 1.5).min(0.8)
}

/// Light on a surface.
#[derive(Clone, Copy, Debug)]
pub struct Rig {
    /// Towards the key light.
    pub key: Vec3,
    /// Towards the rim light.
    pub rim: Vec3,
}

impl Rig {
    /// Lights that stand relative to the camera: key from its upper left, rim from behind on the right.
    pub fn beside(camera: &Camera) -> Self {
        let to_world = camera.view.transpose();
        let level = |v: Vec3| to_world * v;
        Self {
            key: level(Vec3::new(-0.50, 1.05, 0.55)).normalize(),
            rim: level(Vec3::new(0.75, 0.45, -0.65)).normalize(),
        }
    }

    /// The light that a matt surface sends to the camera, linear.
    pub fn shade(&self, colour: Vec3, normal: Vec3, to_camera: Vec3, lit: f32, open: f32) -> Vec3 {
        let key = (normal.dot(self.key) * 0.85 + 0.15).max(0.0) * lit;
        let sky = 0.5 + 0.5 * normal.y;
        let ambient = Vec3::new(0.26, 0.22, 0.21).lerp(Vec3::new(0.46, 0.52, 0.62), sky) * open;
        let edge = (1.0 - normal.dot(to_camera).max(0.0)).powi(3);
        let rim = edge * (normal.dot(self.rim) + 0.35).max(0.0) * open;
        let light = Vec3::new(1.12, 1.02, 0.90) * key + ambient;
        colour * light + (colour * 0.6 + 0.12) * rim * Vec3::new(0.75, 0.85, 1.0)
    }
}

/// sRGB to linear light.
pub fn linear(c: [u8; 4]) -> Vec3 {
    let one = |c: u8| {
        let c = f32::from(c) / 255.0;
        if c <= 0.040_45 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
    };
    Vec3::new(one(c[0]), one(c[1]), one(c[2]))
}

/// Linear light to sRGB, the brightest rolled off.
pub fn srgb(c: Vec3) -> [u8; 3] {
    let one = |c: f32| {
        let c = c.max(0.0);
        let c = if c > 0.7 { 0.7 + 0.3 * (1.0 - (-(c - 0.7) / 0.3).exp()) } else { c };
        let c = if c <= 0.003_130_8 { c * 12.92 } else { 1.055 * c.powf(1.0 / 2.4) - 0.055 };
        (c * 255.0).round().clamp(0.0, 255.0) as u8
    };
    [one(c.x), one(c.y), one(c.z)]
}
