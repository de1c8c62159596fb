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
