use std::collections::{BTreeMap, BTreeSet};

use glam::Vec3;
use sinew_graph::Value;

use super::*;
use crate::data::{Clip, Target};
use crate::pose::{Rig, find_clip, skin_positions};

const ALL: [Sample; 4] = [Sample::Fox, Sample::Rat, Sample::RatRigged, Sample::Biped];

fn made(kind: Sample) -> Character {
    let cx = Cx::detached();
    let character = sample_character(kind, 1.0, &cx).unwrap();
    assert_eq!(cx.warnings(), [], "a sample needs no repair");
    character
}

fn height(character: &Character) -> f32 {
    let (low, high) = character.mesh.bounds();
    high.y - low.y
}

fn joint(character: &Character, name: &str) -> usize {
    character.skeleton.joints.iter().position(|joint| &*joint.name == name).unwrap()
}

/// The welded shells, each as its vertices.
fn shells(character: &Character) -> Vec<Vec<usize>> {
    let mesh = &character.mesh;
    let mut first = BTreeMap::new();
    let place = |v: usize| mesh.positions[v].to_array().map(f32::to_bits);
    let welded: Vec<usize> = (0..mesh.positions.len()).map(|v| *first.entry(place(v)).or_insert(v)).collect();
    let mut group = welded.clone();
    fn root(group: &mut [usize], mut v: usize) -> usize {
        while group[v] != v {
            group[v] = group[group[v]];
            v = group[v];
        }
        v
    }
    for t in mesh.triangles.iter() {
        for k in 1..3 {
            let a = root(&mut group, welded[t[0] as usize]);
            let b = root(&mut group, welded[t[k] as usize]);
            group[a.max(b)] = a.min(b);
        }
    }
    let mut shells: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (v, &first) in welded.iter().enumerate() {
        shells.entry(root(&mut group, first)).or_default().push(v);
    }
    shells.into_values().collect()
}

/// The shells that reach far behind the body.
fn tails(character: &Character) -> Vec<Vec<usize>> {
    let behind = -0.2 * height(character);
    let reach = |shell: &Vec<usize>| shell.iter().map(|&v| character.mesh.positions[v].z).fold(0.0, f32::min);
    shells(character).into_iter().filter(|shell| reach(shell) < behind).collect()
}

fn mean_weight(character: &Character, vertices: &[usize], name: &str) -> f32 {
    let number = joint(character, name) as u16;
    let of = |&v: &usize| character.skin.influences(v).filter(|i| i.0 == number).map(|i| i.1).sum::<f32>();
    vertices.iter().map(of).sum::<f32>() / vertices.len() as f32
}

/// Sorted ratios of edge lengths in Walk to those in the bind pose, at 24 times.
fn stretch(character: &Character, vertices: &[usize]) -> Vec<f32> {
    let inside: BTreeSet<usize> = vertices.iter().copied().collect();
    let mut edges = BTreeSet::new();
    for t in character.mesh.triangles.iter() {
        for k in 0..3 {
            let (a, b) = (t[k] as usize, t[(k + 1) % 3] as usize);
            if inside.contains(&a) && inside.contains(&b) {
                edges.insert((a.min(b), a.max(b)));
            }
        }
    }
    let rig = Rig::new(&character.skeleton).unwrap();
    let walk = find_clip(&character.clips, "Walk").unwrap();
    let mut ratios = Vec::new();
    for k in 0..24 {
        let pose = rig.sample(walk, walk.duration * k as f32 / 24.0).unwrap();
        let mut now = Vec::new();
        skin_positions(&character.mesh, &character.skin, &rig.matrices(&pose), &mut now).unwrap();
        let bind = &character.mesh.positions;
        ratios.extend(edges.iter().map(|&(a, b)| now[a].distance(now[b]) / bind[a].distance(bind[b])));
    }
    ratios.sort_by(f32::total_cmp);
    ratios
}

/// Distance to the driving bones, by weight, in heights.
fn bone_distance(character: &Character, vertices: &[usize]) -> f32 {
    let skeleton = &character.skeleton;
    let children = skeleton.children();
    let distance = |p: Vec3, j: u16| {
        let a = skeleton.position(usize::from(j));
        let to = |b: Vec3| {
            let t = ((p - a).dot(b - a) / (b - a).length_squared()).clamp(0.0, 1.0);
            p.distance(a.lerp(b, t))
        };
        let ends = children[usize::from(j)].iter().map(|&c| to(skeleton.position(usize::from(c))));
        ends.fold(p.distance(a), f32::min)
    };
    let of = |&v: &usize| {
        let p = character.mesh.positions[v];
        character.skin.influences(v).map(|(j, w)| distance(p, j) * w).sum::<f32>()
    };
    vertices.iter().map(of).sum::<f32>() / vertices.len() as f32 / height(character)
}

/// 95th and 99th percentile, and the share that is stretched or squeezed to tearing.
fn summary(ratios: &[f32]) -> (f32, f32, f32) {
    let at = |share: f64| ratios[((ratios.len() - 1) as f64 * share) as usize];
    let torn = ratios.iter().filter(|&&r| !(0.67..=1.5).contains(&r)).count() as f32 / ratios.len() as f32;
    (at(0.95), at(0.99), torn)
}

fn body(character: &Character, tail: &[usize]) -> Vec<usize> {
    let tail: BTreeSet<usize> = tail.iter().copied().collect();
    (0..character.mesh.positions.len()).filter(|v| !tail.contains(v)).collect()
}

#[test]
fn the_fox_tail_is_two_unwelded_shells_weighted_to_the_shin() {
    let fox = made(Sample::Fox);
    assert!((height(&fox) - 1.91).abs() < 0.01, "{}", height(&fox));
    assert!((8_000..=30_000).contains(&fox.mesh.positions.len()), "{}", fox.mesh.positions.len());
    assert_eq!(fox.skeleton.joints.len(), 22);
    assert!(fox.skeleton.joints.iter().all(|joint| !joint.name.contains("Tail")));
    let tails = tails(&fox);
    assert_eq!(tails.len(), 2, "skin and fur");
    let tail = tails.concat();
    let [shin, left, right] = ["LeftLeg", "LeftUpLeg", "RightUpLeg"].map(|name| mean_weight(&fox, &tail, name));
    assert!(shin > 0.6 && left > 0.05 && right > 0.05, "{shin} {left} {right}");
    assert!((shin + left + right - 1.0).abs() < 1e-5, "nothing else drives it");
    // The source's fox: 0.25 heights from what drives it.
    let distance = bone_distance(&fox, &tail);
    assert!((0.21..0.29).contains(&distance), "{distance}");
}

#[test]
fn the_fox_tail_tears_in_walk_and_the_body_does_not() {
    let fox = made(Sample::Fox);
    let tail = tails(&fox).concat();
    let (p95, p99, torn) = summary(&stretch(&fox, &tail));
    // The source measured 1.60, 2.42 and 11.4 %.
    assert!(
        (1.4..2.1).contains(&p95) && (2.0..3.0).contains(&p99) && (0.08..0.15).contains(&torn),
        "{p95} {p99} {torn}"
    );
    let (p95, p99, torn) = summary(&stretch(&fox, &body(&fox, &tail)));
    assert!(p95 < 1.15 && p99 < 1.35 && torn < 0.015, "{p95} {p99} {torn}");
}

#[test]
fn the_rat_tail_is_one_long_thin_shell_curled_to_its_left_with_the_tip_under_the_soles() {
    for kind in [Sample::Rat, Sample::RatRigged] {
        let rat = made(kind);
        let tails = tails(&rat);
        assert_eq!(tails.len(), 1);
        let at = |v: &usize| rat.mesh.positions[*v];
        let lowest = tails[0].iter().map(|v| at(v).y).fold(f32::MAX, f32::min);
        let soles = body(&rat, &tails[0]).iter().map(|v| at(v).y).fold(f32::MAX, f32::min);
        assert!(soles.abs() < 0.005 && lowest < soles - 0.01, "{lowest} {soles}");
        let aside = tails[0].iter().map(|v| at(v).x).fold(f32::MIN, f32::max);
        assert!(aside > 0.25 * height(&rat), "{aside}");
    }
}

#[test]
fn the_rat_is_saved_turned_by_28_degrees() {
    for (kind, turned) in [(Sample::Rat, "RightHand"), (Sample::RatRigged, "Tail_8")] {
        let rat = made(kind);
        let rig = Rig::new(&rat.skeleton).unwrap();
        for (k, joint) in rat.skeleton.joints.iter().enumerate() {
            let saved = rat.skeleton.node_locals[joint.node.unwrap() as usize].quat();
            let bind = rig.bind_local(k, joint.parent.map(usize::from)).to_scale_rotation_translation().1.as_quat();
            let degrees = saved.angle_between(bind).to_degrees();
            let known = if &*joint.name == turned { 28.0 } else { 0.0 };
            assert!((degrees - known).abs() < 0.05, "{} {degrees}", joint.name);
        }
    }
}

#[test]
fn the_rigged_rat_has_a_chain_from_the_hips_to_the_tip() {
    let rat = made(Sample::RatRigged);
    let chain: Vec<usize> = (1..=8).map(|k| joint(&rat, &format!("Tail_{k}"))).collect();
    assert_eq!(rat.skeleton.joints[chain[0]].parent, Some(joint(&rat, "Hips") as u16));
    assert!(chain.windows(2).all(|pair| rat.skeleton.joints[pair[1]].parent == Some(pair[0] as u16)));
    let (_, p99, torn) = summary(&stretch(&rat, &tails(&rat).concat()));
    assert!(p99 < 1.1 && torn == 0.0, "{p99} {torn}");
}

#[test]
fn the_biped_has_no_tail() {
    let biped = made(Sample::Biped);
    assert!(tails(&biped).is_empty());
    assert_eq!(biped.skeleton.joints.len(), 22);
}

#[test]
fn every_weight_sums_to_one_and_no_leg_moves_the_other() {
    for kind in ALL {
        let character = made(kind);
        let tail: BTreeSet<usize> = tails(&character).concat().into_iter().collect();
        let side = |j: u16| &*character.skeleton.joints[usize::from(j)].name;
        for v in 0..character.skin.len() {
            let sum: f32 = character.skin.influences(v).map(|i| i.1).sum();
            assert!((sum - 1.0).abs() < 1e-5, "{sum}");
            let x = character.mesh.positions[v].x;
            for (j, weight) in character.skin.influences(v).filter(|_| !tail.contains(&v)) {
                let across = (side(j).starts_with("Left") && x < -0.05) || (side(j).starts_with("Right") && x > 0.05);
                // Over the hips they blend; on the legs themselves nothing is shared.
                let bound = if character.mesh.positions[v].y < 0.36 * height(&character) { 0.001 } else { 0.1 };
                assert!(!across || weight < bound, "{kind:?} {} {weight} at {}", side(j), character.mesh.positions[v]);
            }
        }
    }
}

#[test]
fn the_fur_is_split_at_its_texture_seams() {
    let fox = made(Sample::Fox);
    let places: BTreeSet<_> = fox.mesh.positions.iter().map(|p| p.to_array().map(f32::to_bits)).collect();
    let copies = fox.mesh.positions.len() - places.len();
    assert!(copies > fox.mesh.positions.len() / 20, "{copies} of {}", fox.mesh.positions.len());
}

#[test]
fn the_clips_are_those_of_the_source_and_their_loops_close() {
    for kind in ALL {
        let character = made(kind);
        let names: Vec<&str> = character.clips.clips.iter().map(|clip| &*clip.name).collect();
        assert_eq!(names, ["Walk", "Sprint", "Crouch", "Idle", "Back Flip"]);
        assert!((character.clips.clips[4].duration - 1.93).abs() < 1e-6);
        for channel in character.clips.clips.iter().flat_map(|clip| &clip.channels) {
            let arity = channel.values.len() / channel.times.len();
            let (first, last) = (&channel.values[..arity], &channel.values[channel.values.len() - arity..]);
            let gap = match channel.target {
                // A rotation and its negative are one.
                Target::Rotation => 1.0 - first.iter().zip(last).map(|(a, b)| a * b).sum::<f32>().abs(),
                _ => first.iter().zip(last).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max),
            };
            assert!(gap < 1e-5, "{gap}");
        }
    }
}

#[test]
fn the_back_flip_turns_once_over_backward_and_the_walk_keeps_a_foot_on_the_floor() {
    let fox = made(Sample::Fox);
    let rig = Rig::new(&fox.skeleton).unwrap();
    let flip = find_clip(&fox.clips, "Back Flip").unwrap();
    let (hips, head) = (joint(&fox, "Hips"), joint(&fox, "Head"));
    let upright = |clip: &Clip, time: f32| {
        let at = rig.joint_globals(&rig.sample(clip, time).unwrap());
        (at[head].translation - at[hips].translation).normalize()
    };
    let over: Vec<_> = (0..=60).map(|k| upright(flip, flip.duration * k as f32 / 60.0)).collect();
    assert!(over[0].y > 0.95 && over[60].y > 0.95 && over.iter().any(|d| d.y < -0.8));
    let first_level = over.iter().find(|d| d.y < 0.0).unwrap();
    assert!(first_level.z < 0.0, "the head goes backward: {first_level}");
    let walk = find_clip(&fox.clips, "Walk").unwrap();
    let feet = body(&fox, &tails(&fox).concat());
    let mut lows = Vec::new();
    for k in 0..12 {
        let pose = rig.sample(walk, walk.duration * k as f32 / 12.0).unwrap();
        let mut now = Vec::new();
        skin_positions(&fox.mesh, &fox.skin, &rig.matrices(&pose), &mut now).unwrap();
        lows.push(feet.iter().map(|&v| now[v].y).fold(f32::MAX, f32::min));
    }
    assert!(lows.iter().all(|low| low.abs() < 0.05), "{lows:?}");
}

#[test]
fn made_twice_it_is_the_same_to_the_last_byte() {
    let value = |detail: f32| Value::new(sample_character(Sample::Fox, detail, &Cx::detached()).unwrap()).digest();
    assert_eq!(value(0.5), value(0.5));
    assert_ne!(value(0.5), value(0.6));
}

#[test]
fn detail_makes_more_vertices_of_the_same_figure() {
    let [coarse, fine] = [0.5, 1.0].map(|detail| sample_character(Sample::Rat, detail, &Cx::detached()).unwrap());
    assert!(coarse.mesh.positions.len() * 2 < fine.mesh.positions.len());
    assert!((height(&coarse) / height(&fine) - 1.0).abs() < 0.02);
}

#[test]
fn a_cancelled_run_ends_as_cancelled() {
    let cx = Cx::detached();
    cx.cancel();
    assert!(sample_character(Sample::Fox, 1.0, &cx).unwrap_err().is_cancelled());
}
