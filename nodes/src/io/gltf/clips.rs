//! Reads animations. A channel that cannot be read is told and left out; it stays in the document, like all channels.

use std::collections::BTreeMap;
use std::sync::Arc;

use sinew_graph::{Cx, Result};

use super::accessor::Accessors;
use super::document::Animation;
use crate::data::{Channel, Clip, Clips, Interpolation, Target};

/// Where a [`Channel`] of a [`Clip`] comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadChannel {
    /// Its number among the channels of the animation.
    pub index: usize,
    /// What it holds.
    pub channel: Channel,
}

/// Accessors decoded so far: channels of one clip share their times.
type Decoded = BTreeMap<usize, std::result::Result<(Arc<[f32]>, usize), String>>;

/// Reads all animations.
pub fn read(accessors: &Accessors, cx: &Cx) -> Result<Clips> {
    let names = names(&accessors.document().animations);
    let mut clips = Vec::new();
    for ((_, channels), name) in read_channels(accessors, cx)?.into_iter().zip(names) {
        let channels: Vec<Channel> = channels.into_iter().map(|read| read.channel).collect();
        let last = channels.iter().filter_map(|channel| channel.times.last());
        let duration = last.copied().fold(0.0, f32::max);
        clips.push(Clip { name, duration, channels });
    }
    Ok(Clips { clips })
}

/// The names of clips: those of the animations, or their numbers.
pub fn names(animations: &[Animation]) -> Vec<Arc<str>> {
    let name = |(k, animation): (usize, &Animation)| match &animation.name {
        Some(name) if !name.is_empty() => name.as_str().into(),
        _ => format!("animation {k}").into(),
    };
    animations.iter().enumerate().map(name).collect()
}

/// Reads the channels of all animations, with their numbers.
pub fn read_channels(accessors: &Accessors, cx: &Cx) -> Result<Vec<(usize, Vec<ReadChannel>)>> {
    let mut decoded = Decoded::new();
    let mut out = Vec::new();
    for (a, animation) in accessors.document().animations.iter().enumerate() {
        cx.check()?;
        let (mut channels, mut bad) = (Vec::new(), Vec::new());
        for index in 0..animation.channels.len() {
            match read_channel(accessors, animation, index, &mut decoded) {
                Ok(Some(channel)) => channels.push(ReadChannel { index, channel }),
                Ok(None) => {}
                Err(reason) => bad.push((index, reason)),
            }
        }
        if let Some((index, reason)) = bad.first() {
            let name = animation.name.as_deref().unwrap_or("unnamed");
            cx.warn(format!(
                "animations[{a}] ({name}): {} of {} channels cannot be read and are left out; first channels[{index}]: {reason}",
                bad.len(),
                animation.channels.len()
            ));
        }
        out.push((a, channels));
    }
    Ok(out)
}

fn read_channel(
    accessors: &Accessors,
    animation: &Animation,
    index: usize,
    decoded: &mut Decoded,
) -> std::result::Result<Option<Channel>, String> {
    let channel = &animation.channels[index];
    let target = match channel.target.path.as_str() {
        "translation" => Target::Translation,
        "rotation" => Target::Rotation,
        "scale" => Target::Scale,
        "weights" => Target::Weights,
        // Extensions such as KHR_animation_pointer move other things.
        _ => return Ok(None),
    };
    let Some(node) = channel.target.node else { return Ok(None) };
    let nodes = accessors.document().nodes.len();
    if node >= nodes {
        return Err(format!("target.node: node {node} of {nodes} is named"));
    }
    let samplers = animation.samplers.len();
    let sampler = animation
        .samplers
        .get(channel.sampler)
        .ok_or_else(|| format!("sampler: sampler {} of {samplers} is named", channel.sampler))?;
    let interpolation = match sampler.interpolation.as_deref() {
        None | Some("LINEAR") => Interpolation::Linear,
        Some("STEP") => Interpolation::Step,
        Some("CUBICSPLINE") => Interpolation::Cubic,
        Some(other) => return Err(format!("sampler.interpolation: {other:?} is unknown")),
    };
    let mut flat = |accessor: usize, what: &str| {
        let entry = decoded.entry(accessor).or_insert_with(|| {
            accessors.flat(accessor, what).map(|(values, arity)| (values.into(), arity)).map_err(|error| error.what)
        });
        entry.clone()
    };
    let (times, arity) = flat(sampler.input, "sampler.input")?;
    let rising = times.windows(2).all(|pair| pair[0] < pair[1]);
    if arity != 1 || times.is_empty() || !rising || !times.iter().all(|t| t.is_finite()) || times[0] < 0.0 {
        return Err("sampler.input: its times do not rise from 0 or later".into());
    }
    let (values, arity) = flat(sampler.output, "sampler.output")?;
    let per_key = if interpolation == Interpolation::Cubic { 3 } else { 1 };
    let expected = match target {
        Target::Translation | Target::Scale => 3,
        Target::Rotation => 4,
        Target::Weights => 1,
    };
    let keys = times.len() * per_key * if target == Target::Weights { 1 } else { expected };
    let fits =
        if target == Target::Weights { !values.is_empty() && values.len() % keys == 0 } else { values.len() == keys };
    if arity != expected || !fits {
        return Err(format!("sampler.output: {} numbers do not fit {} keys", values.len(), times.len()));
    }
    if !values.iter().all(|value| value.is_finite()) {
        return Err("sampler.output: some of its values are not numbers".into());
    }
    Ok(Some(Channel { node: node as u32, target, interpolation, times, values }))
}
