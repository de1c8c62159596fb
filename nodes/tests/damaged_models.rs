//! Real files, damaged: cut off, with changed bytes and with wild numbers. Each is read, with repairs that are counted, or
//! refused with the place and what to do.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::path::Path;

use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::TestRunner;
use sinew_graph::{Cx, NodeError};
use sinew_nodes::data::Character;
use sinew_nodes::io::gltf;

/// Small files that differ: broken weights, no textures and shared accessors, several primitives, Draco, VRM.
const MODELS: [&str; 5] = [
    "bee_quaternius_invalid.glb",
    "fox_khronos.glb",
    "knight_quaternius.glb",
    "redpanda_quaternius_draco.glb",
    "godette_vrm0.vrm",
];

/// What is done to a file.
#[derive(Clone, Debug)]
enum Damage {
    /// It ends early.
    Cut(Index),
    /// Bytes of its JSON change.
    Document(Vec<(Index, u8)>),
    /// A number of its JSON becomes another.
    Number(Index, String),
    /// Bytes of its buffer change.
    Buffer(Vec<(Index, u8)>),
    /// Much of its buffer becomes one byte.
    Wiped(Index, u8),
}

fn damage() -> impl Strategy<Value = Damage> {
    let bytes = || prop::collection::vec((any::<Index>(), any::<u8>()), 1..6);
    prop_oneof![
        any::<Index>().prop_map(Damage::Cut),
        bytes().prop_map(Damage::Document),
        (any::<Index>(), "-?[1-9][0-9]{0,11}|0|1e99|null").prop_map(|(at, text)| Damage::Number(at, text)),
        bytes().prop_map(Damage::Buffer),
        (any::<Index>(), any::<u8>()).prop_map(|(at, byte)| Damage::Wiped(at, byte)),
    ]
}

/// A damaged copy of a GLB, whose lengths are mended where its document changes its own.
fn damaged(file: &[u8], damage: &Damage) -> Vec<u8> {
    let length = u32::from_le_bytes(file[12..16].try_into().unwrap()) as usize;
    let (json, buffer) = (20..20 + length, 28 + length);
    let mut out = file.to_vec();
    match damage {
        Damage::Cut(at) => out.truncate(at.index(file.len())),
        Damage::Document(bytes) => bytes.iter().for_each(|(at, byte)| out[json.start + at.index(length)] = *byte),
        Damage::Buffer(bytes) => {
            bytes.iter().for_each(|(at, byte)| out[buffer + at.index(file.len() - buffer)] = *byte);
        }
        Damage::Wiped(at, byte) => {
            let start = buffer + at.index(file.len() - buffer);
            let end = (start + 10_000).min(file.len());
            out[start..end].fill(*byte);
        }
        Damage::Number(at, number) => {
            let text = &file[json.clone()];
            let starts: Vec<usize> =
                (1..length).filter(|&at| text[at].is_ascii_digit() && b":,[ -\n".contains(&text[at - 1])).collect();
            let start = starts[at.index(starts.len())];
            let digits = text[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
            let mut changed = [&text[..start], number.as_bytes(), &text[start + digits..]].concat();
            changed.resize(changed.len().next_multiple_of(4), b' ');
            let total = (file.len() - length + changed.len()) as u32;
            out = [&file[..8], &total.to_le_bytes(), &(changed.len() as u32).to_le_bytes(), b"JSON", &changed].concat();
            out.extend_from_slice(&file[json.end..]);
        }
    }
    out
}

fn read(file: &[u8], cx: &Cx) -> Result<Character, NodeError> {
    gltf::read("model", file, &mut |uri| Err(NodeError::new(format!("{uri} is not there"))), cx)
}

/// What was read is whole, and what was mended is told; what was refused says why and what to do.
fn holds(file: &[u8]) -> Result<(), TestCaseError> {
    let cx = Cx::detached();
    let character = match read(file, &cx) {
        Ok(character) => character,
        Err(error) => {
            let told = error.to_string();
            prop_assert!(told.contains("; "), "{} says not what to do", told);
            return Ok(());
        }
    };
    let (mesh, skin) = (&character.mesh, &character.skin);
    prop_assert_eq!(skin.len(), mesh.positions.len());
    prop_assert!(mesh.positions.iter().all(|p| p.is_finite()));
    prop_assert!(mesh.triangles.as_flattened().iter().all(|&vertex| (vertex as usize) < mesh.positions.len()));
    for vertex in 0..skin.len() {
        let (mut sum, mut known) = (0.0, true);
        for (joint, weight) in skin.influences(vertex) {
            sum += weight;
            known &= usize::from(joint) < character.skeleton.joints.len();
        }
        prop_assert!(known && (sum - 1.0).abs() < 1e-4, "vertex {} sums to {}", vertex, sum);
    }
    let mended = character.source.repaired.iter().any(|&repaired| repaired != 0);
    prop_assert!(!mended || cx.warnings().iter().any(|warning| warning.what.contains("weights were mended")));
    Ok(())
}

#[test]
fn damaged_models_are_mended_and_counted_or_refused_with_a_reason() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/models"));
    for name in MODELS {
        let path = folder.join(name);
        let Ok(file) = std::fs::read(&path) else {
            #[expect(clippy::print_stderr, reason = "a skipped test says so")]
            {
                eprintln!("skipped: {} is not there", path.display());
            }
            continue;
        };
        read(&file, &Cx::detached()).unwrap_or_else(|error| panic!("{name}: {error}"));
        let config = ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() };
        let mut runner = TestRunner::new(config);
        let told = runner.run(&damage(), |damage| holds(&damaged(&file, &damage)));
        told.unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}
