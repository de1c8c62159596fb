//! Memory, disk and files.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use sinew_graph::evaluate::{Cause, DiskOptions, Options, Outcome, Reason, Request};
use sinew_graph::knob::KnobValue;
use sinew_graph::{Evaluator, Registry, Value};

use crate::kit::*;

const MB: i64 = 1_000_000;

fn with_budget(registry: &Arc<Registry>, budget: usize) -> Evaluator {
    Evaluator::new(Arc::clone(registry), Options { budget, ..Options::default() }).unwrap()
}

fn block(doc: Doc, id: &str, size: i64, fill: i64) -> Doc {
    doc.add(id, "test.block").set(id, "size", KnobValue::Integer(size)).set(id, "fill", KnobValue::Integer(fill))
}

#[test]
fn the_budget_holds() {
    let (registry, counts) = registry(vec![]);
    let evaluator = with_budget(&registry, 3_500_000);
    for fill in 0..20 {
        let evaluation = evaluator.evaluate(block(Doc::default(), "b", MB, fill).ask(&["b.block"]));
        assert!(evaluation.meter.bytes <= 3_500_000, "{:?}", evaluation.meter);
        assert!(evaluation.meter.held_bytes >= 1_000_000, "what is wanted is held: {:?}", evaluation.meter);
    }
    let last = evaluator.evaluate(block(Doc::default(), "b", MB, 19).ask(&["b.block"]));
    assert_eq!((last.meter.entries, last.meter.evicted), (3, 17));
    assert_eq!(runs(&counts), 20);
    let again = evaluator.evaluate(block(Doc::default(), "b", MB, 0).ask(&["b.block"]));
    assert_eq!((again.ran().len(), runs(&counts)), (1, 21));
}

#[test]
fn shared_columns_count_once() {
    let (registry, _) = registry(vec![]);
    let evaluator = with_budget(&registry, 1 << 30);
    let mut doc = block(Doc::default(), "b", MB, 1);
    let names: Vec<String> = (0..10).map(|k| format!("s{k}")).collect();
    for (k, name) in names.iter().enumerate() {
        doc = doc.add(name, "test.share").wire(&["b.block"], (name, "block"));
        doc = doc.set(name, "salt", KnobValue::Integer(k as i64));
    }
    let wanted: Vec<String> = names.iter().map(|name| format!("{name}.block")).collect();
    let wanted: Vec<&str> = wanted.iter().map(String::as_str).collect();
    let evaluation = evaluator.evaluate(doc.ask(&wanted));
    assert_eq!(evaluation.meter.entries, 11);
    assert!((1_000_000..1_010_000).contains(&evaluation.meter.bytes), "{:?}", evaluation.meter);
}

#[test]
fn what_took_long_outlives_what_is_made_in_no_time() {
    let slow = like_sum(
        "test.slow",
        Arc::new(|call, _| {
            std::thread::sleep(Duration::from_millis(40));
            Ok(vec![Value::new(sinew_graph::basic::Number(call.knob(0, "offset")?))])
        }),
    );
    let (registry, counts) = registry(vec![slow]);
    let evaluator = with_budget(&registry, 2_500_000);
    let doc = Doc::default().add("slow", "test.slow");
    evaluator.evaluate(doc.ask(&["slow"]));
    for fill in 0..10 {
        evaluator.evaluate(block(Doc::default(), "b", MB, fill).ask(&["b.block"]));
    }
    evaluator.evaluate(doc.ask(&["slow"]));
    assert_eq!(runs_of(&counts, "test.slow"), 1);
}

#[test]
fn a_changed_file_is_noticed() {
    let (registry, counts) = registry(vec![]);
    let evaluator = evaluator(&registry, 2);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.bin");
    let doc = Doc::default()
        .add("f", "test.length")
        .set("f", "file", KnobValue::File("a.bin".into()))
        .add("s", "test.sum")
        .wire(&["f"], ("s", "inputs"));
    let ask = || doc.ask(&["s"]).in_folder(folder.path());
    let missing = evaluator.evaluate(ask());
    assert!(missing.value(&out("s")).unwrap_err().to_string().contains("cannot read"));
    std::fs::write(&path, [1, 2, 3]).unwrap();
    assert_eq!(value(&evaluator.evaluate(ask()), "s"), 7.0);
    let before = runs(&counts);
    assert_eq!(value(&evaluator.evaluate(ask()), "s"), 7.0);
    assert_eq!(runs(&counts), before);
    std::fs::write(&path, [1, 2, 3, 4]).unwrap();
    let changed = evaluator.evaluate(ask());
    assert_eq!(value(&changed, "s"), 11.0);
    let causes = &changed.nodes[&"f".into()].explanation.as_ref().unwrap().causes;
    assert_eq!(*causes, [Cause::File { path: "a.bin".into() }]);
    // Back as it was: the old result, nothing runs. Touched: nothing runs either.
    std::fs::write(&path, [1, 2, 3]).unwrap();
    let before = runs(&counts);
    assert_eq!(value(&evaluator.evaluate(ask()), "s"), 7.0);
    let later = std::time::SystemTime::now() + Duration::from_secs(60);
    std::fs::File::options().append(true).open(&path).unwrap().set_modified(later).unwrap();
    assert_eq!(value(&evaluator.evaluate(ask()), "s"), 7.0);
    assert_eq!(runs(&counts), before);
    std::fs::remove_file(&path).unwrap();
    assert!(evaluator.evaluate(ask()).value(&out("s")).is_err());
}

#[test]
fn a_result_on_disk_is_checked_by_one_run() {
    let (registry, counts) = registry(vec![]);
    let folder = tempfile::tempdir().unwrap();
    let open = || {
        let disk = DiskOptions { least: Duration::ZERO, ..DiskOptions::new(folder.path()) };
        Evaluator::new(Arc::clone(&registry), Options { disk: Some(disk), ..Options::default() }).unwrap()
    };
    open().evaluate(chain(3).ask(&["n2"]));
    let before = runs(&counts);
    assert!(open().evaluate(chain(3).ask(&["n2"]).checked()).is_success());
    assert_eq!(runs(&counts) - before, 3);
    open().evaluate(chain(4).ask(&["n3"]).checked());
    assert_eq!(runs(&counts) - before, 3 + 3 + 2, "what has no result runs twice");
}

#[test]
fn an_impure_node_is_named_in_checked_mode() {
    let calls = AtomicUsize::new(0);
    let impure = like_sum(
        "test.impure",
        Arc::new(move |_, _| {
            Ok(vec![Value::new(sinew_graph::basic::Number(calls.fetch_add(1, Ordering::SeqCst) as f64))])
        }),
    );
    let (registry, _) = registry(vec![impure]);
    let evaluator = evaluator(&registry, 2);
    let doc = chain(3).add("i", "test.impure").wire(&["n2"], ("i", "inputs"));
    let doc = doc.add("behind", "test.sum").wire(&["i"], ("behind", "inputs"));
    for _ in 0..2 {
        // First without a result to compare with, then with one.
        let evaluation = evaluator.evaluate(doc.ask(&["behind"]).checked());
        let impure: Vec<String> = evaluation.impure.iter().map(ToString::to_string).collect();
        let expected = "i gave another number (column value) for the same inputs: it must use nothing but them";
        assert_eq!(impure, [expected]);
    }
    assert!(evaluator.evaluate(chain(3).ask(&["n2"]).checked()).is_success());
}

fn with_disk(registry: &Arc<Registry>, folder: &std::path::Path, quota: u64) -> Evaluator {
    let disk = DiskOptions { folder: folder.into(), quota, least: Duration::ZERO };
    Evaluator::new(Arc::clone(registry), Options { disk: Some(disk), ..Options::default() }).unwrap()
}

fn results(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let version = std::fs::read_dir(folder).unwrap().next().unwrap().unwrap().path();
    let files = std::fs::read_dir(version).unwrap().map(|file| file.unwrap().path());
    let mut files: Vec<_> = files.filter(|path| path.extension().is_some_and(|e| e == "result")).collect();
    files.sort();
    files
}

#[test]
fn what_is_on_disk_is_not_run_again() {
    let (registry, counts) = registry(vec![]);
    let folder = tempfile::tempdir().unwrap();
    let doc = Doc::default().add("a", "test.number").add("root", "test.root").wire(&["a"], ("root", "input"));
    with_disk(&registry, folder.path(), 1 << 20).evaluate(doc.ask(&["root"]));
    assert_eq!(results(folder.path()).len(), 2);
    let evaluation = with_disk(&registry, folder.path(), 1 << 20).evaluate(doc.ask(&["root"]));
    assert_eq!((value(&evaluation, "root"), runs(&counts)), (0.0, 2));
    let root = &evaluation.nodes[&"root".into()];
    assert_eq!(root.explanation.as_ref().unwrap().outcome, Outcome::Disk);
    assert_eq!(root.warnings[0].what, "it is zero");
    assert!(!evaluation.nodes.contains_key(&"a".into()), "it was not even looked at");
}

#[test]
fn corrupted_disk_entries_are_misses() {
    let (registry, counts) = registry(vec![]);
    let folder = tempfile::tempdir().unwrap();
    let doc = chain(4);
    with_disk(&registry, folder.path(), 1 << 20).evaluate(doc.ask(&["n3"]));
    let damages: [fn(&mut Vec<u8>); 4] =
        [|bytes| bytes.truncate(9), |bytes| bytes.clear(), |bytes| bytes[20] ^= 1, |bytes| bytes.push(0)];
    for (path, damage) in results(folder.path()).iter().zip(damages) {
        let mut bytes = std::fs::read(path).unwrap();
        damage(&mut bytes);
        std::fs::write(path, bytes).unwrap();
    }
    let evaluation = with_disk(&registry, folder.path(), 1 << 20).evaluate(doc.ask(&["n3"]));
    assert_eq!((value(&evaluation, "n3"), runs(&counts)), (3.0, 8));
    let evaluation = with_disk(&registry, folder.path(), 1 << 20).evaluate(doc.ask(&["n3"]));
    assert_eq!((value(&evaluation, "n3"), runs(&counts)), (3.0, 8), "they were written anew");
}

#[test]
fn the_quota_holds() {
    let (registry, _) = registry(vec![]);
    let folder = tempfile::tempdir().unwrap();
    let evaluator = with_disk(&registry, folder.path(), 2_500_000);
    for fill in 0..8 {
        evaluator.evaluate(block(Doc::default(), "b", MB, fill).ask(&["b.block"]));
    }
    drop(evaluator);
    let sizes: Vec<u64> = results(folder.path()).iter().map(|path| path.metadata().unwrap().len()).collect();
    assert_eq!(sizes.len(), 2);
    assert!(sizes.iter().sum::<u64>() <= 2_500_000);
}

#[test]
fn files_are_known_by_content_across_sessions() {
    let (registry, counts) = registry(vec![]);
    let (cache, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let doc = Doc::default().add("f", "test.length").set("f", "file", KnobValue::File("a.bin".into()));
    std::fs::write(folder.path().join("a.bin"), [1, 2, 3]).unwrap();
    let ask = |folder: &std::path::Path| {
        let evaluator = with_disk(&registry, cache.path(), 1 << 20);
        value(&evaluator.evaluate(doc.ask(&["f"]).in_folder(folder)), "f")
    };
    assert_eq!((ask(folder.path()), runs(&counts)), (6.0, 1));
    assert_eq!((ask(folder.path()), runs(&counts)), (6.0, 1));
    // The whole folder somewhere else, with the same file in it: the same keys.
    let moved = tempfile::tempdir().unwrap();
    std::fs::write(moved.path().join("a.bin"), [1, 2, 3]).unwrap();
    assert_eq!((ask(moved.path()), runs(&counts)), (6.0, 1));
    std::fs::write(moved.path().join("a.bin"), [1, 2, 4]).unwrap();
    assert_eq!((ask(moved.path()), runs(&counts)), (7.0, 2));
}

#[test]
fn displayed_results_stay_whatever_the_budget() {
    let (registry, counts) = registry(vec![]);
    let evaluator = with_budget(&registry, 0);
    let doc = block(Doc::default(), "b", MB, 1);
    let request = Request::new(doc.0.clone()).want(out("b.block"), Reason::Displayed);
    for _ in 0..3 {
        let evaluation = evaluator.evaluate(request.clone());
        assert!(evaluation.is_success());
        assert!(evaluation.meter.held_bytes >= 1_000_000);
    }
    assert_eq!(runs(&counts), 1);
}
