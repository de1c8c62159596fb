//! Channels sampled at a time, as glTF 2.0 (section 3.11 and appendix C) defines it.

use glam::DQuat;
use sinew_graph::{NodeError, Result};

use crate::data::{Channel, Clip, Clips, Interpolation, Target, Transform};

/// Moves `locals` as a clip says at a time; other nodes stay.
pub(super) fn sample_clip(clip: &Clip, time: f64, locals: &mut [Transform]) -> Result<()> {
    if !time.is_finite() {
        return Err(NodeError::new(format!("clip {:?} cannot be sampled at the time {time}", clip.name)));
    }
    for channel in &clip.channels {
        let nodes = locals.len();
        let Some(local) = locals.get_mut(channel.node as usize) else {
            return Err(malformed(clip, channel, format!("there are {nodes} nodes")));
        };
        sample_local(channel, time, local).map_err(|what| malformed(clip, channel, what))?;
    }
    Ok(())
}

/// An error that names a channel.
pub(crate) fn malformed(clip: &Clip, channel: &Channel, what: String) -> NodeError {
    NodeError::new(format!("clip {:?}, {:?} of node {}: {what}", clip.name, channel.target, channel.node))
        .help("leave this clip out, or export it anew")
}

/// Moves a node as one of its channels says at a time. Morph targets move no node.
pub(crate) fn sample_local(channel: &Channel, time: f64, local: &mut Transform) -> Result<(), String> {
    let mut out = [0.0; 4];
    let arity = match channel.target {
        Target::Translation | Target::Scale => 3,
        Target::Rotation => 4,
        Target::Weights => return Ok(()),
    };
    if !sample_channel(channel, time, &mut out[..arity])? {
        return Ok(());
    }
    let [x, y, z, _] = out;
    match channel.target {
        Target::Translation => local.translation = [x, y, z].into(),
        Target::Scale => local.scale = [x, y, z].into(),
        Target::Rotation => local.rotation = out,
        Target::Weights => {}
    }
    Ok(())
}

/// Writes a channel's value at a time to `out`, whose length is the channel's arity: 3 for translation and scale, 4 for
/// rotation (a unit quaternion), the number of morph targets for weights. `false`, and `out` untouched, for a channel
/// without keys. An error says in which way the channel is malformed.
pub fn sample_channel(channel: &Channel, time: f64, out: &mut [f32]) -> Result<bool, String> {
    let keys = channel.times.len();
    if keys == 0 {
        return Ok(false);
    }
    let arity = out.len();
    let per_key = if channel.interpolation == Interpolation::Cubic { 3 * arity } else { arity };
    if channel.values.len() != keys * per_key {
        return Err(format!("{keys} keys need {} values but there are {}", keys * per_key, channel.values.len()));
    }
    let next = channel.times.partition_point(|&key| f64::from(key) <= time);
    // Value, in-tangent and out-tangent of a key.
    let offset = if channel.interpolation == Interpolation::Cubic { arity } else { 0 };
    let part = |key: usize, offset: usize| &channel.values[key * per_key + offset..][..arity];
    let value = |key: usize| part(key, offset);
    let rotates = channel.target == Target::Rotation;
    if next == 0 || next == keys || channel.interpolation == Interpolation::Step {
        out.copy_from_slice(value(next.saturating_sub(1)));
    } else {
        let (a, b) = (next - 1, next);
        let width = f64::from(channel.times[b]) - f64::from(channel.times[a]);
        let t = (time - f64::from(channel.times[a])) / width;
        if channel.interpolation == Interpolation::Cubic {
            let (t2, t3) = (t * t, t * t * t);
            let factors =
                [2.0 * t3 - 3.0 * t2 + 1.0, width * (t3 - 2.0 * t2 + t), 3.0 * t2 - 2.0 * t3, width * (t3 - t2)];
            let parts = [value(a), part(a, 2 * arity), value(b), part(b, 0)];
            for (k, out) in out.iter_mut().enumerate() {
                let terms = factors.iter().zip(parts).map(|(factor, part)| factor * f64::from(part[k]));
                *out = terms.sum::<f64>() as f32;
            }
        } else if let (true, &[ax, ay, az, aw], &[bx, by, bz, bw]) = (rotates, value(a), value(b)) {
            let (a, b) = (quaternion([ax, ay, az, aw])?, quaternion([bx, by, bz, bw])?);
            out.copy_from_slice(&slerp(a, b, t).to_array().map(|x| x as f32));
            return Ok(true);
        } else {
            for ((out, &a), &b) in out.iter_mut().zip(value(a)).zip(value(b)) {
                *out = (f64::from(a) + t * (f64::from(b) - f64::from(a))) as f32;
            }
        }
    }
    if let (true, &mut [x, y, z, w]) = (rotates, &mut *out) {
        out.copy_from_slice(&quaternion([x, y, z, w])?.to_array().map(|x| x as f32));
    } else if let Some(bad) = out.iter().find(|value| !value.is_finite()) {
        return Err(format!("a value is {bad}"));
    }
    Ok(true)
}

/// A stored quaternion, normalised.
fn quaternion(stored: [f32; 4]) -> Result<DQuat, String> {
    let q = DQuat::from_array(stored.map(f64::from));
    let length = q.length();
    if length.is_finite() && length > 0.0 { Ok(q / length) } else { Err(format!("{stored:?} is not a rotation")) }
}

/// The shortest way on the sphere. Exact to rounding at all angles, for which glam's arc cosine is too coarse.
pub(crate) fn slerp(a: DQuat, b: DQuat, t: f64) -> DQuat {
    let b = if a.dot(b) < 0.0 { -b } else { b };
    // Half the angle between two unit vectors from the lengths of their difference and sum: no cancellation anywhere.
    let theta = 2.0 * (a - b).length().atan2((a + b).length());
    let sin = theta.sin();
    if sin < 1e-12 {
        return (a * (1.0 - t) + b * t).normalize();
    }
    (a * (((1.0 - t) * theta).sin() / sin) + b * ((t * theta).sin() / sin)).normalize()
}

/// The clip that a person means by `name`: the one so called, else the one so called apart from case, spaces, `_` and
/// `-`, else the first whose name contains it, or contains its last word after `|` (exporters write
/// `Armature|Walk`). An error lists the names there are.
pub fn find_clip<'a>(clips: &'a Clips, name: &str) -> Result<&'a Clip> {
    let plain =
        |text: &str| text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect::<String>();
    let wanted = plain(name);
    let last = |clip: &Clip| plain(clip.name.rsplit('|').next().unwrap_or(&clip.name));
    let clips_in = || clips.clips.iter();
    clips_in()
        .find(|clip| *clip.name == *name)
        .or_else(|| clips_in().find(|clip| plain(&clip.name) == wanted))
        .or_else(|| clips_in().find(|clip| last(clip) == wanted))
        .or_else(|| clips_in().find(|clip| !wanted.is_empty() && plain(&clip.name).contains(&wanted)))
        .ok_or_else(|| {
            let names: Vec<&str> = clips_in().map(|clip| &*clip.name).collect();
            let error = NodeError::new(format!("there is no clip {name:?}"));
            if names.is_empty() {
                error.help("the character has no clips: take another file, or make a clip first")
            } else {
                error.help(format!("choose one of {}", names.join(", ")))
            }
        })
}
