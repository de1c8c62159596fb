//! Chains played through a clip, substep by substep: the one way for baking and for live preview.

use glam::{DQuat, DVec3};
use sinew_graph::{Cx, NodeError, Result};

use super::scene::{Route, Scene};
use super::settings::{Looping, Settings};
use super::solver::{Capsule, Floor, Frame, Solver, State, StepError, World};
use crate::data::{Clip, Take, Target, Track};
use crate::pose::{malformed, sample_channel};

/// The most link positions that a take holds: 1.3 GB.
const MOST: usize = 1 << 25;

/// How long chains may take to come to rest, seconds.
const SETTLE: f64 = 10.0;

/// A scene in a clip. [`Playback::step`] goes on by one substep and starts over at the end; a live preview calls it as often
/// as time has passed, and sees what [`Playback::record`] writes down, bit for bit.
pub struct Playback<'a> {
    scene: &'a Scene,
    settings: &'a Settings,
    clip: &'a Clip,
    route: Route,
    steps: usize,
    looped: bool,
    /// How far the pose at the end is from that at the start, radians.
    seam: f64,
    solvers: Vec<Solver>,
    /// The step that the chains are at, 0 to `steps`.
    at: usize,
}

/// Where the tips of all chains are, each in its own hips space as a share of its scale.
type Tips = Vec<DVec3>;

impl<'a> Playback<'a> {
    /// The chains at rest at the start of a clip.
    pub fn new(scene: &'a Scene, clip: &'a Clip, settings: &'a Settings) -> Result<Self> {
        let duration = f64::from(clip.duration);
        if !(duration.is_finite() && duration >= 0.0) {
            return Err(NodeError::new(format!("clip {:?} lasts {duration} s", clip.name))
                .at("clips")
                .help("leave this clip out, or export it anew"));
        }
        let links: usize = scene.strands.iter().map(|strand| strand.shape.lengths.len()).sum();
        let steps = (duration * settings.rate).round().max(1.0);
        if steps * links.max(1) as f64 > MOST as f64 {
            return Err(NodeError::new(format!(
                "clip {:?} lasts {duration:.0} s, which at {} steps per second and {links} links is more than can be held",
                clip.name, settings.rate
            ))
            .at("clips")
            .help(format!(
                "lower the rate to {:.0}, choose fewer chains, or cut the clip",
                ((MOST / links.max(1)) as f64 / duration).floor()
            )));
        }
        let steps = if duration > 0.0 { steps as usize } else { 0 };
        let route = scene.route(clip, steps, settings.rate.recip())?;
        let seam = seam(clip)?;
        let looped = match settings.looping {
            Looping::Auto => steps > 0 && seam <= settings.seam,
            Looping::Always => steps > 0,
            Looping::Never => false,
        };
        let solver = |(k, strand): (usize, &super::scene::Strand)| {
            let springs = settings.springs(strand.kind, scene);
            let mut solver = Solver::new(&strand.shape, springs, settings.friction, route.step, strand.bind_frame());
            solver.fit(&scene.bind_capsules());
            solver.rest_at(route.frames[k][0]);
            solver
        };
        let solvers = scene.strands.iter().enumerate().map(solver).collect();
        Ok(Self { scene, settings, clip, steps, looped, seam, solvers, at: 0, route })
    }

    /// How many substeps the clip has.
    pub fn steps(&self) -> usize {
        self.steps
    }

    /// The substep that the chains are at.
    pub fn at(&self) -> usize {
        self.at
    }

    /// The first joint and the far ends of all links of a chain, now.
    pub fn line(&self, chain: usize) -> impl Iterator<Item = DVec3> + '_ {
        std::iter::once(self.route.frames[chain][self.at].origin).chain(self.solvers[chain].points())
    }

    /// Goes on by one substep. At the end of the clip, goes back to its start first: chains keep their place in what they
    /// hang from, wherever that was moved to.
    pub fn step(&mut self) -> Result<()> {
        if self.at >= self.steps {
            self.rewind();
        }
        self.at += 1.min(self.steps);
        self.go()
    }

    fn rewind(&mut self) {
        self.at = 0;
        for (solver, frames) in self.solvers.iter_mut().zip(&self.route.frames) {
            solver.carry(frames[0]);
        }
    }

    fn go(&mut self) -> Result<()> {
        let Self { scene, settings, clip, route, solvers, at, .. } = self;
        for (k, solver) in solvers.iter_mut().enumerate() {
            let strand = &scene.strands[k];
            let world = World {
                floor: settings.floor(scene),
                keep_behind: settings.keep_behind(strand.kind),
                capsules: route.around(*at),
            };
            solver.step(route.frames[k][*at], &world).map_err(|error| {
                let what = match error {
                    StepError::Frame => format!("what chain {} hangs from is nowhere", strand.name),
                    StepError::Link(link) => {
                        format!("bone {} of chain {} was driven to infinity", link + 1, strand.name)
                    }
                };
                NodeError::new(format!("clip {:?} at {:.3} s: {what}", clip.name, route.step * *at as f64))
                    .at("clips")
                    .help("lower the frequency or the damping, or raise the rate")
            })?;
        }
        Ok(())
    }

    /// Lets the chains come to rest at the start of the clip.
    fn settle(&mut self) -> Result<()> {
        self.at = 0;
        for _ in 0..(SETTLE / self.route.step) as usize {
            self.go()?;
            if self.solvers.iter().all(|solver| solver.angular_speed() < 1e-4) {
                break;
            }
        }
        Ok(())
    }

    fn tips(&self) -> Tips {
        let tip = |(solver, frames): (&Solver, &Vec<Frame>)| {
            let frame = &frames[self.at];
            let tip = solver.points().last().unwrap_or(frame.origin);
            frame.turn.conjugate() * (tip - frame.origin) / frame.scale
        };
        self.solvers.iter().zip(&self.route.frames).map(tip).collect()
    }

    /// How far each tip is from where it was, world units of the bind pose.
    fn gaps(&self, before: &Tips) -> Vec<f64> {
        self.tips().iter().zip(before).map(|(now, then)| now.distance(*then)).collect()
    }

    /// Whether all gaps are within the tolerance.
    fn closed(&self, gaps: &[f64]) -> bool {
        let strands = self.scene.strands.iter();
        strands.zip(gaps).all(|(strand, &gap)| gap <= self.settings.tolerance * strand.length())
    }

    /// Plays the clip until its end is where its start was, and writes down what the chains do.
    pub fn record(&mut self, cx: &Cx) -> Result<Take> {
        let mut passes = 0;
        if self.looped {
            loop {
                let before = self.tips();
                self.pass(cx, |_| {})?;
                passes += 1;
                let closed = self.closed(&self.gaps(&before));
                self.rewind();
                if closed || passes >= self.settings.warm_up {
                    break;
                }
            }
        } else {
            self.settle()?;
        }
        let before = self.tips();
        let mut tracks: Vec<Writer> = self.scene.strands.iter().map(|_| Writer::default()).collect();
        self.write(&mut tracks);
        self.pass(cx, |playback| playback.write(&mut tracks))?;
        let gaps = if self.looped { self.gaps(&before) } else { Vec::new() };
        Ok(Take {
            clip: self.clip.name.clone(),
            duration: f64::from(self.clip.duration),
            looped: self.looped,
            passes,
            gap: gaps.into_iter().fold(0.0, f64::max),
            tracks: tracks.into_iter().map(Writer::track).collect(),
        })
    }

    fn pass(&mut self, cx: &Cx, mut each: impl FnMut(&Self)) -> Result<()> {
        for k in 0..self.steps {
            if k % 1024 == 0 {
                cx.check()?;
            }
            self.step()?;
            each(self);
        }
        Ok(())
    }

    fn write(&self, tracks: &mut [Writer]) {
        for (k, (writer, strand)) in tracks.iter_mut().zip(&self.scene.strands).enumerate() {
            let frame = &self.route.frames[k][self.at];
            writer.tips.clear();
            writer.tips.extend(self.solvers[k].points());
            let links = writer.tips.len();
            let before = writer.rotations.len().checked_sub(links).map(|from| writer.rotations[from..].to_vec());
            let joint = &self.route.joints[k][self.at];
            strand.rotations(joint, frame.origin, &writer.tips, before.as_deref(), &mut writer.rotations);
            writer.roots.push(frame.origin);
            let turn = match writer.turns.last() {
                Some(&last) if frame.turn.dot(DQuat::from_array(last)) < 0.0 => -frame.turn,
                _ => frame.turn,
            };
            writer.turns.push(turn.to_array());
            writer.points.extend_from_slice(&writer.tips);
        }
    }

    /// Whether the clip is played as a loop.
    pub fn looped(&self) -> bool {
        self.looped
    }

    /// How far the pose at the clip's end is from that at its start, radians.
    pub fn seam(&self) -> f64 {
        self.seam
    }

    /// The state of all chains, to come back to.
    pub fn state(&self) -> (usize, Vec<State>) {
        (self.at, self.solvers.iter().map(Solver::state).collect())
    }

    /// Comes back to a state of this playback.
    pub fn restore(&mut self, (at, states): &(usize, Vec<State>)) {
        self.at = *at;
        self.solvers.iter_mut().zip(states).for_each(|(solver, state)| solver.restore(state));
    }
}

impl Route {
    /// The capsules at a time.
    fn around(&self, at: usize) -> &[Capsule] {
        &self.capsules[at * self.limbs..(at + 1) * self.limbs]
    }
}

#[derive(Default)]
struct Writer {
    roots: Vec<DVec3>,
    turns: Vec<[f64; 4]>,
    points: Vec<DVec3>,
    rotations: Vec<[f32; 4]>,
    tips: Vec<DVec3>,
}

impl Writer {
    fn track(self) -> Track {
        Track {
            roots: self.roots.into(),
            turns: self.turns.into(),
            points: self.points.into(),
            rotations: self.rotations.into(),
        }
    }
}

/// The greatest angle between a node's rotation at the end of a clip and at its start. Places are not looked at: a walk that
/// goes somewhere is a loop, too.
fn seam(clip: &Clip) -> Result<f64> {
    let mut most = 0.0f64;
    for channel in clip.channels.iter().filter(|channel| channel.target == Target::Rotation) {
        let at = |time: f64| {
            let mut out = [0.0, 0.0, 0.0, 1.0];
            sample_channel(channel, time, &mut out).map_err(|what| malformed(clip, channel, what).at("clips"))?;
            Ok::<_, NodeError>(DQuat::from_array(out.map(f64::from)))
        };
        let (a, b) = (at(0.0)?, at(clip.duration.into())?);
        let between = (a - b).length().min((a + b).length());
        most = most.max(4.0 * (0.5 * between).min(1.0).asin());
    }
    Ok(most)
}

/// The floor of a scene as the settings have it.
impl Settings {
    fn floor(&self, scene: &Scene) -> Option<Floor> {
        let level = self.ground.level(scene)? + self.clearance * scene.height / super::settings::TALL;
        Some(Floor { up: scene.up, level })
    }
}
