//! A made character whose hips swing, with a straight tail of bones.

use std::f64::consts::TAU;

use glam::{Mat4, Vec3};
use sinew_graph::Cx;

use crate::data::{Chains, Channel, Character, Clip, Clips, Interpolation, Target, Transform};
use crate::rig::apply::apply;
use crate::rig::chain_weights::chain_weights;
use crate::rig::dijkstra_chain::dijkstra_chain;
use crate::rig::test_support::{character, straight_tail};

/// The node of the hips.
pub const HIPS: u32 = 1;

/// A character 1.8 high with a tail of `bones` bones, 0.8 long, and no clip.
pub fn tailed(bones: u32) -> (Character, Chains) {
    let cx = Cx::detached();
    let regions = straight_tail();
    let regions = crate::data::Regions { stance: crate::data::Stance { height: 1.8, ..regions.stance }, ..regions };
    let chains = dijkstra_chain(&regions, 0.8 / 1.8 / bones as f32, bones, bones, &cx).unwrap().chains;
    let skin = chain_weights(&chains, None, &cx).unwrap();
    let made = apply(&character(&regions.body), Some(&chains), &skin, &cx).unwrap();
    (bound(made), chains)
}

/// The same, with the pose of the file that of the bind.
pub fn bound(mut made: Character) -> Character {
    let mut locals = made.skeleton.node_locals.to_vec();
    for joint in made.skeleton.joints.iter() {
        if let (Some(node), Some(parent)) = (joint.node, joint.parent) {
            let of = |name: &str| made.skeleton.joints.iter().position(|joint| *joint.name == *name).unwrap();
            let local = made.skeleton.bind(parent.into()).inverse() * made.skeleton.bind(of(&joint.name));
            locals[node as usize] = Transform::from_matrix(local);
        }
    }
    made.skeleton.node_locals = locals.into();
    made
}

/// Keys 120 times a second for what `at` gives at a time in seconds.
pub fn keyed<const N: usize>(node: u32, target: Target, duration: f64, at: impl Fn(f64) -> [f64; N]) -> Channel {
    let keys = (duration * 120.0).round() as usize;
    let time = |k: usize| duration * k as f64 / keys.max(1) as f64;
    Channel {
        node,
        target,
        interpolation: Interpolation::Linear,
        times: (0..=keys).map(|k| time(k) as f32).collect(),
        values: (0..=keys).flat_map(|k| at(time(k)).map(|x| x as f32)).collect(),
    }
}

/// A clip of some channels.
pub fn clip(name: &str, duration: f64, channels: Vec<Channel>) -> Clip {
    Clip { name: name.into(), duration: duration as f32, channels }
}

/// The hips swing `reach` metres to both sides, once in 4/3 s as the source's fast swing, going `ahead` metres per second.
pub fn sway(character: &Character, reach: f64, ahead: f64, duration: f64) -> Clip {
    let rest = character.skeleton.node_locals[HIPS as usize].translation.as_dvec3();
    let at = |time: f64| {
        let swing = reach * (TAU * time / (4.0 / 3.0)).sin();
        (rest + glam::DVec3::new(swing, 0.0, ahead * time)).to_array()
    };
    clip("Sway", duration, vec![keyed(HIPS, Target::Translation, duration, at)])
}

/// The character with a clip.
pub fn with(character: &Character, clip: Clip) -> Character {
    Character { clips: Clips { clips: vec![clip] }, ..character.clone() }
}

/// A copy whose file is in units of 1 / `times` metres.
pub fn scaled(character: &Character, chains: &Chains, times: f32) -> (Character, Chains) {
    let scale = |p: &Vec3| *p * times;
    let mesh = |mesh: &crate::data::Mesh| crate::data::Mesh {
        positions: mesh.positions.iter().map(scale).collect(),
        ..mesh.clone()
    };
    let skeleton = |skeleton: &crate::data::Skeleton| crate::data::Skeleton {
        binds: skeleton
            .binds
            .iter()
            .map(|bind| {
                let bind = Mat4::from_cols_array(bind);
                Mat4 { w_axis: (bind.w_axis.truncate() * times).extend(1.0), ..bind }.to_cols_array()
            })
            .collect(),
        node_locals: (0..)
            .zip(skeleton.node_locals.iter())
            .map(|(node, local)| {
                // Only the hips hang from a node without a scale.
                let by = if node == HIPS { times } else { 1.0 };
                Transform { translation: local.translation * by, ..*local }
            })
            .collect(),
        ..skeleton.clone()
    };
    let mut body = chains.body.clone();
    body.mesh = mesh(&body.mesh);
    body.skeleton = skeleton(&body.skeleton);
    let chain = |chain: &crate::data::Chain| crate::data::Chain {
        joints: chain.joints.iter().map(scale).collect(),
        length: chain.length * times,
        ..chain.clone()
    };
    let chains = Chains {
        body,
        stance: crate::data::Stance { height: chains.stance.height * times, ..chains.stance },
        chains: chains.chains.iter().map(chain).collect(),
    };
    let clips = character.clips.clips.iter().map(|clip| Clip {
        channels: clip
            .channels
            .iter()
            .map(|channel| {
                let by = if channel.target == Target::Translation { times } else { 1.0 };
                Channel { values: channel.values.iter().map(|x| x * by).collect(), ..channel.clone() }
            })
            .collect(),
        ..clip.clone()
    });
    let made = Character {
        mesh: mesh(&character.mesh),
        skeleton: skeleton(&character.skeleton),
        clips: Clips { clips: clips.collect() },
        ..character.clone()
    };
    (made, chains)
}
