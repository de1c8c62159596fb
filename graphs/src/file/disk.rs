//! Puts bytes on the disk, whole or not at all.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Why a file was not written. What was there before is still there.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The folder is missing.
    #[error("the folder {folder:?} does not exist: create it or choose another place for {path:?}")]
    NoFolder {
        /// The file.
        path: PathBuf,
        /// Its folder.
        folder: PathBuf,
    },
    /// The path is that of a folder.
    #[error("{path:?} is a folder: choose a file name within it")]
    IsFolder {
        /// The path.
        path: PathBuf,
    },
    /// The disk said no.
    #[error("{path:?} could not be written: {source}; check free space and permissions")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// Writes a file by way of a temporary one beside it, so that a crash or a full disk leaves the old one whole.
/// Permissions stay as they were, and a symbolic link stays one. Blocks until the bytes are on the disk.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), WriteError> {
    let failed = |source| WriteError::Io { path: path.into(), source };
    // The file behind a link is replaced, not the link.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.into());
    if target.is_dir() {
        return Err(WriteError::IsFolder { path: path.into() });
    }
    let folder = match target.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    if !folder.is_dir() {
        return Err(WriteError::NoFolder { path: path.into(), folder: folder.into() });
    }
    let mut file = temporary().tempfile_in(folder).map_err(failed)?;
    file.write_all(bytes).map_err(failed)?;
    match fs::metadata(&target) {
        Ok(there) => file.as_file().set_permissions(there.permissions()).map_err(failed)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(failed(error)),
    }
    file.as_file().sync_all().map_err(failed)?;
    file.persist(&target).map_err(|error| failed(error.error))?;
    sync_folder(folder).map_err(failed)
}

/// With the permissions of an ordinary new file; temporary files are private otherwise.
fn temporary() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".sinew-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // The umask still applies.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    builder
}

/// The new name is on the disk only when the folder is.
#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    fs::File::open(folder)?.sync_all()
}

#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_whole_and_nothing_is_left_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rig.ron");
        write(&path, b"first").unwrap();
        write(&path, b"second").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"second");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_missing_folder_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("none/rig.ron");
        let error = write(&path, b"x").unwrap_err();
        assert!(matches!(&error, WriteError::NoFolder { folder, .. } if folder.ends_with("none")), "{error}");
        assert!(matches!(write(folder.path(), b"x"), Err(WriteError::IsFolder { .. })));
    }

    #[cfg(unix)]
    #[test]
    fn permissions_and_links_stay_and_new_files_are_ordinary() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let (path, link, plain) = (folder.path().join("a"), folder.path().join("b"), folder.path().join("c"));
        fs::write(&path, b"old").unwrap();
        fs::write(&plain, b"").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        symlink(&path, &link).unwrap();
        write(&link, b"new").unwrap();
        assert_eq!((fs::read(&path).unwrap().as_slice(), mode(&path)), (b"new".as_slice(), 0o640));
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        let new = folder.path().join("d");
        write(&new, b"new").unwrap();
        assert_eq!(mode(&new), mode(&plain));
    }
}
