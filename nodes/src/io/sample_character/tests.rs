use std::collections::{BTreeMap, BTreeSet};

use glam::{Quat, Vec3};
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
    for v in 0..welded.len() {
        shells.entry(root(&mut group, welded[v])).or_default().push(v);
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

#[test]
fn numbers() {
    for kind in ALL {
        let c = made(kind);
        println!("{kind:?} H {} bounds {:?} verts {} tris {}", height(&c), c.mesh.bounds(), c.mesh.positions.len(), c.mesh.triangles.len());
        let tails = tails(&c);
        println!("  shells {} tails {:?}", shells(&c).len(), tails.iter().map(Vec::len).collect::<Vec<_>>());
        let tail = tails.concat();
        let report = |name: &str, s: &[f32]| {
            let at = |f: f64| s[((s.len() - 1) as f64 * f) as usize];
            let torn = s.iter().filter(|&&r| !(0.67..=1.5).contains(&r)).count() as f32 / s.len() as f32;
            println!("  {name}: n {} p50 {} p95 {} p99 {} max {} torn {}", s.len(), at(0.5), at(0.95), at(0.99), at(1.0), torn);
        };
        if !tail.is_empty() {
            report("tail", &stretch(&c, &tail));
            println!("  bone distance {} shin {}", bone_distance(&c, &tail), mean_weight(&c, &tail, "LeftLeg"));
        }
        let body: Vec<usize> = (0..c.mesh.positions.len()).filter(|v| !tail.contains(v)).collect();
        report("body", &stretch(&c, &body));
    }
}
