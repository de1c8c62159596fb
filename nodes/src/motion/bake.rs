//! `motion.bake`: simulated chains become keys (`tail-3d.md` D1).

use std::sync::Arc;

use glam::DQuat;
use sinew_graph::{Cx, NodeError, Outputs, Result, node};

use crate::data::{Channel, Character, Clip, Clips, Interpolation, Motion, Take, Target, Track};
use crate::pose::{Rig, slerp};

/// What [`bake`] gives.
#[derive(Debug, Outputs)]
pub struct Baked {
    /// The character with the baked clips.
    pub character: Character,
    /// The baked clips alone.
    pub clips: Clips,
}

/// Writes simulated chains into clips, as keys on the rotations of their bones.
///
/// Keys stand in even steps from the start of a clip to its end, both included, about as many per second as is asked for; a
/// loop ends with the very key that it starts with. Nothing but rotations of the chains' bones is keyed: all other channels
/// of a clip stay as they are, and clips that were not simulated stay whole.
#[node(id = "motion.bake", revision = 1)]
pub fn bake(
    /// The character with the bones of the chains.
    character: &Character,
    /// The chains in motion; several simulations of different chains may be connected.
    motions: &[&Motion],
    /// The clips that were played, if they are not those of the character: they are added to it.
    clips: Option<&Clips>,
    /// Keys per second.
    #[param(default = 30.0, range = 1.0..=480.0, unit = "Hz")]
    fps: f32,
    /// Keep each clip as it was beside the baked one, as `Walk_original`.
    #[param(default = false)]
    keep_originals: bool,
    cx: &Cx,
) -> Result<Baked> {
    let nodes = Rig::new(&character.skeleton).map_err(|error| error.at("character"))?.nodes();
    let played = clips.unwrap_or(&character.clips);
    let mut baked: Vec<Clip> = Vec::new();
    for motion in motions {
        check(character, motion, nodes)?;
        for take in &motion.takes {
            cx.check()?;
            let clip = match baked.iter_mut().find(|clip| clip.name == take.clip) {
                Some(clip) => clip,
                None => {
                    baked.push(source(played, take)?.clone());
                    let last = baked.len() - 1;
                    &mut baked[last]
                }
            };
            for (chain, track) in motion.chains.iter().zip(&take.tracks) {
                key(clip, &chain.nodes, take, track, fps.into());
            }
        }
    }
    // A character without chains stays as it is, and nothing is amiss.
    if baked.is_empty() && motions.iter().all(|motion| !motion.chains.is_empty()) {
        cx.warn_at("motions", "there is no simulated clip: nothing was baked");
    }
    let mut all = character.clips.clips.clone();
    for clip in &baked {
        match all.iter_mut().find(|old| old.name == clip.name) {
            Some(old) => {
                let before = std::mem::replace(old, clip.clone());
                if keep_originals {
                    let name = original(&before.name, &all);
                    all.push(Clip { name, ..before });
                }
            }
            None => all.push(clip.clone()),
        }
    }
    Ok(Baked {
        character: Character { clips: Clips { clips: all }, ..character.clone() },
        clips: Clips { clips: baked },
    })
}

fn original(name: &str, all: &[Clip]) -> Arc<str> {
    let free = |name: &String| all.iter().all(|clip| *clip.name != **name);
    let numbered = (2..).map(|n| format!("{name}_original{n}"));
    std::iter::once(format!("{name}_original")).chain(numbered).find(free).unwrap_or_default().into()
}

fn check(character: &Character, motion: &Motion, nodes: usize) -> Result<()> {
    match motion.chains.iter().find(|chain| chain.nodes.iter().any(|&node| node as usize >= nodes)) {
        Some(chain) => Err(NodeError::new(format!(
            "chain {} moves nodes that {:?} does not have: it has {nodes}",
            chain.name, character.name
        ))
        .at("motions")
        .help("connect the character that the motion was simulated on")),
        None => Ok(()),
    }
}

fn source<'a>(clips: &'a Clips, take: &Take) -> Result<&'a Clip> {
    let found = clips.clips.iter().find(|clip| clip.name == take.clip);
    found.filter(|clip| f64::from(clip.duration) == take.duration).ok_or_else(|| {
        let what = if found.is_some() { "has another length than" } else { "is not among the clips of" };
        NodeError::new(format!("the simulated clip {:?} {what} the character", take.clip))
            .at("motions")
            .help("connect the clips that were simulated to clips")
    })
}

/// Keys for the bones of a chain; channels that turned them before give way.
fn key(clip: &mut Clip, nodes: &[u32], take: &Take, track: &Track, fps: f64) {
    let links = nodes.len();
    let steps = if take.duration > 0.0 { (take.duration * fps).round().max(1.0) as usize } else { 0 };
    let time = |k: usize| if k == steps { clip.duration } else { (take.duration * (k as f64 / steps as f64)) as f32 };
    let mut times: Vec<f32> = (0..=steps).map(time).collect();
    // Steps so short that two keys fall on one time in 32 bits are one key.
    times.dedup();
    let times: Arc<[f32]> = times.into();
    let samples = take.samples();
    let at = |sample: usize, link: usize| DQuat::from_array(track.rotations[sample * links + link].map(f64::from));
    for (link, &node) in nodes.iter().enumerate() {
        let mut values: Vec<f32> = Vec::with_capacity(times.len() * 4);
        for &time in &*times {
            let place = if take.duration > 0.0 {
                (f64::from(time) / take.duration * (samples - 1) as f64).clamp(0.0, (samples - 1) as f64)
            } else {
                0.0
            };
            let (sample, share) = (place.floor() as usize, place.fract());
            let rotation =
                if share == 0.0 { at(sample, link) } else { slerp(at(sample, link), at(sample + 1, link), share) };
            values.extend(rotation.to_array().map(|x| x as f32));
        }
        if take.looped {
            let (first, last) = (values[..4].to_vec(), values.len() - 4);
            values[last..].copy_from_slice(&first);
        }
        run_on(&mut values, take.looped);
        clip.channels.retain(|channel| (channel.node, channel.target) != (node, Target::Rotation));
        clip.channels.push(Channel {
            node,
            target: Target::Rotation,
            interpolation: Interpolation::Linear,
            times: Arc::clone(&times),
            values: values.into(),
        });
    }
}

/// Neighbouring quaternions have one sign, so that any player takes the short way. In a loop whose last key would come out
/// with the other sign, the last key stays what the first one is.
fn run_on(values: &mut [f32], looped: bool) {
    let keys = values.len() / 4;
    for k in 1..keys - usize::from(looped && keys > 1) {
        let (before, now) = values.split_at_mut(4 * k);
        let before = &before[4 * (k - 1)..];
        if before.iter().zip(&now[..4]).map(|(a, b)| a * b).sum::<f32>() < 0.0 {
            now[..4].iter_mut().for_each(|x| *x = -*x);
        }
    }
}

#[cfg(test)]
mod tests;
