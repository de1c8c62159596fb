//! The spring chain (`tail-3d.md` C1 to C11): one solver for 3D and, in the plane z = 0, for 2D; for baking and for live
//! preview.
//!
//! A chain hangs from a [`Frame`] that something else moves. Each [`Solver::step`] is one fixed substep; it allocates
//! nothing and uses only additions, multiplications, divisions and square roots, so that its bits are the same on every
//! machine. Directions are kept in *hips space*, the frame's own axes: there the bends of neighbours can be compared
//! whatever way their bones are turned.

mod contact;
mod coupling;
mod turn;

use glam::{DQuat, DVec3};

pub use contact::{Capsule, Floor, World};
pub use turn::swing;

use contact::Contact;
use coupling::Coupling;

/// What a chain hangs from, at one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frame {
    /// Where the first joint is.
    pub origin: DVec3,
    /// Turns hips space to the world: x to the left, y up, z forward of what the chain hangs from. Unit length.
    pub turn: DQuat,
    /// How much longer bones are than in the bind pose.
    pub scale: f64,
}

impl Frame {
    /// Whether all numbers are finite and the scale is above 0.
    pub fn is_usable(&self) -> bool {
        self.origin.is_finite() && self.turn.is_finite() && self.scale.is_finite() && self.scale > 0.0
    }
}

/// The shape of a chain.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    /// Length per link, world units; a link without length follows its neighbours.
    pub lengths: Vec<f64>,
    /// Direction per link in the bind pose, hips space, unit length.
    pub bind: Vec<DVec3>,
    /// Direction per link that its spring pulls to, hips space, unit length.
    pub rest: Vec<DVec3>,
}

/// How a chain is sprung. All in physical units, never per frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Springs {
    /// How fast the first link swings, Hz.
    pub frequency: f64,
    /// How fast the last link swings, as a share of the first; linear in between.
    pub tip: f64,
    /// Damping ratio: 1 is critical.
    pub damping: f64,
    /// Acceleration of everything, world units per second squared.
    pub gravity: DVec3,
    /// How fast bends of neighbours even out, 1 per second.
    pub coupling: f64,
    /// How far a link may bend from its rest direction, radians.
    pub limit: f64,
    /// A frame that moves farther in one step carries the particles along, world units.
    pub teleport: f64,
}

/// Why a step failed. After [`StepError::Link`] the chain has to be put to rest, or restored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StepError {
    /// The frame, or the step, is not a number.
    #[error("what the chain hangs from is not at a place")]
    Frame,
    /// A link has no finite place any more.
    #[error("link {0} was driven to infinity")]
    Link(usize),
}

/// A link as the solver keeps it.
#[derive(Clone, Copy, Debug)]
struct Link {
    length: f64,
    rest: DVec3,
    /// Bind direction, turned by the rest corrections of all links before it.
    bind: DVec3,
    /// Undoes the turn from `bind` to `rest`.
    unrest: DQuat,
    /// w², and 2 z w.
    stiffness: f64,
    drag: f64,
}

/// A moving tip.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Particle {
    at: DVec3,
    velocity: DVec3,
    /// The turn from the rest direction to where the link points, hips space.
    bend: DQuat,
}

/// What of a step depends on its length alone.
#[derive(Clone, Copy, Debug)]
struct Step {
    seconds: f64,
    /// Steps per second; 0 for steps of no time.
    rate: f64,
    coupling: Coupling,
    friction: f64,
}

/// A chain that moves.
#[derive(Clone, Debug)]
pub struct Solver {
    links: Vec<Link>,
    springs: Springs,
    /// Cosine and sine of half the limit.
    limit: (f64, f64),
    particles: Vec<Particle>,
    frame: Frame,
    step: Step,
    /// Per capsule and link: how near the tip may come to the capsule's axis. See [`Solver::fit`].
    clearances: Vec<f64>,
    /// Square of the fastest change of a bend in the last step.
    spin: f64,
}

/// The state of a [`Solver`], to come back to.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    particles: Vec<Particle>,
    frame: Frame,
}

impl Solver {
    /// A chain at rest where `frame` is. `friction` is how fast sliding on the floor ends, 1 per second.
    pub fn new(shape: &Shape, springs: Springs, friction: f64, seconds: f64, frame: Frame) -> Self {
        let count = shape.lengths.len();
        // Turns hips space as the rest corrections of the links so far do.
        let mut corrected = DQuat::IDENTITY;
        let links = (0..count).map(|i| {
            let share = if count > 1 { i as f64 / (count - 1) as f64 } else { 0.0 };
            let w = std::f64::consts::TAU * springs.frequency * (1.0 + share * (springs.tip - 1.0));
            let (bind, rest) = (corrected * shape.bind[i], shape.rest[i]);
            let turn = swing(bind, rest);
            corrected = (turn * corrected).normalize();
            Link {
                length: shape.lengths[i],
                rest,
                bind,
                unrest: turn.conjugate(),
                stiffness: w * w,
                drag: 2.0 * springs.damping * w,
            }
        });
        let links: Vec<Link> = links.collect();
        let half = 0.5 * springs.limit.clamp(0.0, std::f64::consts::PI);
        let mut solver = Self {
            particles: vec![Particle::default(); links.len()],
            links,
            clearances: Vec::new(),
            spin: 0.0,
            springs,
            limit: (half.cos(), half.sin()),
            frame,
            step: Step {
                seconds,
                rate: if seconds > 0.0 { 1.0 / seconds } else { 0.0 },
                coupling: Coupling::new(1.0 - (-springs.coupling * seconds).exp()),
                friction: 1.0 - (-friction * seconds).exp(),
            },
        };
        solver.rest_at(frame);
        solver
    }

    /// Puts the chain into its rest pose, without any speed.
    pub fn rest_at(&mut self, frame: Frame) {
        self.frame = frame;
        let mut head = frame.origin;
        for (link, particle) in self.links.iter().zip(&mut self.particles) {
            head += frame.turn * link.rest * (link.length * frame.scale);
            *particle = Particle { at: head, velocity: DVec3::ZERO, bend: DQuat::IDENTITY };
        }
    }

    /// How many links there are.
    pub fn len(&self) -> usize {
        self.links.len()
    }

    /// Whether there is no link.
    pub fn is_empty(&self) -> bool {
        self.links.is_empty()
    }

    /// Where the far end of each link is.
    pub fn points(&self) -> impl ExactSizeIterator<Item = DVec3> + '_ {
        self.particles.iter().map(|particle| particle.at)
    }

    /// How fast the far end of each link moves, world units per second.
    pub fn velocities(&self) -> impl ExactSizeIterator<Item = DVec3> + '_ {
        self.particles.iter().map(|particle| particle.velocity)
    }

    /// How far each link is bent from its rest direction, in hips space.
    pub fn bends(&self) -> impl ExactSizeIterator<Item = DQuat> + '_ {
        self.particles.iter().map(|particle| particle.bend)
    }

    /// How fast the fastest bend changed in the last step, radians per second.
    pub fn angular_speed(&self) -> f64 {
        // A bend is half an angle on the sphere of quaternions.
        2.0 * self.spin.sqrt() * self.step.rate
    }

    /// Makes room for a chain that hangs inside of limbs: no tip is kept farther from a capsule's axis than it is now.
    /// Call it in the rest pose; capsules are then told apart by their order.
    pub fn fit(&mut self, capsules: &[Capsule]) {
        let near = |capsule: &Capsule, particle: &Particle| {
            capsule.radius.min(capsule.nearest(particle.at).distance(particle.at))
        };
        self.clearances =
            capsules.iter().flat_map(|capsule| self.particles.iter().map(|particle| near(capsule, particle))).collect();
    }

    /// The state now.
    pub fn state(&self) -> State {
        State { particles: self.particles.clone(), frame: self.frame }
    }

    /// Comes back to a state of this chain.
    pub fn restore(&mut self, state: &State) {
        self.particles.clone_from(&state.particles);
        self.frame = state.frame;
    }

    /// Moves the frame without moving the chain in it: after a teleport, or at the seam of a loop.
    pub fn carry(&mut self, to: Frame) {
        let from = self.frame;
        let turn = (to.turn * from.turn.conjugate()).normalize();
        let scale = to.scale / from.scale;
        for particle in &mut self.particles {
            particle.at = to.origin + turn * (particle.at - from.origin) * scale;
            particle.velocity = turn * particle.velocity * scale;
        }
        self.frame = to;
    }

    /// One step to where the frame is now.
    pub fn step(&mut self, frame: Frame, world: &World<'_>) -> Result<(), StepError> {
        if !frame.is_usable() {
            return Err(StepError::Frame);
        }
        let jump = frame.origin.distance_squared(self.frame.origin) > self.springs.teleport * self.springs.teleport;
        // A quarter of a turn in one step is a cut as well.
        if jump || frame.turn.dot(self.frame.turn).abs() < std::f64::consts::FRAC_1_SQRT_2 {
            self.carry(frame);
        }
        self.frame = frame;
        let Step { seconds, rate, coupling, friction } = self.step;
        let count = self.links.len();
        let mut head = frame.origin;
        // Turns hips space to the world, bent as the links so far are.
        let mut turn = frame.turn;
        let mut before = None;
        let mut spin = 0.0f64;
        for i in 0..count {
            let link = self.links[i];
            let length = link.length * frame.scale;
            let old = self.particles[i];
            if length <= 0.0 {
                // A joint on top of another has no direction: it rests.
                self.particles[i] = Particle { at: head, velocity: DVec3::ZERO, bend: DQuat::IDENTITY };
                before = Some(DQuat::IDENTITY);
                continue;
            }
            let rest = turn * link.rest;
            let target = head + rest * length;
            let pull = link.stiffness * (target - old.at) - link.drag * old.velocity + self.springs.gravity;
            let mut velocity = old.velocity + pull * seconds;
            let reach = old.at + velocity * seconds - head;
            let way = reach.length();
            let mut direction = if way > 1e-9 * length { reach * way.recip() } else { rest };
            velocity -= velocity.dot(direction) * direction;

            let free = direction;
            // The same in the axes of the links above, unbent.
            let mut local = turn.conjugate() * direction;
            let mut bend = swing(link.rest, local);
            if count > 1 {
                let after = self.particles.get(i + 1).map(|next| next.bend);
                bend = coupling.blend(bend, before, after);
                local = bend * link.rest;
                direction = turn * local;
            }
            // Coupling moves the tip without a velocity. What a limit or a contact stops is the whole movement: a velocity
            // that only holds the coupling in balance has to stay, or the tip would hop for ever.
            let drift = (direction - free) * (length * rate);
            let stop =
                |velocity: DVec3, axis: DVec3| velocity.dot(axis).min((velocity + drift).dot(axis)).max(0.0) * axis;
            let (cosine, sine) = self.limit;
            let limited = bend.w.abs() < cosine;
            if limited {
                let axis = bend.xyz() * (sine / bend.xyz().length()).copysign(bend.w);
                bend = DQuat::from_xyzw(axis.x, axis.y, axis.z, cosine);
                local = bend * link.rest;
                direction = turn * local;
                let away = rest.dot(direction) * direction - rest;
                velocity -= stop(velocity, away.normalize_or_zero());
            }

            let contact =
                Contact { head, length, root: &frame, rest, link: i, links: count, clearances: &self.clearances };
            let touch = contact.resolve(world, direction);
            if touch.direction != direction {
                direction = touch.direction;
                local = turn.conjugate() * direction;
                bend = swing(link.rest, local);
            }
            velocity -= velocity.dot(direction) * direction;
            for push in touch.pushes.iter().flatten() {
                velocity -= stop(velocity, *push);
            }
            if let (true, Some(floor)) = (touch.on_floor, world.floor) {
                velocity -= stop(velocity, -floor.up);
                velocity -= friction * (velocity + drift);
            }
            let at = head + direction * length;
            if !(at.is_finite() && velocity.is_finite()) {
                return Err(StepError::Link(i));
            }
            before = Some(old.bend);
            self.particles[i] = Particle { at, velocity, bend };
            spin = spin.max((bend - old.bend).length_squared().min((bend + old.bend).length_squared()));
            turn *= swing(link.bind, local) * link.unrest;
            head = at;
        }
        self.spin = spin;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
