//! The plain ways: what a competent programmer writes first, out of the standard library's collections.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet, VecDeque};

use glam::{Mat4, Vec3};
use sinew_nodes::data::{Chains, Character, Clip, Collar, Region, Skin};
use sinew_nodes::pose::Rig;
use sinew_nodes::rig::anatomy::Segment;

/// Welded number per vertex, first vertex per welded one, triangles without degenerate and repeated ones.
pub type Welded = (Vec<u32>, Vec<u32>, Vec<[u32; 3]>);

/// Equal positions by a map, repeated triangles by a set.
pub fn weld(positions: &[Vec3], triangles: &[[u32; 3]]) -> Welded {
    let mut numbers: HashMap<[u32; 3], u32> = HashMap::new();
    let mut first = Vec::new();
    let mut welded = Vec::new();
    for (vertex, p) in positions.iter().enumerate() {
        let number = *numbers.entry((*p + Vec3::ZERO).to_array().map(f32::to_bits)).or_insert_with(|| {
            first.push(vertex as u32);
            first.len() as u32 - 1
        });
        welded.push(number);
    }
    let mut seen = HashSet::new();
    let proper = |t: &[u32; 3]| t[0] != t[1] && t[1] != t[2] && t[0] != t[2];
    let mapped = triangles.iter().map(|t| t.map(|v| welded[v as usize])).filter(proper);
    let kept = mapped
        .filter(|t| {
            let mut key = *t;
            key.sort_unstable();
            seen.insert(key)
        })
        .collect();
    (welded, first, kept)
}

/// Every vertex against every segment.
pub fn skeleton_distance(positions: &[Vec3], segments: &[Segment]) -> Vec<f32> {
    let to = |p: Vec3, s: &Segment| {
        let along = s.b - s.a;
        let t = ((p - s.a).dot(along) / along.length_squared().max(f32::MIN_POSITIVE)).clamp(0.0, 1.0);
        p.distance(s.a + along * t)
    };
    positions.iter().map(|&p| segments.iter().map(|s| to(p, s)).fold(f32::INFINITY, f32::min)).collect()
}

/// How many components lie above each level: a breadth-first search for each.
pub fn components(values: &[f32], triangles: &[[u32; 3]], levels: &[f32]) -> Vec<usize> {
    let mut neighbours = vec![Vec::new(); values.len()];
    for t in triangles {
        for (a, b) in [(t[0], t[1]), (t[1], t[2]), (t[2], t[0])] {
            neighbours[a as usize].push(b);
            neighbours[b as usize].push(a);
        }
    }
    let above = |level: f32| {
        let mut seen = vec![false; values.len()];
        let mut count = 0;
        for start in 0..values.len() {
            if seen[start] || values[start] <= level {
                continue;
            }
            count += 1;
            seen[start] = true;
            let mut queue = VecDeque::from([start as u32]);
            while let Some(vertex) = queue.pop_front() {
                for &to in &neighbours[vertex as usize] {
                    if !seen[to as usize] && values[to as usize] > level {
                        seen[to as usize] = true;
                        queue.push_back(to);
                    }
                }
            }
        }
        count
    };
    levels.iter().map(|&level| above(level)).collect()
}

/// Distances from a collar by a binary heap, and their 99th percentile.
pub fn dijkstra(
    region: &Region,
    collar: &Collar,
    place: impl Fn(u32) -> Vec3,
    triangles: &[[u32; 3]],
) -> (Vec<f32>, f32) {
    let mut number = HashMap::new();
    for &vertex in region.vertices.iter().chain(collar.ring.iter()) {
        let next = number.len();
        number.entry(vertex).or_insert(next);
    }
    let mut neighbours: Vec<Vec<(usize, f32)>> = vec![Vec::new(); number.len()];
    for t in triangles {
        for (a, b) in [(t[0], t[1]), (t[1], t[2]), (t[2], t[0])] {
            if let (Some(&from), Some(&to)) = (number.get(&a), number.get(&b)) {
                let length = place(a).distance(place(b));
                neighbours[from].push((to, length));
                neighbours[to].push((from, length));
            }
        }
    }
    let mut distance = vec![f32::INFINITY; neighbours.len()];
    let mut heap = BinaryHeap::new();
    for vertex in collar.ring.iter() {
        distance[number[vertex]] = 0.0;
        heap.push(Reverse((0u32, number[vertex])));
    }
    while let Some(Reverse((bits, vertex))) = heap.pop() {
        let d = f32::from_bits(bits);
        if d > distance[vertex] {
            continue;
        }
        for &(to, length) in &neighbours[vertex] {
            if d + length < distance[to] {
                distance[to] = d + length;
                heap.push(Reverse(((d + length).to_bits(), to)));
            }
        }
    }
    distance.truncate(region.vertices.len());
    let mut sorted = distance.clone();
    sorted.sort_by(f32::total_cmp);
    let length = sorted[(0.99 * (sorted.len() - 1) as f64) as usize];
    (distance, length)
}

/// Weights along chains, through a map from vertices to distances.
pub fn chain_weights(chains: &Chains, skin: &Skin) -> (Vec<u16>, Vec<f32>) {
    let mut found = HashMap::new();
    for (chain, first) in chains.added() {
        for (&vertex, &g) in chain.vertices.iter().zip(chain.geodesic.iter()) {
            found.entry(vertex).or_insert((chain, first, g));
        }
    }
    let (mut joints, mut weights) = (skin.joints.to_vec(), skin.weights.to_vec());
    for (vertex, welded) in chains.body.weld.welded.iter().enumerate() {
        let Some(&(chain, first, g)) = found.get(welded) else { continue };
        let s = (chain.bones() as f32 * g / chain.length).max(0.0);
        let k = (s as usize).min(chain.bones() - 1);
        let f = s - k as f32;
        let before = (0.5 - 2.0 * f).clamp(0.0, 0.5);
        let after = if k + 1 < chain.bones() { (2.0 * f - 1.5).clamp(0.0, 0.5) } else { 0.0 };
        let row = vertex * skin.width..(vertex + 1) * skin.width;
        joints[row.clone()].fill(0);
        weights[row.clone()].fill(0.0);
        let other = if before > 0.0 {
            if k == 0 { chain.parent } else { (first + k - 1) as u16 }
        } else {
            (first + k + 1) as u16
        };
        joints[row.start] = (first + k) as u16;
        weights[row.start] = 1.0 - before - after;
        if before + after > 0.0 {
            joints[row.start + 1] = other;
            weights[row.start + 1] = before + after;
        }
    }
    (joints, weights)
}

/// Every influence moves the position, and the results are added by weight.
pub fn skin(positions: &[Vec3], skin: &Skin, matrices: &[Mat4]) -> Vec<Vec3> {
    let one = |(vertex, &p): (usize, &Vec3)| {
        skin.influences(vertex).map(|(joint, weight)| matrices[usize::from(joint)].transform_point3(p) * weight).sum()
    };
    positions.iter().enumerate().map(one).collect()
}

/// The matrices of a clip at a time.
pub fn matrices(rig: &Rig, clip: &Clip, time: f32) -> Vec<Mat4> {
    let pose = rig.sample(clip, time).expect("the sample's clips can be sampled");
    rig.matrices(&pose).joints.iter().map(|&matrix| Mat4::from(matrix)).collect()
}

/// The 95th and 99th percentile and the greatest of all ratios: edges by a set, all ratios kept and sorted.
pub fn edge_stretch(character: &Character, clip: &Clip, samples: u32) -> [f32; 3] {
    let rig = Rig::new(&character.skeleton).expect("the sample's skeleton can be posed");
    let positions = &character.mesh.positions;
    let sides = |t: &[u32; 3]| [(t[0], t[1]), (t[1], t[2]), (t[2], t[0])].map(|(a, b)| (a.min(b), a.max(b)));
    let edges: HashSet<(u32, u32)> = character.mesh.triangles.iter().flat_map(sides).collect();
    let mut edges: Vec<(u32, u32)> = edges.into_iter().collect();
    edges.sort_unstable();
    let length = |at: &[Vec3], (a, b): (u32, u32)| at[a as usize].distance(at[b as usize]);
    edges.retain(|&edge| length(positions, edge) > 0.0);
    let mut ratios = Vec::new();
    for k in 0..samples {
        let matrices = matrices(&rig, clip, clip.duration * k as f32 / samples as f32);
        let moved = skin(positions, &character.skin, &matrices);
        ratios.extend(edges.iter().map(|&edge| length(&moved, edge) / length(positions, edge)));
    }
    ratios.sort_by(f32::total_cmp);
    [0.95, 0.99, 1.0].map(|share| ratios[(share * (ratios.len() - 1) as f64) as usize])
}
