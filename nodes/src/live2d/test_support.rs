//! Waving chains whose angles are known at every time.

use std::f64::consts::TAU;

use glam::{DQuat, DVec3};

use crate::data::{Kind, Motion, MovedChain, Stance, Take, Track};

/// A tail that waves in space, on hips that walk and turn.
#[derive(Clone, Copy, Debug)]
pub struct Wave {
    /// How many links.
    pub links: usize,
    /// How far each link bends, radians.
    pub swing: f64,
    /// Whole waves in a take.
    pub waves: f64,
    /// Seconds.
    pub duration: f64,
}

impl Wave {
    /// Where a link points at rest, hips space: back and down, curling up.
    pub fn rest(&self, link: usize) -> DVec3 {
        let curl = 0.9 * link as f64 / self.links as f64;
        (DQuat::from_rotation_x(curl) * DVec3::new(0.1, -0.8, -0.6)).normalize()
    }

    /// Where a link points at a time, hips space.
    pub fn direction(&self, link: usize, time: f64) -> DVec3 {
        let phase = TAU * self.waves * time / self.duration - 0.7 * link as f64;
        let share = (link + 1) as f64;
        let turn = DQuat::from_rotation_x(self.swing * share * phase.sin())
            * DQuat::from_rotation_z(0.5 * self.swing * share * (2.0 * phase).cos());
        turn * self.rest(link)
    }

    pub fn length(&self, link: usize) -> f64 {
        0.1 + 0.01 * (link % 3) as f64
    }

    /// The hips at a time: where, and how turned.
    fn hips(&self, time: f64) -> (DVec3, DQuat) {
        let turn = TAU * time / self.duration;
        let origin = DVec3::new(turn.sin(), 0.9 + 0.05 * (2.0 * turn).cos(), 0.3 * turn.cos());
        (origin, DQuat::from_euler(glam::EulerRot::YXZ, 0.8 * turn.sin(), 0.2, -0.1 * turn.cos()))
    }

    /// The chain in motion, sampled.
    pub fn motion(&self, samples: usize, looped: bool) -> Motion {
        let directions: Vec<DVec3> = (0..self.links).map(|link| self.rest(link)).collect();
        let chain = MovedChain {
            name: "Tail".into(),
            kind: Kind::Tail,
            nodes: (0..self.links as u32).collect(),
            lengths: (0..self.links).map(|link| self.length(link)).collect(),
            bind: directions.clone().into(),
            rest: directions.into(),
        };
        let (mut roots, mut turns, mut points) = (Vec::new(), Vec::new(), Vec::new());
        for sample in 0..samples {
            let time = self.duration * sample as f64 / (samples.max(2) - 1) as f64;
            let (mut at, turn) = self.hips(time);
            roots.push(at);
            turns.push(turn.to_array());
            for link in 0..self.links {
                at += turn * self.direction(link, time) * self.length(link);
                points.push(at);
            }
        }
        let track =
            Track { roots: roots.into(), turns: turns.into(), points: points.into(), rotations: [[0.0; 4]; 0].into() };
        let take = Take {
            clip: "Wag".into(),
            duration: if samples > 1 { self.duration } else { 0.0 },
            looped,
            passes: 1,
            gap: 0.0,
            tracks: vec![track],
        };
        let stance = Stance { up: glam::Vec3::Y, forward: glam::Vec3::Z, height: 1.8 };
        Motion { stance, chains: vec![chain], takes: vec![take] }
    }
}
