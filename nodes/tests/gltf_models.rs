//! Real files become characters, with the counts that their list gives.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use sinew_graph::{Cx, Data};
use sinew_nodes::data::{Channel, Character, Clip, Interpolation, Joint, Target};
use sinew_nodes::export::gltf::{Format, export_gltf};
use sinew_nodes::io::gltf;

/// The models and their entries in the list; empty, with a message, where there are none.
fn models() -> Vec<(PathBuf, serde_json::Value)> {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/models"));
    let Ok(list) = std::fs::read_to_string(folder.join("manifest.json")) else {
        #[expect(clippy::print_stderr, reason = "a skipped test says so")]
        {
            eprintln!("skipped: no models in {}", folder.display());
        }
        return Vec::new();
    };
    let list: Vec<serde_json::Value> = serde_json::from_str(&list).unwrap();
    let models = list.into_iter().map(|entry| (folder.join(entry["file"].as_str().unwrap()), entry));
    models.filter(|(path, _)| path.extension().is_some_and(|e| e == "glb" || e == "vrm")).collect()
}

fn read(path: &Path, cx: &Cx) -> Result<Character, sinew_graph::NodeError> {
    let name = path.file_stem().unwrap().to_string_lossy();
    gltf::read(&name, &std::fs::read(path).unwrap(), &mut |uri| panic!("{uri} is not beside it"), cx)
}

#[test]
fn every_model_becomes_a_character_with_the_counts_of_the_list() {
    for (path, entry) in models() {
        let character = read(&path, &Cx::detached()).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let count = |what: &str| entry[what].as_u64().unwrap() as usize;
        let document: serde_json::Value = serde_json::from_str(&character.source.json).unwrap();
        let nodes = document["nodes"].as_array().unwrap();
        let all_skinned = nodes.iter().all(|node| node["mesh"].is_null() || !node["skin"].is_null());
        let (mesh, skin) = (&character.mesh, &character.skin);
        if all_skinned {
            assert_eq!(mesh.positions.len(), count("vertices"), "{}", path.display());
            assert_eq!(mesh.triangles.len(), count("triangles"), "{}", path.display());
        }
        assert_eq!(character.skeleton.joints.len(), count("joints"), "{}", path.display());
        assert_eq!(character.clips.clips.len(), count("clips"), "{}", path.display());
        assert_eq!(skin.len(), mesh.positions.len());
        for v in 0..skin.len() {
            let sum: f32 = skin.influences(v).map(|(_, weight)| weight).sum();
            assert!((sum - 1.0).abs() < 1e-5, "{}: vertex {v} sums to {sum}", path.display());
        }
        let columns = character.columns().into_iter().collect();
        assert_eq!(Character::from_columns(&columns).unwrap(), character);
    }
}

#[test]
fn broken_weights_are_mended_counted_and_told_once_per_mesh() {
    let told: Vec<(String, Vec<String>)> = models()
        .iter()
        .filter(|(path, _)| {
            path.to_string_lossy().contains("nan_weights") || path.to_string_lossy().contains("invalid")
        })
        .map(|(path, _)| {
            let cx = Cx::detached();
            read(path, &cx).unwrap();
            let warnings = cx.warnings().into_iter().map(|warning| warning.what).collect();
            (path.file_stem().unwrap().to_string_lossy().into(), warnings)
        })
        .collect();
    for (name, warnings) in told {
        let expected = match name.as_str() {
            "bee_quaternius_invalid" => {
                ["mesh \"Bee\"", "12 with no weight", "the first is vertex 708 of meshes[0].primitives[0]"]
            }
            _ => {
                ["mesh \"Adventurer_Legs\"", "1860 with no weight", "the first is vertex 0 of meshes[1].primitives[0]"]
            }
        };
        assert_eq!(warnings.len(), 1, "{name}: {warnings:?}");
        assert!(expected.iter().all(|part| warnings[0].contains(part)), "{name}: {warnings:?}");
    }
}

fn exported(character: &Character) -> Vec<u8> {
    let cx = Cx::detached();
    let files = export_gltf(character, "out".into(), Format::Glb, &cx).unwrap();
    assert_eq!(files.files.len(), 1, "{}", character.name);
    files.files[0].bytes.to_vec()
}

fn reread(bytes: &[u8]) -> Character {
    gltf::read("out", bytes, &mut |uri| panic!("{uri} is not beside it"), &Cx::detached()).unwrap()
}

#[test]
fn an_untouched_model_is_written_as_the_same_bytes() {
    for (path, _) in models() {
        let character = read(&path, &Cx::detached()).unwrap();
        if character.source.repaired.iter().all(|&repaired| repaired == 0) {
            assert!(exported(&character) == std::fs::read(&path).unwrap(), "{}", path.display());
        }
    }
}

/// A character with a joint more: under the joint that moves its first vertex, half a height behind it, moving that
/// vertex alone.
fn with_a_joint_more(character: &Character) -> Character {
    let mut out = character.clone();
    let (parent, _) = out.skin.influences(0).next().unwrap();
    let mut bind = out.skeleton.binds[usize::from(parent)];
    let (lo, hi) = out.mesh.bounds();
    bind[13] += 0.5 * (hi.y - lo.y);
    let mut joints = out.skeleton.joints.to_vec();
    joints.push(Joint { name: "Tail_1".into(), parent: Some(parent), node: None, has_bind: true });
    let added = (joints.len() - 1) as u16;
    out.skeleton.joints = joints.into();
    out.skeleton.binds = out.skeleton.binds.iter().copied().chain([bind]).collect();
    let (mut joints, mut weights) = (out.skin.joints.to_vec(), out.skin.weights.to_vec());
    joints[..out.skin.width].fill(0);
    weights[..out.skin.width].fill(0.0);
    (joints[0], weights[0]) = (added, 1.0);
    (out.skin.joints, out.skin.weights) = (joints.into(), weights.into());
    let node = out.skeleton.node_names.len() as u32;
    let turn = Channel {
        node,
        target: Target::Rotation,
        interpolation: Interpolation::Linear,
        times: Arc::from([0.0, 1.0]),
        values: Arc::from([0.0, 0.0, 0.0, 1.0, 0.6, 0.0, 0.0, 0.8]),
    };
    out.clips.clips.push(Clip { name: "Wag".into(), duration: 1.0, channels: vec![turn] });
    out
}

#[test]
fn an_added_joint_its_weights_and_its_clip_come_back_from_the_export() {
    for (path, _) in models() {
        let character = read(&path, &Cx::detached()).unwrap();
        let changed = with_a_joint_more(&character);
        let bytes = exported(&changed);
        if let Some(folder) = std::env::var_os("SINEW_EXPORTS") {
            std::fs::write(Path::new(&folder).join(path.file_name().unwrap()), &bytes).unwrap();
        }
        let back = reread(&bytes);
        let place = path.display();
        assert_eq!(back.mesh.positions, character.mesh.positions, "{place}");
        assert_eq!(back.skeleton.node_names.len(), character.skeleton.node_names.len() + 1, "{place}");
        assert_eq!(&back.skeleton.node_parents[..character.skeleton.node_parents.len()], &*character.skeleton.node_parents);
        for (old, new) in character.source.buffers.iter().zip(&back.source.buffers) {
            assert!(new.starts_with(&old[..old.len()]), "{place}: old bytes stay as prefix");
        }
        let added = back.skeleton.joints.iter().position(|joint| &*joint.name == "Tail_1").unwrap();
        let (lo, hi) = character.mesh.bounds();
        let expected = changed.skeleton.position(changed.skeleton.joints.len() - 1);
        assert!(back.skeleton.position(added).distance(expected) <= 1e-5 * (hi - lo).length(), "{place}");
        assert_eq!(back.skin.influences(0).collect::<Vec<_>>(), [(added as u16, 1.0)], "{place}");
        // Joint numbers may move where another skin follows, so joints are compared by node.
        for v in 1..back.skin.len() {
            let by_node = |c: &Character| -> Vec<(Option<u32>, f32)> {
                let mut all: Vec<_> =
                    c.skin.influences(v).map(|(j, w)| (c.skeleton.joints[usize::from(j)].node, w)).collect();
                all.sort_by_key(|(node, _)| *node);
                all
            };
            let (old, new) = (by_node(&changed), by_node(&back));
            assert_eq!(old.len(), new.len(), "{place}: vertex {v}");
            for ((a, w), (b, x)) in old.iter().zip(&new) {
                assert!(a == b && (w - x).abs() < 1e-6, "{place}: vertex {v}");
            }
        }
        let count = character.clips.clips.len();
        assert_eq!(back.clips.clips[..count], character.clips.clips[..], "{place}");
        assert_eq!(back.clips.clips[count], changed.clips.clips[count], "{place}");
    }
}
