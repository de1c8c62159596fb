//! What a document promises: files that version control can read, edits that can be undone exactly.

mod nodes;

use nodes::registry;
use sinew_graph::file;

const SAMPLE: &str = include_str!("graphs/sample.ron");

#[test]
fn a_saved_file_loads_and_saves_as_the_same_bytes() {
    let loaded = file::load(SAMPLE, &registry()).unwrap();
    assert_eq!(loaded.problems, []);
    assert_eq!(file::save(&loaded.document, &registry()), SAMPLE);
}
