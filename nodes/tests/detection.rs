//! Promises of detection over the real models beside the project: tails are found, nothing else is touched, and neither units
//! nor axes nor the order of vertices decide.

#![allow(clippy::unwrap_used, reason = "a helper of tests fails and tells as a test does")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use glam::{Mat4, Quat, Vec3};
use serde_json::Value;
use sinew_graph::{Cx, NodeError};
use sinew_nodes::data::{Character, Kind, Regions, Table, Treatment};
use sinew_nodes::io::gltf;
use sinew_nodes::mesh::weld::weld;
use sinew_nodes::rig::collar::collar;
use sinew_nodes::rig::dijkstra_chain::dijkstra_chain;
use sinew_nodes::rig::flood_regions::{Mode, flood_regions};
use sinew_nodes::rig::merge_regions::merge_regions;
use sinew_nodes::rig::pca_classify::pca_classify;
use sinew_nodes::rig::skeleton_distance::skeleton_distance;

/// File, least F1, length in heights, joints that the tail may hang from.
const CASES: [(&str, f64, f64, &[&str]); 7] = [
    ("case_redpanda_foxtail", 0.93, 0.51, &["Hips", "Body"]),
    ("case_knight_rattail", 0.93, 0.57, &["Hips", "Body"]),
    ("case_human_foxtail_2shell", 0.90, 0.44, &["pelvis"]),
    ("case_fox_m2m_unrigged", 0.84, 0.74, &["Hips"]),
    ("case_horse_q_unrigged", 0.84, 0.37, &["Back"]),
    ("case_kaiju_unrigged", 0.84, 1.25, &["Hips"]),
    ("case_rat_unrigged", 0.84, 1.49, &["Back", "Hips"]),
];

const UNTOUCHED: [&str; 15] = [
    "human_sintel",
    "woman_witch_quaternius",
    "knight_kaykit",
    "man_casual_quaternius_4skins",
    "human_m2m",
    "knight_quaternius",
    "woman_adventurer_quaternius_nan_weights",
    "godette_vrm0",
    "bee_quaternius_invalid",
    "fox_m2m",
    "fox_quaternius",
    "fox_khronos",
    "horse_quaternius",
    "kaiju_m2m",
    "rat_quaternius",
];

fn folder() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/models");
    if folder.is_dir() {
        return Some(folder);
    }
    #[expect(clippy::print_stderr, reason = "a skipped test says so")]
    {
        eprintln!("skipped: {} is absent", folder.display());
    }
    None
}

fn read(folder: &Path, name: &str) -> Character {
    let file =
        ["glb", "vrm"].map(|ext| folder.join(format!("{name}.{ext}"))).into_iter().find(|f| f.is_file()).unwrap();
    let bytes = std::fs::read(file).unwrap();
    gltf::read(name, &bytes, &mut |uri| Err(NodeError::new(uri)), &Cx::detached()).unwrap()
}

fn detect(character: &Character) -> (Regions, Table) {
    let cx = Cx::detached();
    let weld = weld(character, 1e-6, &cx).unwrap();
    let distance = skeleton_distance(character, 0.5, &cx).unwrap();
    let flooded = flood_regions(character, &weld, &distance, Mode::Sweep, 0.07, 0.04, 0.5, 0.015, true, &cx).unwrap();
    let collared = collar(&flooded.regions, 1.5, String::new(), &cx).unwrap();
    let merged = merge_regions(&collared, 0.5, &cx).unwrap();
    let judged = pca_classify(&merged, 1.6, 0.15, 0.4, false, false, String::new(), &cx).unwrap();
    (judged.regions, judged.reasons)
}

/// Which original vertices are tail.
fn truth(folder: &Path, name: &str, character: &Character) -> Vec<bool> {
    let text = std::fs::read(folder.join(format!("{name}.truth.json"))).unwrap();
    let truth: Value = serde_json::from_slice(&text).unwrap();
    let mut tail = vec![false; character.mesh.positions.len()];
    let skins = truth["skins"].as_array().cloned().unwrap_or_else(|| vec![truth.clone()]);
    for skin in &skins {
        for part in character.mesh.parts.iter() {
            let mesh = skin["mesh"].as_u64().unwrap_or(u64::from(part.mesh));
            if mesh != u64::from(part.mesh) || skin["primitive"].as_u64() != Some(u64::from(part.primitive)) {
                continue;
            }
            match skin["tail_vertices"].as_array() {
                Some(list) => {
                    for v in list {
                        tail[part.vertices.start as usize + v.as_u64().unwrap() as usize] = true;
                    }
                }
                None => tail[part.vertices.start as usize..part.vertices.end as usize].fill(true),
            }
        }
    }
    tail
}

fn chains(regions: &Regions) -> Vec<usize> {
    (0..regions.regions.len()).filter(|&k| regions.regions[k].finding.treatment == Treatment::Chain).collect()
}

fn originals(regions: &Regions, k: usize) -> BTreeSet<u32> {
    let inside: BTreeSet<u32> = regions.regions[k].vertices.iter().copied().collect();
    let welded = &regions.body.weld.welded;
    (0..welded.len() as u32).filter(|&v| inside.contains(&welded[v as usize])).collect()
}

#[test]
fn every_tail_is_found_once_and_hangs_from_the_pelvis() {
    let Some(folder) = folder() else { return };
    for (name, floor, length, joints) in CASES {
        let character = read(&folder, name);
        let (regions, _) = detect(&character);
        let found = chains(&regions);
        assert_eq!(found.len(), 1, "{name}");
        let tail = &regions.regions[found[0]];
        assert_eq!(tail.finding.kind, Kind::Tail, "{name}");
        let joint = &character.skeleton.joints[usize::from(tail.collar.as_ref().unwrap().joint)].name;
        assert!(joints.contains(&&**joint), "{name} hangs from {joint}");

        let truth = truth(&folder, name, &character);
        let vertices = originals(&regions, found[0]);
        let hits = vertices.iter().filter(|&&v| truth[v as usize]).count();
        let all = truth.iter().filter(|t| **t).count();
        let f1 = 2.0 * hits as f64 / (vertices.len() + all) as f64;
        assert!(f1 >= floor, "{name}: F1 {f1:.3} < {floor}");

        let chain = dijkstra_chain(&regions, 0.1, 3, 8, &Cx::detached()).unwrap().chains;
        let heights = f64::from(chain.chains[0].length / regions.stance.height);
        assert!((heights / length - 1.0).abs() <= 0.1, "{name}: {heights:.3} H long, not {length}");
    }
}

#[test]
fn what_is_no_tail_stays_untouched_and_is_told_why() {
    let Some(folder) = folder() else { return };
    for name in UNTOUCHED {
        let (regions, reasons) = detect(&read(&folder, name));
        for region in &regions.regions {
            let finding = &region.finding;
            assert_eq!(finding.treatment, Treatment::Unchanged, "{name}: {}", finding.reason);
            assert!(finding.kind != Kind::Unknown && !finding.reason.is_empty(), "{name}");
        }
        assert_eq!(reasons.rows(), regions.regions.len(), "{name}");
    }
}

/// The same character after `change` of its bind space, shown at the same place in the world unless `carried`.
fn moved(character: &Character, change: Mat4, carried: bool) -> Character {
    let mut out = character.clone();
    out.mesh.positions = out.mesh.positions.iter().map(|&p| change.transform_point3(p)).collect();
    let binds = out.skeleton.binds.iter();
    out.skeleton.binds = binds.map(|b| (change * Mat4::from_cols_array(b)).to_cols_array()).collect();
    if !carried {
        let world = Mat4::from_cols_array(&out.skeleton.to_world) * change.inverse();
        out.skeleton.to_world = world.to_cols_array();
    }
    out
}

fn shuffled(character: &Character) -> (Character, Vec<u32>) {
    let count = character.mesh.positions.len() as u32;
    // A full-period step through all vertices, part by part irrelevant to detection.
    let mut order: Vec<u32> = (0..count).collect();
    let mut state = 12345u32;
    for k in (1..order.len()).rev() {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        order.swap(k, (state >> 8) as usize % (k + 1));
    }
    let mut to = vec![0u32; order.len()];
    order.iter().enumerate().for_each(|(new, &old)| to[old as usize] = new as u32);
    let mut out = character.clone();
    out.mesh.positions = order.iter().map(|&v| character.mesh.positions[v as usize]).collect();
    let mut triangles: Vec<[u32; 3]> = character.mesh.triangles.iter().map(|t| t.map(|v| to[v as usize])).collect();
    triangles.sort_unstable();
    out.mesh.triangles = triangles.into();
    let width = character.skin.width;
    let rows = |v: &u32| *v as usize * width..(*v as usize + 1) * width;
    out.skin.joints = order.iter().flat_map(|v| character.skin.joints[rows(v)].iter().copied()).collect();
    out.skin.weights = order.iter().flat_map(|v| character.skin.weights[rows(v)].iter().copied()).collect();
    (out, order)
}

/// What a region is, what is done with it, and the joint that it hangs from.
type Decision = (Kind, Treatment, Option<u16>);

/// What is decided: of each region the kind, treatment and joint; and the original vertices of the chains.
fn decisions(regions: &Regions, order: Option<&[u32]>) -> (Vec<Decision>, Vec<BTreeSet<u32>>) {
    let mut kinds: Vec<_> = regions
        .regions
        .iter()
        .map(|r| (r.finding.kind, r.finding.treatment, r.collar.as_ref().map(|c| c.joint)))
        .filter(|(kind, ..)| *kind != Kind::Small)
        .collect();
    kinds.sort_unstable();
    let old = |v: u32| order.map_or(v, |order| order[v as usize]);
    let sets = chains(regions).into_iter().map(|k| originals(regions, k).into_iter().map(old).collect()).collect();
    (kinds, sets)
}

fn names() -> impl Iterator<Item = &'static str> {
    CASES.iter().map(|case| case.0).chain(["human_sintel", "knight_kaykit", "fox_quaternius", "godette_vrm0"])
}

#[test]
fn units_do_not_decide() {
    let Some(folder) = folder() else { return };
    for name in names() {
        let character = read(&folder, name);
        let before = detect(&character).0;
        for scale in [0.01, 100.0] {
            let copy = moved(&character, Mat4::from_scale(Vec3::splat(scale)), true);
            let after = detect(&copy).0;
            assert_eq!(decisions(&before, None), decisions(&after, None), "{name} x {scale}");
            assert!((after.stance.height / before.stance.height / scale - 1.0).abs() < 1e-4);
        }
    }
}

#[test]
fn place_and_axes_do_not_decide() {
    let Some(folder) = folder() else { return };
    let turn = Quat::from_euler(glam::EulerRot::XYZ, 0.7, -2.1, 1.2);
    for name in names() {
        let character = read(&folder, name);
        let (before, _) = detect(&character);
        let away = before.stance.height * Vec3::new(3.0, -2.0, 1.0);
        let change = Mat4::from_rotation_translation(turn, away);
        // Turned bind data under the same world; and a turned file, whose world is turned with it.
        let copy = moved(&character, change, false);
        assert_eq!(decisions(&before, None), decisions(&detect(&copy).0, None), "{name}: bind data turned");
        let mut copy = character.clone();
        let world = change * Mat4::from_cols_array(&character.skeleton.to_world);
        copy.skeleton.to_world = world.to_cols_array();
        assert_eq!(decisions(&before, None), decisions(&detect(&copy).0, None), "{name}: root turned");
    }
}

#[test]
fn the_order_of_vertices_does_not_decide() {
    let Some(folder) = folder() else { return };
    for name in names() {
        let character = read(&folder, name);
        let (copy, order) = shuffled(&character);
        let (before, after) = (detect(&character).0, detect(&copy).0);
        assert_eq!(decisions(&before, None), decisions(&after, Some(&order)), "{name}");
    }
}

#[test]
fn joint_names_do_not_decide() {
    let Some(folder) = folder() else { return };
    for (name, ..) in CASES {
        let character = read(&folder, name);
        let mut copy = character.clone();
        let mut joints = copy.skeleton.joints.to_vec();
        joints.iter_mut().enumerate().for_each(|(k, joint)| joint.name = Arc::from(format!("joint_{k}")));
        copy.skeleton.joints = joints.into();
        let (before, after) = (detect(&character).0, detect(&copy).0);
        assert_eq!(decisions(&before, None).1, decisions(&after, None).1, "{name}");
    }
}
