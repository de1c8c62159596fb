//! A character before it becomes a file: joints and shells, and what its three kinds have in common.

use glam::{DQuat, DVec3, dvec3};
use sinew_graph::{Cx, Result};

use super::loft::Ball;
use super::maths::{ease, mix};
use super::rig::{HEAD, Joint};
use super::shell::{Material, Paint, Shell};
use super::solid::{Blob, Shape};
use super::surface::surface;

/// A character.
pub struct Figure {
    pub name: &'static str,
    pub joints: Vec<Joint>,
    pub shells: Vec<Shell>,
}

/// How finely a figure is meshed; 1 gives about fifteen thousand vertices.
#[derive(Clone, Copy, Debug)]
pub struct Detail(pub f64);

impl Detail {
    /// A number of vertices along a line.
    pub fn count(self, at_one: usize) -> usize {
        ((at_one as f64 * self.0).round() as usize).max(6)
    }
}

/// The solids of a body, limb by limb.
#[derive(Default)]
pub struct Body(pub Vec<Blob>);

impl Body {
    /// A round limb between two places with a radius at each.
    pub fn limb(&mut self, joint: usize, a: [f64; 3], b: [f64; 3], radii: [f64; 2], blend: f64) {
        self.add(joint, limb(a, b, radii, 1.0), blend, false);
    }

    /// An ellipsoid.
    pub fn egg(&mut self, joint: usize, centre: [f64; 3], radii: [f64; 3], blend: f64) {
        self.add(joint, egg(centre, radii, DQuat::IDENTITY), blend, false);
    }

    /// A solid of the left side, and its mirror image on the right side's joint.
    pub fn both(&mut self, joint: usize, shape: Shape, blend: f64) {
        self.add(joint, shape, blend, false);
        self.add(if joint >= 6 { joint + 4 } else { joint }, shape.mirrored(), blend, false);
    }

    /// Takes a solid and its mirror image away.
    pub fn carve_both(&mut self, joint: usize, shape: Shape, blend: f64) {
        self.add(joint, shape, blend, true);
        self.add(joint, shape.mirrored(), blend, true);
    }

    /// Scales the solids from number `first` on about a place.
    pub fn scale_from(&mut self, first: usize, about: DVec3, factor: f64) {
        let place = |p: DVec3| about + (p - about) * factor;
        for blob in &mut self.0[first..] {
            blob.blend *= factor;
            match &mut blob.shape {
                Shape::Limb { a, b, ra, rb, .. } => {
                    (*a, *b) = (place(*a), place(*b));
                    (*ra, *rb) = (*ra * factor, *rb * factor);
                }
                Shape::Egg { centre, radii, .. } => {
                    *centre = place(*centre);
                    *radii *= factor;
                }
            }
        }
    }

    fn add(&mut self, joint: usize, shape: Shape, blend: f64, carve: bool) {
        self.0.push(Blob { shape, blend, carve, joint });
    }

    /// Its skin. `cell` is the size of a mesh cell at detail 1, `reach` that of the weights; both in metres.
    pub fn shell(
        &self,
        joints: &[Joint],
        cell: f64,
        reach: f64,
        paint: Paint,
        detail: Detail,
        cx: &Cx,
    ) -> Result<Shell> {
        let parents: Vec<_> = joints.iter().take(22).map(|joint| joint.parent).collect();
        let skin = surface(&self.0, cell / detail.0, cx)?;
        Shell::body(&skin, &self.0, &parents, reach, paint, cx)
    }
}

/// A limb, flattened along z by a factor.
pub fn limb(a: [f64; 3], b: [f64; 3], [ra, rb]: [f64; 2], flat: f64) -> Shape {
    Shape::Limb { a: a.into(), b: b.into(), ra, rb, flat }
}

/// An ellipsoid, turned.
pub fn egg(centre: [f64; 3], radii: [f64; 3], turn: DQuat) -> Shape {
    Shape::Egg { centre: centre.into(), radii: radii.into(), turn }
}

/// A pair of eyes, the left one's place given.
pub fn eyes(centre: [f64; 3], radius: f64, iris: [f64; 3], detail: Detail) -> Shell {
    let mut shell = Shell::new(Material::Gloss);
    for side in [1.0, -1.0] {
        let centre = dvec3(side * centre[0], centre[1], centre[2]);
        let glint = dvec3(0.30, 0.42, 0.86);
        let paint = |cosine: f64, d: DVec3| {
            let eye = mix([0.02, 0.015, 0.015], iris, ease(0.945, 0.915, cosine));
            let eye = mix(eye, iris.map(|c| c * 0.35), ease(0.83, 0.76, cosine));
            let eye = mix(eye, [0.95, 0.94, 0.91], ease(0.74, 0.68, cosine));
            mix(eye, [1.0; 3], ease(0.965, 0.98, d.dot(glint)))
        };
        let pole = dvec3(side * 0.30, 0.0, 1.0);
        let ball =
            Ball { centre, radii: DVec3::splat(radius), pole, joint: HEAD, paint: &paint, rows: detail.count(14) };
        shell.append(ball.shell());
    }
    shell
}

/// A small glossy ball of one colour on the head.
pub fn button(centre: [f64; 3], radii: [f64; 3], colour: [f64; 3], detail: Detail) -> Shell {
    let paint = |_: f64, _: DVec3| colour;
    let (centre, radii) = (DVec3::from_array(centre), DVec3::from_array(radii));
    Ball { centre, radii, pole: DVec3::Z, joint: HEAD, paint: &paint, rows: detail.count(9) }.shell()
}
