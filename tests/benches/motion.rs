//! The spring solver and a whole bake, one thread, each beside the plain way to do it.
//!
//! `cargo bench -p sinew-tests --bench motion`; a word after `--` keeps the rows that have it in their name.

use std::f64::consts::TAU;

use glam::{DQuat, DVec3};
use sinew_graph::{Cx, Result};
use sinew_nodes::data::{Character, Clip, Clips, Colliders, Motion};
use sinew_nodes::io::sample_character::{Sample, sample_character};
use sinew_nodes::mesh::weld::weld;
use sinew_nodes::motion::bake::bake;
use sinew_nodes::motion::settings::{Looping, Settings};
use sinew_nodes::motion::solver::{Floor, Frame, Shape, Solver, Springs, World};
use sinew_nodes::motion::spring::simulate;
use sinew_nodes::pose::find_clip;
use sinew_nodes::rig::apply::apply;
use sinew_nodes::rig::chain_weights::chain_weights;
use sinew_nodes::rig::collar::collar;
use sinew_nodes::rig::dijkstra_chain::dijkstra_chain;
use sinew_nodes::rig::flood_regions::{Mode, flood_regions};
use sinew_nodes::rig::pca_classify::pca_classify;
use sinew_nodes::rig::skeleton_distance::{STUB, skeleton_distance};
use sinew_tests::stopwatch::{Stopwatch, Unit};

const BONES: usize = 8;
const STEPS: usize = 24_000;
const RATE: f64 = 240.0;

fn main() -> Result<()> {
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool of one thread can be made");
    one.install(|| {
        steps();
        whole()
    })
}

/// Hips that swing a quarter of a metre to both sides and turn a little.
fn hips(step: usize) -> Frame {
    let phase = TAU * 0.75 * step as f64 / RATE;
    Frame {
        origin: DVec3::new(0.25 * phase.sin(), 1.0, 0.0),
        turn: DQuat::from_rotation_y(0.2 * phase.cos()),
        scale: 1.0,
    }
}

fn springs() -> Springs {
    Springs {
        frequency: 0.9,
        tip: 0.5,
        damping: 0.65,
        gravity: DVec3::NEG_Y,
        coupling: 12.0,
        limit: TAU / 12.0,
        teleport: 0.2,
    }
}

fn steps() {
    let watch = Stopwatch::new(&format!("{BONES} bones, {STEPS} substeps, one thread"), 7);
    let shape = Shape { lengths: vec![0.1; BONES], bind: vec![DVec3::NEG_Z; BONES], rest: vec![DVec3::NEG_Z; BONES] };
    let frames: Vec<Frame> = (0..STEPS).map(hips).collect();
    let floor = Some(Floor { up: DVec3::Y, level: 0.95 });
    for (name, world) in [
        ("spring, per bone and step", World::default()),
        ("spring with floor and plane", World { floor, keep_behind: true, capsules: &[] }),
    ] {
        let ours = || {
            let mut solver = Solver::new(&shape, springs(), 8.0, 1.0 / RATE, frames[0]);
            frames.iter().for_each(|&frame| solver.step(frame, &world).expect("the hips are at a place"));
            solver.points().last()
        };
        let plain = || {
            let mut chain = Plain::new(&shape, frames[0]);
            frames.iter().for_each(|frame| chain.step(frame, &world));
            chain.points.last().copied()
        };
        watch.row(name, STEPS * BONES, Unit::Nanoseconds, 120.0, ours, plain);
    }
}

/// C1 to C6 as they are written, with fresh lists in every step and trigonometric slerps.
struct Plain {
    lengths: Vec<f64>,
    rest: Vec<DVec3>,
    points: Vec<DVec3>,
    velocities: Vec<DVec3>,
    bends: Vec<DQuat>,
}

impl Plain {
    fn new(shape: &Shape, frame: Frame) -> Self {
        let mut head = frame.origin;
        let point = |(rest, length): (&DVec3, &f64)| {
            head += frame.turn * *rest * *length;
            head
        };
        Self {
            points: shape.rest.iter().zip(&shape.lengths).map(point).collect(),
            lengths: shape.lengths.clone(),
            rest: shape.rest.clone(),
            velocities: vec![DVec3::ZERO; shape.rest.len()],
            bends: vec![DQuat::IDENTITY; shape.rest.len()],
        }
    }

    fn step(&mut self, frame: &Frame, world: &World<'_>) {
        let (count, dt, springs) = (self.rest.len(), 1.0 / RATE, springs());
        let before = self.bends.clone();
        let (mut head, mut turn) = (frame.origin, frame.turn);
        for i in 0..count {
            let share = i as f64 / (count - 1) as f64;
            let w = TAU * springs.frequency * (1.0 - share * (1.0 - springs.tip));
            let target = head + turn * self.rest[i] * self.lengths[i];
            let pull = w * w * (target - self.points[i]) - 2.0 * springs.damping * w * self.velocities[i];
            self.velocities[i] += (pull + springs.gravity) * dt;
            let mut way = (self.points[i] + self.velocities[i] * dt - head).normalize();
            let bend = DQuat::from_rotation_arc(self.rest[i], turn.inverse() * way);
            let neighbour = match (i.checked_sub(1), before.get(i + 1)) {
                (None, Some(next)) => DQuat::IDENTITY.slerp(*next, 0.5),
                (Some(last), Some(next)) => before[last].slerp(*next, 0.5),
                (Some(last), None) => before[last],
                (None, None) => bend,
            };
            let mut bend = bend.slerp(neighbour, 1.0 - (-springs.coupling * dt).exp());
            let angle = 2.0 * bend.w.abs().min(1.0).acos();
            if angle > springs.limit {
                bend = DQuat::IDENTITY.slerp(bend, springs.limit / angle);
            }
            way = turn * (bend * self.rest[i]);
            if world.keep_behind {
                let ahead = frame.turn * DVec3::Z;
                let over = (head + way * self.lengths[i] - frame.origin).dot(ahead);
                if over > 0.0 {
                    way = (way - ahead * (over / self.lengths[i])).normalize();
                }
            }
            if let Some(floor) = world.floor {
                let u = ((floor.level - head.dot(floor.up)) / self.lengths[i]).clamp(-1.0, 1.0);
                if way.dot(floor.up) < u {
                    let flat = (way - floor.up * way.dot(floor.up)).normalize();
                    way = flat * (1.0 - u * u).sqrt() + floor.up * u;
                    self.velocities[i] *= (-8.0 * dt).exp();
                }
            }
            self.velocities[i] = self.velocities[i].reject_from_normalized(way);
            self.bends[i] = DQuat::from_rotation_arc(self.rest[i], turn.inverse() * way);
            head += way * self.lengths[i];
            self.points[i] = head;
            turn *= self.bends[i];
        }
    }
}

/// A fox with eight bones in its tail whose walk lasts ten seconds.
fn long_walk(cx: &Cx) -> Result<(Character, sinew_nodes::data::Chains)> {
    let fox = sample_character(Sample::Fox, 0.4, cx)?;
    let welded = weld(&fox, 1e-6, cx)?;
    let distance = skeleton_distance(&fox, STUB, cx)?;
    let flooded = flood_regions(&fox, &welded, &distance, Mode::Sweep, 0.07, 0.04, 0.5, 0.015, true, cx)?;
    let found = pca_classify(
        &collar(&flooded.regions, 1.5, String::new(), cx)?,
        1.6,
        0.15,
        0.4,
        false,
        false,
        String::new(),
        cx,
    )?;
    let chains = dijkstra_chain(&found.regions, 0.1, BONES as u32, BONES as u32, cx)?.chains;
    let made = apply(&fox, Some(&chains), &chain_weights(&chains, None, cx)?, cx)?;
    let walk = find_clip(&made.clips, "Walk")?.clone();
    let clips = Clips { clips: vec![Clip { duration: 10.0, ..walk }] };
    Ok((Character { clips, ..made }, chains))
}

fn whole() -> Result<()> {
    let cx = Cx::detached();
    let (character, chains) = long_walk(&cx)?;
    let watch = Stopwatch::new("a clip of ten seconds, eight bones, one thread", 7);
    let run = |settings: &Settings| -> Result<Motion> {
        Ok(simulate(&character, &chains, &character.clips, &Colliders::default(), settings, &cx)?.motion)
    };
    let once = Settings { looping: Looping::Never, ..Settings::default() };
    let job = || -> Result<Character> { Ok(bake(&character, &[&run(&once)?], None, 30.0, false, &cx)?.character) };
    let plain = || {
        let frames: Vec<Frame> = (0..=2_400).map(hips).collect();
        let shape =
            Shape { lengths: vec![0.1; BONES], bind: vec![DVec3::NEG_Z; BONES], rest: vec![DVec3::NEG_Z; BONES] };
        let mut chain = Plain::new(&shape, frames[0]);
        frames.iter().for_each(|frame| chain.step(frame, &World::default()));
        chain.points.last().copied()
    };
    watch.row("simulated and baked (plain: steps alone)", 1, Unit::Milliseconds, 10.0, job, plain);
    Ok(())
}
