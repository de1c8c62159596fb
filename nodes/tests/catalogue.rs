//! Every node that is written is also registered.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::path::Path;

use sinew_graph::Registry;

fn node_ids(folder: &Path, ids: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            node_ids(&path, ids);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            let starts = text.match_indices("#[node(").map(|(at, _)| &text[at..]);
            ids.extend(starts.filter_map(|start| Some(start.split_once("id = \"")?.1.split_once('"')?.0.to_owned())));
        }
    }
}

#[test]
fn every_node_in_the_source_is_in_the_registry() {
    let mut written = Vec::new();
    node_ids(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src")), &mut written);
    written.sort();
    let mut registry = Registry::default();
    sinew_nodes::register(&mut registry).unwrap();
    let registered: Vec<String> = registry.nodes().map(|node| node.id.to_string()).collect();
    assert_eq!(registered, written);
}
