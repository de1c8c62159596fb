//! Writes the clips that are new or changed; of a changed clip, only the channels that changed.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};
use sinew_graph::{Cx, NodeError, Result};

use super::append::{Appender, Holds};
use super::json::{array, entry};
use crate::data::{Channel, Character, Clip, Interpolation, Target};
use crate::io::gltf::accessor::Accessors;
use crate::io::gltf::clips::{ReadChannel, names, read_channels};

/// A clip to write, and the animation that it changes.
pub struct Changed {
    clip: Clip,
    animation: Option<(usize, Vec<ReadChannel>)>,
}

/// The clips that differ from those in the file. A clip belongs to the animation of its name; of several with one name,
/// in their order. Animations without a clip stay.
pub fn changed(character: &Character, accessors: &Accessors, cx: &Cx) -> Result<Vec<Changed>> {
    let joints = &character.skeleton.joints;
    let nodes = accessors.document().nodes.len() + joints.iter().filter(|joint| joint.node.is_none()).count();
    let names = names(&accessors.document().animations);
    let source = read_channels(accessors, &Cx::detached())?;
    let mut by_name: BTreeMap<Arc<str>, Vec<(usize, Vec<ReadChannel>)>> = BTreeMap::new();
    for (entry, name) in source.into_iter().zip(names).rev() {
        by_name.entry(name).or_default().push(entry);
    }
    let mut changed = Vec::new();
    for clip in &character.clips.clips {
        cx.check()?;
        let animation = by_name.get_mut(&clip.name).and_then(Vec::pop);
        let same = animation.as_ref().is_some_and(|(_, channels)| {
            channels.len() == clip.channels.len()
                && channels.iter().zip(&clip.channels).all(|(read, channel)| read.channel == *channel)
        });
        if same {
            continue;
        }
        if clip.channels.is_empty() {
            cx.warn_at("character", format!("clip {:?} has no channels and is not written", clip.name));
            continue;
        }
        for channel in &clip.channels {
            check(clip, channel, nodes)?;
        }
        changed.push(Changed { clip: clip.clone(), animation });
    }
    Ok(changed)
}

fn check(clip: &Clip, channel: &Channel, nodes: usize) -> Result<()> {
    let keys = channel.times.len() * if channel.interpolation == Interpolation::Cubic { 3 } else { 1 };
    let fits = match arity(channel.target) {
        1 => keys > 0 && channel.values.len() % keys == 0 && !channel.values.is_empty(),
        arity => keys > 0 && channel.values.len() == keys * arity,
    };
    let finite = channel.times.iter().chain(channel.values.iter()).all(|x| x.is_finite());
    let rising =
        channel.times.windows(2).all(|pair| pair[0] < pair[1]) && channel.times.first().is_some_and(|&t| t >= 0.0);
    if (channel.node as usize) < nodes && fits && finite && rising {
        return Ok(());
    }
    let (name, node, target) = (&clip.name, channel.node, channel.target);
    Err(NodeError::new(format!(
        "clip {name:?} has a channel ({target:?} of node {node}) whose node does not exist or whose keys are unusable"
    ))
    .at("character")
    .help("look at the node that made the clip: times rise from 0 or later, values are numbers and fit the keys"))
}

fn arity(target: Target) -> usize {
    match target {
        Target::Translation | Target::Scale => 3,
        Target::Rotation => 4,
        Target::Weights => 1,
    }
}

/// Writes these clips.
pub fn write(out: &mut Appender, changed: &[Changed], cx: &Cx) -> Result<()> {
    for Changed { clip, animation } in changed {
        cx.check()?;
        match animation {
            None => append(out, clip)?,
            Some((animation, source)) => change(out, clip, *animation, source)?,
        }
    }
    Ok(())
}

fn append(out: &mut Appender, clip: &Clip) -> Result<()> {
    let (mut channels, mut samplers) = (Vec::new(), Vec::new());
    for channel in &clip.channels {
        channels.push(json!({ "sampler": samplers.len(), "target": target(channel) }));
        samplers.push(sampler(out, channel)?);
    }
    array(&mut out.json, "animations")?
        .push(json!({ "name": &*clip.name, "channels": channels, "samplers": samplers }));
    Ok(())
}

fn change(out: &mut Appender, clip: &Clip, animation: usize, source: &[ReadChannel]) -> Result<()> {
    let key = |channel: &Channel| (channel.node, channel.target);
    for channel in &clip.channels {
        let old = source.iter().find(|read| key(&read.channel) == key(channel));
        if old.is_some_and(|read| read.channel == *channel) {
            continue;
        }
        let sampler = sampler(out, channel)?;
        let entry = entry(&mut out.json, "animations", animation)?;
        let samplers = array(entry, "samplers")?;
        samplers.push(sampler);
        let sampler = samplers.len() - 1;
        let channels = array(entry, "channels")?;
        match old.and_then(|read| channels.get_mut(read.index)) {
            Some(channel) => channel["sampler"] = sampler.into(),
            None => channels.push(json!({ "sampler": sampler, "target": target(channel) })),
        }
    }
    let gone = source.iter().filter(|read| !clip.channels.iter().any(|channel| key(channel) == key(&read.channel)));
    let mut gone: Vec<usize> = gone.map(|read| read.index).collect();
    gone.sort_unstable();
    let channels = array(entry(&mut out.json, "animations", animation)?, "channels")?;
    for index in gone.into_iter().rev().filter(|&index| index < channels.len()).collect::<Vec<_>>() {
        channels.remove(index);
    }
    Ok(())
}

fn target(channel: &Channel) -> Value {
    let path = match channel.target {
        Target::Translation => "translation",
        Target::Rotation => "rotation",
        Target::Scale => "scale",
        Target::Weights => "weights",
    };
    json!({ "node": channel.node, "path": path })
}

fn sampler(out: &mut Appender, channel: &Channel) -> Result<Value> {
    let input = out.accessor(Holds::Times, bytemuck::cast_slice(&channel.times))?;
    let values = match channel.target {
        Target::Rotation if channel.interpolation != Interpolation::Cubic => unit(&channel.values),
        _ => channel.values.to_vec(),
    };
    let output = out.accessor(Holds::Values(arity(channel.target)), bytemuck::cast_slice(&values))?;
    let interpolation = match channel.interpolation {
        Interpolation::Step => "STEP",
        Interpolation::Linear => "LINEAR",
        Interpolation::Cubic => "CUBICSPLINE",
    };
    Ok(json!({ "input": input, "interpolation": interpolation, "output": output }))
}

/// Quaternions of length 1, as the format asks for.
fn unit(values: &[f32]) -> Vec<f32> {
    let mut out = values.to_vec();
    for q in out.chunks_exact_mut(4) {
        let length = q.iter().map(|&x| f64::from(x).powi(2)).sum::<f64>().sqrt();
        if (length - 1.0).abs() > 1e-6 && length > 1e-12 {
            q.iter_mut().for_each(|x| *x = (f64::from(*x) / length) as f32);
        }
    }
    out
}
