//! How chains are simulated.

use sinew_graph::Choice;

use super::scene::Scene;
use super::solver::Springs;
use crate::data::Kind;

/// The height of the character that constants in metres are for (`tail-3d.md`, conventions).
pub const TALL: f64 = 1.8;

/// Settings of a simulation. Lengths are for a character that is 1.8 m tall.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// How fast the first link of a tail swings, Hz.
    pub frequency: f64,
    /// The same of the last link, as a share of the first.
    pub tip: f64,
    /// Damping ratio.
    pub damping: f64,
    /// Downward, m/s².
    pub gravity: f64,
    /// How fast bends of neighbours even out, 1 per second.
    pub coupling: f64,
    /// How far a link may bend, radians.
    pub limit: f64,
    /// A step over more than this carries the particles along, m.
    pub teleport: f64,
    /// How many times as fast as tails other kinds swing: ears, hair, wings.
    pub kinds: [f64; 3],
    /// Where the ground is.
    pub ground: Ground,
    /// How far above the ground tips stay, m.
    pub clearance: f64,
    /// How fast sliding on the ground ends, 1 per second.
    pub friction: f64,
    /// Whether no point of a tail passes the plane through its root that faces forward.
    pub keep_behind: bool,
    /// Substeps per second.
    pub rate: f64,
    /// Which clips are loops.
    pub looping: Looping,
    /// How far apart the poses at start and end of a loop are at most, radians.
    pub seam: f64,
    /// How often a loop is played at most before it is recorded.
    pub warm_up: u32,
    /// How far the tip may be at the end of a loop from where it was at its start, as a share of the chain's length.
    pub tolerance: f64,
}

/// Where the ground is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Ground {
    /// Under the lowest skin in the bind pose, and this much above it, m.
    Feet(f64),
    /// At this height of the file's world, m of the character's 1.8.
    Height(f64),
    /// Nowhere.
    Off,
}

impl Ground {
    /// How far up it is in a scene, world units.
    pub fn level(self, scene: &Scene) -> Option<f64> {
        match self {
            Self::Feet(above) => Some(scene.floor + above * scene.height / TALL),
            Self::Height(height) => Some(height * scene.height / TALL),
            Self::Off => None,
        }
    }
}

/// Which clips are loops.
#[derive(Choice, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Looping {
    /// Those whose joints are turned at the end as at the start.
    #[default]
    Auto,
    /// All.
    Always,
    /// None.
    Never,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            frequency: 0.9,
            tip: 0.5,
            damping: 0.65,
            gravity: 1.0,
            coupling: 12.0,
            limit: std::f64::consts::FRAC_PI_6,
            teleport: 0.2,
            kinds: [3.0, 1.5, 2.0],
            ground: Ground::Feet(0.0),
            clearance: 0.025,
            friction: 8.0,
            keep_behind: true,
            rate: 240.0,
            looping: Looping::Auto,
            seam: 0.05,
            warm_up: 32,
            tolerance: 0.001,
        }
    }
}

impl Settings {
    /// The springs of a chain, in world units.
    pub fn springs(&self, kind: Kind, scene: &Scene) -> Springs {
        let [ear, hair, wing] = self.kinds;
        let times = match kind {
            Kind::Ear => ear,
            Kind::Hair => hair,
            Kind::Wing => wing,
            _ => 1.0,
        };
        let metre = scene.height / TALL;
        Springs {
            frequency: self.frequency * times,
            tip: self.tip,
            damping: self.damping,
            gravity: scene.up * (-self.gravity * metre),
            coupling: self.coupling,
            limit: self.limit,
            teleport: self.teleport * metre,
        }
    }

    /// Whether a chain stays behind its root.
    pub fn keep_behind(&self, kind: Kind) -> bool {
        self.keep_behind && kind == Kind::Tail
    }
}
