//! Scene to picture: two by two samples a pixel, each shaded once, then bones over it.

use glam::{Vec2, Vec3, Vec4};
use rayon::prelude::*;
use sinew_graph::{Cx, Result};

use super::bones::Kind;
use super::camera::Camera;
use super::light::{self, Shadow, linear, srgb};
use super::raster::{NOTHING, Raster, Sample};
use super::scene::Scene;
use crate::data::Picture;

/// How a picture is taken.
#[derive(Clone, Copy, Debug)]
pub struct View {
    pub turn: f32,
    pub tilt: f32,
    pub zoom: f32,
    pub width: u32,
    pub height: u32,
    pub bones: bool,
    /// sRGB and opacity.
    pub background: [f32; 4],
}

/// Samples along a pixel.
const FINE: usize = 2;

/// Takes the picture.
pub fn render(scene: &Scene, view: &View, cx: &Cx) -> Result<Picture> {
    let (width, height) = (view.width as usize * FINE, view.height as usize * FINE);
    let camera = Camera::framing(&scene.points, view.turn, view.tilt, view.zoom, width, height);
    let project = |points: &[Vec3]| points.iter().map(|&p| camera.project(p)).collect::<Vec<_>>();
    let mut skin = Raster::new(width, height);
    skin.draw(&project(&scene.points), scene.triangles, cx)?;
    cx.progress(0.2);
    let mut bones = Raster::new(if view.bones { width } else { 0 }, height);
    bones.draw(&project(&scene.bones.points), &scene.bones.triangles, cx)?;
    let lights = light::Rig::beside(&camera);
    let shadow = Shadow::cast(&scene.points, scene.triangles, lights.key, cx)?;
    cx.progress(0.3);
    let painter = Painter {
        scene,
        camera,
        skin,
        bones,
        lights,
        shadow,
        taps: light::scatter(14),
        background: Background::new(view.background),
    };
    let row = |y: usize| {
        cx.check()?;
        Ok((0..view.width as usize).map(|x| painter.pixel(x, y)).collect::<Vec<_>>())
    };
    let rows: Vec<Vec<[u8; 4]>> = (0..view.height as usize).into_par_iter().map(row).collect::<Result<_>>()?;
    Ok(Picture { width: view.width, height: view.height, pixels: rows.into_iter().flatten().collect() })
}

struct Painter<'a> {
    scene: &'a Scene<'a>,
    camera: Camera,
    skin: Raster,
    bones: Raster,
    lights: light::Rig,
    shadow: Shadow,
    taps: Vec<Vec2>,
    background: Background,
}

struct Background {
    colour: Vec3,
    opacity: f32,
}

impl Background {
    fn new(colour: [f32; 4]) -> Self {
        let [r, g, b, opacity] = colour.map(|c| (c * 255.0).round() as u8);
        Self { colour: linear([r, g, b, 255]), opacity: f32::from(opacity) / 255.0 }
    }
}

impl Painter<'_> {
    fn pixel(&self, x: usize, y: usize) -> [u8; 4] {
        let mut sum = Vec4::ZERO;
        for k in 0..FINE * FINE {
            let colour = self.sample(x * FINE + k % FINE, y * FINE + k / FINE);
            sum += (colour.truncate() * colour.w).extend(colour.w);
        }
        let opacity = sum.w / (FINE * FINE) as f32;
        let colour = if sum.w > 0.0 { sum.truncate() / sum.w } else { Vec3::ZERO };
        let [r, g, b] = srgb(colour);
        [r, g, b, (opacity * 255.0).round() as u8]
    }

    /// Linear light and opacity of a sample.
    fn sample(&self, x: usize, y: usize) -> Vec4 {
        // Turns the scatter of shadow and hollows per sample, so that too few taps become grain, not rings.
        let spin = ((x * 7 + y * 13 + (x * y) % 11 * 5) % 64) as f32 * 0.098_174_77;
        let sample = self.skin.samples[y * self.skin.width + x];
        let ground = || self.ground(x, y, spin);
        let under = if sample.triangle == NOTHING { ground() } else { self.figure(sample, x, y, spin).extend(1.0) };
        if self.bones.width == 0 { under } else { self.bone(under, x, y) }
    }

    fn figure(&self, sample: Sample, x: usize, y: usize, spin: f32) -> Vec3 {
        let corners = self.scene.triangles[sample.triangle as usize].map(|k| k as usize);
        let between = |values: &[Vec3]| {
            let [a, b, c] = corners.map(|k| values[k]);
            sample.between(a, b, c)
        };
        let [a, b, c] = corners.map(|k| self.scene.points[k]);
        let place = sample.between(a, b, c);
        let to_camera = (self.camera.eye - place).normalize_or(Vec3::Z);
        let flat = (b - a).cross(c - a).normalize_or(to_camera);
        let mut normal = between(&self.scene.normals).try_normalize().unwrap_or(flat);
        // Seen from within, a surface is lit from within.
        if flat.dot(to_camera) < 0.0 {
            normal = -normal;
        }
        let extent = self.scene.extent;
        let lit = self.shadow.light(place + normal * (0.006 * extent), 0.012 * extent, spin);
        let open = light::openness(&self.skin, &self.camera, x, y, 0.045 * extent, &self.taps, spin);
        self.lights.shade(between(&self.scene.colours), normal, to_camera, lit, open)
    }

    /// The studio: a backdrop with a pool of light, and a floor that takes the shadow.
    fn ground(&self, x: usize, y: usize, spin: f32) -> Vec4 {
        let background = &self.background;
        let (u, v) = (x as f32 / self.skin.width as f32 - 0.5, y as f32 / self.skin.height as f32 - 0.45);
        let pool = (-(u * u * 2.2 + v * v * 1.6) * 2.2).exp();
        let mut colour = background.colour * (0.42 + 0.85 * pool);
        let ray = self.camera.ray(x as f32 + 0.5, y as f32 + 0.5);
        let reach = (self.scene.floor - self.camera.eye.y) / ray.y;
        if ray.y < 0.0 && reach > 0.0 {
            let place = self.camera.eye + ray * reach;
            let extent = self.scene.extent;
            let lit = self.shadow.light(place + Vec3::Y * (0.004 * extent), 0.035 * extent, spin);
            colour *= 1.0 - 0.62 * (1.0 - lit);
        }
        colour.extend(background.opacity)
    }

    /// A bone over what is there: nearly opaque and bright for added chains, else translucent, with an outline.
    fn bone(&self, under: Vec4, x: usize, y: usize) -> Vec4 {
        let face = |dx: i64, dy: i64| {
            let sample = self.bones.get(x as i64 + dx, y as i64 + dy);
            self.scene.bones.faces.get(sample.triangle as usize).copied()
        };
        let here = face(0, 0);
        let around = [face(-1, 0), face(1, 0), face(0, -1), face(0, 1)];
        let Some((kind, number)) = here else {
            // A dark line around the outside keeps bones readable on bright fur.
            let Some((kind, _)) = around.into_iter().flatten().next() else { return under };
            return over(Vec3::splat(0.01), if kind == Kind::Added { 0.75 } else { 0.30 }, under);
        };
        let triangle = self.scene.bones.triangles[self.bones.get(x as i64, y as i64).triangle as usize];
        let [a, b, c] = triangle.map(|k| self.scene.bones.points[k as usize]);
        let normal = (b - a).cross(c - a).normalize_or(Vec3::Y);
        let to_camera = (self.camera.eye - a).normalize_or(Vec3::Z);
        let normal = if normal.dot(to_camera) < 0.0 { -normal } else { normal };
        let light = 0.55 + 0.45 * normal.dot(self.lights.key).max(0.0);
        let (colour, opacity) = match kind {
            Kind::Added => (Vec3::new(0.05, 0.75, 0.95), 0.95),
            Kind::Body => (Vec3::new(0.80, 0.84, 0.90), 0.34),
        };
        let edge = around.iter().any(|f| f.is_none_or(|(_, n)| n != number));
        over(
            colour * light * if edge { 1.25 } else { 1.0 },
            if edge { f32::min(opacity + 0.25, 1.0) } else { opacity },
            under,
        )
    }
}

/// A colour with an opacity over another.
fn over(colour: Vec3, opacity: f32, under: Vec4) -> Vec4 {
    let all = opacity + under.w * (1.0 - opacity);
    let mixed = (colour * opacity + under.truncate() * (under.w * (1.0 - opacity))) / all.max(1e-6);
    mixed.extend(all)
}
