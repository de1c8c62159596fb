//! Real files become characters, with the counts that their list gives.

use std::path::{Path, PathBuf};

use sinew_graph::{Cx, Data};
use sinew_nodes::data::Character;
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
