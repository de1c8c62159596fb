//! What a newcomer types, and what scripts rely on.

#![allow(clippy::unwrap_used, reason = "a helper of tests fails as a test does")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use assert_cmd::Command;
use serde_json::Value;
use tempfile::TempDir;

fn sinew(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_sinew")).args(args).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn result(output: &Output) -> Value {
    let out = text(&output.stdout);
    let lines: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    lines.into_iter().find(|line| line["event"] == "result").unwrap()
}

fn run(args: &[&str], out: &Path) -> Value {
    let mut all = vec!["run"];
    all.extend_from_slice(args);
    all.extend_from_slice(&["--json", "--out", out.to_str().unwrap()]);
    let output = sinew(&all);
    assert!(output.status.success(), "{args:?}: {}", text(&output.stderr));
    result(&output)
}

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

/// A measure of the closing table: before and after.
fn measure(result: &Value, of: &str, name: &str) -> (f64, f64) {
    let rows = result["tables"]["compare"].as_array().unwrap();
    let row = rows.iter().find(|row| row["of"].as_str().unwrap().starts_with(of) && row["measure"] == name).unwrap();
    (row["before"].as_f64().unwrap(), row["after"].as_f64().unwrap())
}

#[allow(clippy::print_stderr, reason = "a test tells why it was skipped")]
fn model(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/models").join(name);
    if !path.exists() {
        eprintln!("skipped: {} is not here", path.display());
        return None;
    }
    Some(path)
}

#[test]
fn one_command_gives_a_rigged_tail_in_a_glb() {
    let out = folder();
    let result = run(&["tail-rig", "--set", "picture.width=90", "--set", "picture.height=110"], out.path());
    let names: BTreeSet<String> =
        fs::read_dir(out.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert_eq!(names, ["fox.glb", "fox.png", "report.json"].map(String::from).into());
    let glb = fs::read(out.path().join("fox.glb")).unwrap();
    assert_eq!(&glb[..4], b"glTF");
    let length = u32::from_le_bytes(glb[12..16].try_into().unwrap()) as usize;
    let json: Value = serde_json::from_slice(&glb[20..20 + length]).unwrap();
    let nodes: Vec<&str> = json["nodes"].as_array().unwrap().iter().filter_map(|node| node["name"].as_str()).collect();
    assert!(["Tail_1", "Tail_4", "Tail_End"].iter().all(|name| nodes.contains(name)), "{nodes:?}");
    let (before, after) = measure(&result, "Tail", "distance / H");
    assert!(after < before / 3.0, "the tail's bones are nearer: {before} to {after}");
    let report: Value = serde_json::from_slice(&fs::read(out.path().join("report.json")).unwrap()).unwrap();
    let chains = report["appendages"].as_array().unwrap().iter().filter(|row| row["decision"] == "chain");
    assert_eq!(chains.count(), 1);
}

#[test]
fn a_rigid_tail_stretches_by_exactly_one() {
    let out = folder();
    let result = run(&["tail-rigid", "--set", "picture.width=90", "--set", "picture.height=110"], out.path());
    let (torn, none) = measure(&result, "Tail", "torn");
    assert!(torn > 5.0 && none == 0.0, "{torn} {none}");
    assert!((measure(&result, "Tail", "max").1 - 1.0).abs() < 1e-3);
}

#[test]
fn the_same_call_gives_the_same_bytes_for_one_and_two_workers_cold_and_warm() {
    let (one, two, warm, cache) = (folder(), folder(), folder(), folder());
    let small = ["tail-rig", "--set", "sample.detail=0.5", "--set", "picture.width=90", "--set", "picture.height=110"];
    let with = |more: &[&str]| small.iter().chain(more).map(|s| (*s).to_owned()).collect::<Vec<_>>();
    let go = |args: Vec<String>, out: &Path| run(&args.iter().map(String::as_str).collect::<Vec<_>>(), out);
    let cache = cache.path().to_str().unwrap();
    go(with(&["--workers", "1"]), one.path());
    go(with(&["--workers", "2", "--cache", cache]), two.path());
    let again = go(with(&["--cache", cache]), warm.path());
    let ran = again["nodes"].as_array().unwrap().iter().filter(|node| node["cache"] == "miss").count();
    assert_eq!(ran, 0, "a second run with a cache folder runs nothing: {}", again["nodes"]);
    for name in ["fox.glb", "fox.png", "report.json"] {
        let bytes = fs::read(one.path().join(name)).unwrap();
        assert!(bytes == fs::read(two.path().join(name)).unwrap(), "{name} of two workers");
        assert!(bytes == fs::read(warm.path().join(name)).unwrap(), "{name} from the cache");
    }
}

#[test]
fn every_line_of_json_is_an_object_and_nodes_tell_why_they_ran() {
    let out = folder();
    let result = run(&["tail-rigid", "--set", "picture.width=90", "--set", "picture.height=110"], out.path());
    for node in result["nodes"].as_array().unwrap() {
        assert!(node["why"].as_str().unwrap().starts_with("ran because"), "{node}");
    }
}

#[test]
fn a_wrong_call_ends_with_code_2_and_says_what_would_be_right() {
    let cases: [(&[&str], &str); 10] = [
        (&["run", "tail"], "tail-rig"),
        (&["run", "nowhere.ron"], "check the path"),
        (&["run", "tail-rig", "nowhere.glb"], "check the path"),
        (&["run", "tail-rig", "--set", "flood.far"], "NODE.KNOB=VALUE"),
        (&["run", "tail-rig", "--set", "flood.fra=0.1"], "it has mode, far"),
        (&["run", "tail-rig", "--set", "floud.far=0.1"], "the graph has apply"),
        (&["run", "tail-rig", "--set", "flood.far=7"], "outside 0 to 1"),
        (&["run", "tail-rig", "--set", "flood.far=much"], "is not a number"),
        (&["run", "tail-rig", "--input", "figure=a.glb"], "it has character"),
        (&["walk"], "unrecognized"),
    ];
    for (args, hint) in cases {
        let output = sinew(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(text(&output.stderr).contains(hint), "{args:?}: {}", text(&output.stderr));
    }
}

#[test]
fn a_broken_model_ends_with_code_1_and_nothing_is_written() {
    let (models, out) = (folder(), folder());
    let cases: [(&str, &[u8]); 3] =
        [("empty.glb", b""), ("text.glb", b"not a model"), ("cut.glb", b"glTF\x02\0\0\0\xff\0\0\0")];
    for (name, bytes) in cases {
        let path = models.path().join(name);
        fs::write(&path, bytes).unwrap();
        let target = out.path().join(name);
        let output = sinew(&["run", "tail-rig", path.to_str().unwrap(), "--out", target.to_str().unwrap()]);
        assert_eq!(output.status.code(), Some(1), "{name}");
        let told = text(&output.stderr);
        assert!(told.contains("input_character") && told.contains("nothing was written"), "{told}");
        assert!(!target.exists());
    }
}

#[test]
fn a_character_that_needs_nothing_leaves_as_it_came() {
    for name in ["human_sintel.glb", "woman_witch_quaternius.glb", "knight_kaykit.glb", "human_m2m.glb"] {
        let Some(path) = model(name) else { continue };
        let out = folder();
        let args = [path.to_str().unwrap(), "--set", "picture.width=90", "--set", "picture.height=110"];
        let result = run(&[&["tail-rig"], &args[..]].concat(), out.path());
        assert!(fs::read(out.path().join(name)).unwrap() == fs::read(&path).unwrap(), "{name} is byte-identical");
        for row in result["tables"]["appendages"].as_array().unwrap() {
            assert_eq!(row["decision"], "unchanged", "{name}");
            assert!(row["reason"].as_str().unwrap().len() > 10, "{name}: {row}");
        }
    }
}

#[test]
fn the_catalogue_tells_every_socket_and_knob() {
    let list = sinew(&["nodes", "--json"]);
    let nodes: Value = serde_json::from_slice(&list.stdout).unwrap();
    assert!(nodes.as_array().unwrap().len() >= 30);
    for node in nodes.as_array().unwrap() {
        for part in ["inputs", "knobs", "outputs"] {
            for entry in node[part].as_array().unwrap() {
                assert!(!entry["help"].as_str().unwrap().is_empty(), "{} {entry}", node["id"]);
            }
        }
    }
    let one = text(&sinew(&["nodes", "mesh.weld"]).stdout);
    assert!(one.contains("= tolerance: number in heights, 0 to 0.1, default 0.000001"), "{one}");
    assert_eq!(sinew(&["nodes", "mesh.wled"]).status.code(), Some(2));
}

#[test]
fn the_templates_have_no_fault_and_are_saved_as_sinew_saves() {
    let output = sinew(&["check", "--json"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    for line in text(&output.stdout).lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        assert_eq!((&line["canonical"], &line["problems"]), (&Value::Bool(true), &Value::Array(vec![])), "{line}");
    }
}

#[test]
fn check_names_what_is_wrong_with_a_graph() {
    let folder = folder();
    let path = folder.path().join("bad.ron");
    let graph = "// sinew graph 1\n(main: \"main\", graphs: {\"main\": (nodes: {\"a\": (type: \"mesh.wled\", revision: 1, at: (0, 0))})})\n";
    fs::write(&path, graph).unwrap();
    let output = sinew(&["check", path.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stdout).contains("mesh.wled"), "{}", text(&output.stdout));
    fs::write(&path, "// sinew graph 1\n(main: ").unwrap();
    let output = sinew(&["check", path.to_str().unwrap()]);
    assert!(text(&output.stdout).contains("line 2"), "{}", text(&output.stdout));
}
