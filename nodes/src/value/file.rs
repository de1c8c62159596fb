//! `value.file`.

use sinew_graph::basic::File;
use sinew_graph::knob::FilePath;
use sinew_graph::{Result, node};

/// A path to a file, for driving several parameters at once. The file itself is read by the node that the path goes to.
#[node(id = "value.file", revision = 1)]
pub fn file(
    /// The path.
    #[param(default = FilePath::default())]
    path: FilePath,
) -> Result<File> {
    Ok(File(path.require("path")?.to_string_lossy().into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_passes_and_none_is_asked_for() {
        assert_eq!(file(FilePath::new("rigs/fox.glb")), Ok(File("rigs/fox.glb".into())));
        let error = file(FilePath::default()).unwrap_err();
        assert_eq!(error.to_string(), "path: no file is chosen; choose a file");
    }
}
