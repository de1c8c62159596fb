//! `motion.reduce_keys`: the keys that a player would not miss.

use std::collections::BTreeSet;
use std::sync::Arc;

use glam::DQuat;
use sinew_graph::{Cx, NodeError, Outputs, Result, node};

use crate::data::{Chains, Channel, Character, Clip, Clips, Interpolation, Table, Target};
use crate::pose::{Rig, slerp};

/// What [`reduce_keys`] gives.
#[derive(Debug, Outputs)]
pub struct Reduced {
    /// The character with fewer keys.
    pub character: Character,
    /// A row per clip: keys before and after, and how far a bone is turned from where it was at most.
    pub table: Table,
}

/// Leaves out keys of rotations as long as no joint is turned by more than the tolerance from where the keys had it.
///
/// Only linear channels are looked at; first and last keys stay, and so does every other channel. The error is that in the
/// joint's own parent: along a chain those of the joints above add up.
#[node(id = "motion.reduce_keys", revision = 1)]
pub fn reduce_keys(
    /// The character whose clips to thin out.
    character: &Character,
    /// Thin out the bones of these chains only; all joints if nothing is connected.
    chains: Option<&Chains>,
    /// How far a joint may be turned from where it was.
    #[param(default = 0.1, range = 0.0..=30.0, unit = "degrees")]
    tolerance: f32,
    cx: &Cx,
) -> Result<Reduced> {
    let rig = Rig::new(&character.skeleton).map_err(|error| error.at("character"))?;
    let only: Option<BTreeSet<u32>> = match chains {
        Some(chains) if chains.joint_count() > rig.joints() => {
            return Err(NodeError::new(format!("{:?} does not have the bones of the chains", character.name))
                .at("chains")
                .help("connect the character that rig.apply gives, and the chains that went into it"));
        }
        Some(chains) => {
            let joints = chains.with_joints().flat_map(|(_, joints)| joints);
            Some(joints.map(|joint| rig.joint_node(joint.into()) as u32).collect())
        }
        None => None,
    };
    let wanted = |channel: &Channel| {
        channel.target == Target::Rotation
            && channel.interpolation == Interpolation::Linear
            && channel.values.len() == channel.times.len() * 4
            && only.as_ref().is_none_or(|only| only.contains(&channel.node))
    };
    let mut rows = Vec::new();
    let mut clips = Vec::new();
    for clip in &character.clips.clips {
        cx.check()?;
        let (mut before, mut after, mut most) = (0, 0, 0.0f64);
        let channel = |channel: &Channel| {
            if !wanted(channel) {
                return channel.clone();
            }
            let (reduced, error) = reduce(channel, f64::from(tolerance).to_radians());
            before += channel.times.len();
            after += reduced.times.len();
            most = most.max(error);
            reduced
        };
        clips.push(Clip { channels: clip.channels.iter().map(channel).collect(), ..clip.clone() });
        rows.push((Arc::clone(&clip.name), before, after, most.to_degrees()));
    }
    let table = Table::new("reduced_keys")
        .texts("clip", rows.iter().map(|row| Arc::clone(&row.0)))
        .integers("keys before", rows.iter().map(|row| row.1 as i32))
        .integers("keys after", rows.iter().map(|row| row.2 as i32))
        .numbers("error", "degrees", rows.iter().map(|row| row.3));
    Ok(Reduced { character: Character { clips: Clips { clips }, ..character.clone() }, table })
}

/// The channel with as few of its keys as one reach after the other needs, and its greatest error in radians.
fn reduce(channel: &Channel, tolerance: f64) -> (Channel, f64) {
    let keys: Vec<DQuat> = channel.values.chunks_exact(4).map(quaternion).collect();
    let times = &channel.times;
    // How far the keys between two are from the way between those; none if more than the tolerance.
    let error = |a: usize, b: usize| {
        let mut most = 0.0f64;
        for k in a + 1..b {
            let share = f64::from(times[k] - times[a]) / f64::from(times[b] - times[a]);
            most = most.max(angle(slerp(keys[a], keys[b], share), keys[k]));
            if most.is_nan() || most > tolerance {
                return None;
            }
        }
        Some(most)
    };
    let (mut kept, mut most) = (vec![0], 0.0f64);
    let mut at = 0;
    while at + 1 < keys.len() {
        let (mut reach, mut found) = (at + 1, 0.0);
        for next in at + 2..keys.len() {
            match error(at, next) {
                Some(error) => (reach, found) = (next, error),
                None => break,
            }
        }
        most = most.max(found);
        kept.push(reach);
        at = reach;
    }
    if keys.is_empty() {
        kept.clear();
    }
    let values = kept.iter().flat_map(|&k| channel.values[4 * k..4 * k + 4].iter().copied());
    let reduced =
        Channel { times: kept.iter().map(|&k| times[k]).collect(), values: values.collect(), ..channel.clone() };
    (reduced, most)
}

fn quaternion(stored: &[f32]) -> DQuat {
    DQuat::from_xyzw(stored[0].into(), stored[1].into(), stored[2].into(), stored[3].into()).normalize()
}

/// The angle between two rotations, exact for small ones.
fn angle(a: DQuat, b: DQuat) -> f64 {
    let (near, far) = ((a - b).length(), (a + b).length());
    4.0 * near.min(far).atan2(near.max(far))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::motion::test_support::{HIPS, clip, keyed, tailed, with};
    use crate::pose::sample_channel;

    fn swinging() -> Character {
        let (character, _) = tailed(3);
        let swing = |time: f64| DQuat::from_rotation_y(0.8 * (3.0 * time).sin()).to_array();
        let still = |_: f64| [0.0, 0.0, 0.0, 1.0];
        let channels = vec![keyed(HIPS, Target::Rotation, 4.0, swing), keyed(3, Target::Rotation, 4.0, still)];
        with(&character, clip("Swing", 4.0, channels))
    }

    #[test]
    fn no_joint_is_turned_by_more_than_the_tolerance() {
        let character = swinging();
        for tolerance in [0.0, 0.05, 1.0, 10.0] {
            let made = reduce_keys(&character, None, tolerance, &Cx::detached()).unwrap();
            let (old, new) = (&character.clips.clips[0].channels, &made.character.clips.clips[0].channels);
            let at = |channel: &Channel, time: f64| {
                let mut out = [0.0; 4];
                assert_eq!(sample_channel(channel, time, &mut out), Ok(true));
                quaternion(&out)
            };
            for (old, new) in old.iter().zip(new) {
                for k in 0..=1000 {
                    let time = 4.0 * f64::from(k) / 1000.0;
                    // Stored in 32 bits, a rotation is off by up to 1e-7 radians by itself.
                    let error = angle(at(old, time), at(new, time)).to_degrees();
                    assert!(error <= f64::from(tolerance) + 3e-5, "{tolerance}: {error} at {time} s");
                }
                assert_eq!((new.times[0], new.times.last()), (0.0, old.times.last()));
            }
            let kept = new[0].times.len();
            let bounds = [(0.0, 482), (0.05, 160), (1.0, 48), (10.0, 16)];
            let most = bounds.iter().find(|bound| bound.0 == tolerance).unwrap().1;
            assert!(kept <= most && kept > 4, "{tolerance}: {kept} keys");
        }
        let made = reduce_keys(&character, None, 1e-3, &Cx::detached()).unwrap();
        assert_eq!(made.character.clips.clips[0].channels[1].times[..], [0.0, 4.0], "what stands still needs two keys");
        assert_eq!(made.table.column("keys before").unwrap().cells.show(0), "962");
    }

    #[test]
    fn only_bones_of_the_chains_are_thinned_out() {
        let (_, chains) = tailed(3);
        let character = swinging();
        let made = reduce_keys(&character, Some(&chains), 1.0, &Cx::detached()).unwrap();
        assert_eq!(made.character, character);
    }
}
