//! Puts the files of a run on disk: all of them, or none.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Component, Path, PathBuf};

use sinew_nodes::data::File;
use tempfile::NamedTempFile;

use super::CliError;

/// Writes files into a folder. Each goes to a temporary file beside its place first; only when all are there and synced
/// are they renamed. When a rename fails, those already in place are the new ones and the error says which are not.
pub fn write_all<'a>(out: &Path, files: impl IntoIterator<Item = &'a File>) -> Result<Vec<PathBuf>, CliError> {
    let mut planned: BTreeMap<PathBuf, &File> = BTreeMap::new();
    for file in files {
        let place = place(out, &file.name)?;
        if planned.insert(place, file).is_some() {
            return Err(CliError::Failed(format!(
                "two nodes yield a file called {:?}: give one of them another name; nothing was written",
                file.name
            )));
        }
    }
    let mut staged = Vec::new();
    for (place, file) in &planned {
        let fail = |error: std::io::Error| {
            CliError::Failed(format!("cannot write {}: {error}; nothing was written", place.display()))
        };
        if place.is_dir() {
            return Err(CliError::Failed(format!("{} is a folder; nothing was written", place.display())));
        }
        let folder = place.parent().unwrap_or(out);
        fs::create_dir_all(folder).map_err(fail)?;
        let mut temporary = NamedTempFile::new_in(folder).map_err(fail)?;
        temporary.write_all(&file.bytes).and_then(|()| temporary.as_file().sync_all()).map_err(fail)?;
        readable(temporary.path()).map_err(fail)?;
        staged.push((temporary, place.clone()));
    }
    let mut written = Vec::new();
    for (temporary, place) in staged {
        temporary.persist(&place).map_err(|error| {
            let done = if written.is_empty() { "nothing".into() } else { format!("only {written:?}") };
            CliError::Failed(format!("cannot replace {}: {}; {done} was written", place.display(), error.error))
        })?;
        written.push(place);
    }
    Ok(written)
}

/// Temporary files are private to their owner; what a user exports is readable like any other file they make.
#[cfg(unix)]
fn readable(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn readable(_: &Path) -> std::io::Result<()> {
    Ok(())
}

fn place(out: &Path, name: &str) -> Result<PathBuf, CliError> {
    let relative = Path::new(name);
    let plain = relative.components().all(|part| matches!(part, Component::Normal(_)));
    if name.is_empty() || !plain {
        return Err(CliError::Failed(format!(
            "{name:?} is not a file name inside the output folder; nothing was written"
        )));
    }
    Ok(out.join(relative))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, bytes: &[u8]) -> File {
        File { name: name.into(), bytes: bytes.into() }
    }

    #[test]
    fn files_are_written_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let good = [file("a.glb", b"one"), file("sub/b.json", b"two")];
        assert_eq!(write_all(folder.path(), &good).unwrap().len(), 2);
        assert_eq!(fs::read(folder.path().join("sub/b.json")).unwrap(), b"two");
        // The second name is a folder: the first must keep its old content.
        let bad = [file("a.glb", b"new"), file("sub", b"x")];
        let error = write_all(folder.path(), &bad).unwrap_err().to_string();
        assert!(error.ends_with("nothing was written"), "{error}");
        assert_eq!(fs::read(folder.path().join("a.glb")).unwrap(), b"one");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "no temporary file is left");
    }

    #[test]
    fn no_file_leaves_the_output_folder() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["../a", "/etc/a", "", "a/../../b", "."] {
            assert!(write_all(folder.path(), &[file(name, b"")]).is_err(), "{name:?}");
        }
        let twice = [file("a", b"1"), file("a", b"2")];
        assert!(write_all(folder.path(), &twice).unwrap_err().to_string().contains("two nodes"));
    }
}
