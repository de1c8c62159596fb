//! `motion.spring`: chains that follow their character softly (`tail-3d.md` C).

use std::sync::Arc;

use rayon::prelude::*;
use sinew_graph::{Choice, Cx, NodeError, Outputs, Result, node};

use super::playback::Playback;
use super::scene::Scene;
use super::settings::{Ground, Looping, Settings};
use crate::data::{Chains, Character, Clips, Colliders, Motion, Table, Take};

/// What [`spring`] gives.
#[derive(Debug, Outputs)]
pub struct Sprung {
    /// The chains in motion, clip by clip.
    pub motion: Motion,
    /// A row per clip: whether it is a loop and why, how often it was played before it closed, and the gap that was left.
    pub takes: Table,
}

/// Where the ground is.
#[derive(Choice, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GroundAt {
    /// Under the lowest skin that no chain moves, in the bind pose; the height counts from there.
    #[default]
    Feet,
    /// At the height in the file's world.
    Height,
    /// There is none.
    Off,
}

/// Simulates chains as damped springs while clips move what they hang from.
///
/// Each link's tip is a particle that is pulled to where the rest pose of the links before it would have it. Links keep
/// their length, bends even out along the chain, no link bends farther than the limit, and tips stay above the ground and
/// out of colliders. All is in seconds, metres and Hz, in fixed substeps: the rate of later keys changes nothing. Metres
/// are those of a character that is 1.8 m tall and scale with it.
///
/// A loop is played until its end meets its start, then recorded; a clip that is none starts from rest. Where the
/// character is moved from the end of a loop back to its start, chains go with it.
#[node(id = "motion.spring", revision = 1)]
#[expect(clippy::too_many_arguments, reason = "each is a knob")]
pub fn spring(
    /// The character with the bones of the chains.
    character: &Character,
    /// The chains to move.
    chains: &Chains,
    /// The clips to play; those of the character if nothing is connected.
    clips: Option<&Clips>,
    /// What the chains may not go through.
    colliders: Option<&Colliders>,
    /// How fast the first link of a tail swings.
    #[param(default = 0.9, range = 0.01..=30.0, unit = "Hz")]
    frequency: f32,
    /// How fast the last link swings, as a share of the first.
    #[param(default = 0.5, range = 0.01..=4.0)]
    tip: f32,
    /// Damping ratio: 1 comes to rest without swinging over.
    #[param(default = 0.65, range = 0.0..=4.0)]
    damping: f32,
    /// Downward acceleration.
    #[param(default = 1.0, range = -30.0..=30.0, unit = "m/s²")]
    gravity: f32,
    /// How fast bends of neighbours even out.
    #[param(default = 12.0, range = 0.0..=200.0, unit = "1/s")]
    coupling: f32,
    /// How far a link may bend from its rest direction.
    #[param(default = 30.0, range = 0.0..=180.0, unit = "degrees")]
    limit: f32,
    /// How many times as fast as tails ears swing.
    #[param(default = 3.0, range = 0.05..=20.0)]
    ears: f32,
    /// How many times as fast as tails hair swings.
    #[param(default = 1.5, range = 0.05..=20.0)]
    hair: f32,
    /// How many times as fast as tails wings swing.
    #[param(default = 2.0, range = 0.05..=20.0)]
    wings: f32,
    /// Where the ground is.
    #[param(default = GroundAt::Feet)]
    ground: GroundAt,
    /// How high the ground is.
    #[param(default = 0.0, range = -10.0..=10.0, unit = "m")]
    height: f32,
    /// How far above the ground tips stay.
    #[param(default = 0.025, range = 0.0..=1.0, unit = "m")]
    clearance: f32,
    /// How fast sliding on the ground ends.
    #[param(default = 8.0, range = 0.0..=200.0, unit = "1/s")]
    friction: f32,
    /// Whether tails stay behind the plane through their root that faces forward.
    #[param(default = true)]
    keep_behind: bool,
    /// Substeps per second.
    #[param(default = 240, range = 30..=2000, unit = "Hz")]
    rate: u32,
    /// Which clips are loops.
    #[param(default = Looping::Auto)]
    looping: Looping,
    /// How often a loop is played at most before it is recorded.
    #[param(default = 32, range = 0..=1000)]
    warm_up: u32,
    /// How far the tip may be at the end of a loop from where it was at its start, as a share of the chain's length.
    #[param(default = 0.1, range = 0.0001..=10.0, unit = "%")]
    tolerance: f32,
    cx: &Cx,
) -> Result<Sprung> {
    let wide = f64::from;
    let settings = Settings {
        frequency: wide(frequency),
        tip: wide(tip),
        damping: wide(damping),
        gravity: wide(gravity),
        coupling: wide(coupling),
        limit: wide(limit).to_radians(),
        kinds: [ears, hair, wings].map(wide),
        ground: match ground {
            GroundAt::Feet => Ground::Feet(wide(height)),
            GroundAt::Height => Ground::Height(wide(height)),
            GroundAt::Off => Ground::Off,
        },
        clearance: wide(clearance),
        friction: wide(friction),
        keep_behind,
        rate: rate.into(),
        looping,
        warm_up,
        tolerance: wide(tolerance) / 100.0,
        ..Settings::default()
    };
    simulate(
        character,
        chains,
        clips.unwrap_or(&character.clips),
        colliders.unwrap_or(&Colliders::default()),
        &settings,
        cx,
    )
}

/// The same with all settings in one place.
pub fn simulate(
    character: &Character,
    chains: &Chains,
    clips: &Clips,
    colliders: &Colliders,
    settings: &Settings,
    cx: &Cx,
) -> Result<Sprung> {
    check_colliders(character, colliders)?;
    let scene = Scene::new(character, chains, colliders)?;
    if clips.clips.is_empty() && !chains.chains.is_empty() {
        cx.warn_at("clips", "there are no clips, so nothing moves: make one with motion.idle_sway");
    }
    let chosen: &[_] = if chains.chains.is_empty() { &[] } else { &clips.clips };
    // Clips know nothing of each other.
    let played = chosen.par_iter().map(|clip| {
        let mut playback = Playback::new(&scene, clip, settings)?;
        let take = playback.record(cx)?;
        Ok((take, playback.seam()))
    });
    let played: Vec<(Take, f64)> = played.collect::<Result<_>>()?;
    for (take, _) in &played {
        if let Some(longest) = open(take, &scene, settings) {
            cx.warn(format!(
                "clip {:?} does not close: after {} rounds the tip is {:.2} % of its chain's length off; raise the limit of \
                 rounds or the damping",
                take.clip,
                take.passes,
                take.gap / longest * 100.0
            ));
        }
    }
    let takes = table(&played, &scene);
    let takes_only = played.into_iter().map(|(take, _)| take).collect();
    Ok(Sprung { motion: Motion { stance: scene.stance(), chains: scene.chains(), takes: takes_only }, takes })
}

/// Whether a loop was not closed, and then the length of its longest chain.
fn open(take: &Take, scene: &Scene, settings: &Settings) -> Option<f64> {
    let longest = longest(scene);
    (take.looped && take.gap > settings.tolerance * longest).then_some(longest)
}

fn longest(scene: &Scene) -> f64 {
    scene.strands.iter().map(super::scene::Strand::length).fold(0.0, f64::max)
}

fn check_colliders(character: &Character, colliders: &Colliders) -> Result<()> {
    let joints = character.skeleton.joints.len();
    match colliders.colliders.iter().find(|collider| usize::from(collider.joint) >= joints) {
        Some(collider) => Err(NodeError::new(format!(
            "collider {:?} is on joint {}, but {:?} has {joints} joints",
            collider.name, collider.joint, character.name
        ))
        .at("colliders")
        .help("connect colliders made for this character")),
        None => Ok(()),
    }
}

fn table(played: &[(Take, f64)], scene: &Scene) -> Table {
    let longest = longest(scene);
    let why = |(take, seam): &(Take, f64)| -> Arc<str> {
        let seam = seam.to_degrees();
        match (take.looped, take.duration > 0.0) {
            (_, false) => "one pose: the chains come to rest in it".into(),
            (true, _) => format!("joints are turned at its end as at its start, within {seam:.1} degrees").into(),
            (false, _) => {
                format!("starts from rest; at its end a joint is turned {seam:.1} degrees from its start").into()
            }
        }
    };
    let takes = || played.iter().map(|(take, _)| take);
    Table::new("takes")
        .texts("clip", takes().map(|take| Arc::clone(&take.clip)))
        .numbers("duration", "s", takes().map(|take| take.duration))
        .texts("loop", takes().map(|take| if take.looped { "yes" } else { "no" }))
        .integers("rounds before", takes().map(|take| take.passes as i32))
        .numbers("gap", "% of length", takes().map(|take| if longest > 0.0 { take.gap / longest * 100.0 } else { 0.0 }))
        .texts("reason", played.iter().map(why))
}

#[cfg(test)]
mod tests;
