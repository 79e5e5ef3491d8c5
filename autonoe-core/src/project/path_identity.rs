//! [`PathIdentity`], which detects that a file or folder was moved, removed or replaced.

use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use super::ProjectError;

/// A path and the identity of the file or folder that was found there.
///
/// A process that holds a file open does not notice that the file was moved or removed: its writes
/// are lost, or end up in another project. A process that opens a path again finds whatever was put
/// there since.
#[derive(Clone, Debug)]
pub(super) struct PathIdentity {
    path: PathBuf,
    identity: Identity,
}

impl PathIdentity {
    /// Records the identity of the file or folder at `path`.
    pub(super) fn new(path: &Path) -> Result<Self, ProjectError> {
        let found =
            fs::symlink_metadata(path).map_err(|source| ProjectError::unreadable(path, source))?;
        Ok(Self::from_metadata(path, &found))
    }

    /// Records the identity of the file that was opened at `path`.
    pub(super) fn from_metadata(path: &Path, found: &Metadata) -> Self {
        Self {
            path: path.to_owned(),
            identity: identity(found),
        }
    }

    /// Checks that the same file or folder is still there, and returns its metadata.
    pub(super) fn check(&self) -> Result<Metadata, ProjectError> {
        let path = || self.path.clone();
        match fs::symlink_metadata(&self.path) {
            Ok(found) if identity(&found) == self.identity => Ok(found),
            Ok(_) => Err(ProjectError::Replaced { path: path() }),
            Err(error) if is_missing(&error) => Err(ProjectError::Removed { path: path() }),
            Err(source) => Err(ProjectError::unreadable(&self.path, source)),
        }
    }
}

/// Returns whether there is nothing at the path, also if a folder above it is now a file.
fn is_missing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// Distinguishes a file from every other one that exists at the same time: device and inode.
#[cfg(unix)]
pub(super) type Identity = (u64, u64);

#[cfg(unix)]
pub(super) fn identity(found: &Metadata) -> Identity {
    use std::os::unix::fs::MetadataExt;
    (found.dev(), found.ino())
}

/// Without inodes, the kind and the time of creation must do.
#[cfg(not(unix))]
pub(super) type Identity = (bool, Option<std::time::SystemTime>);

#[cfg(not(unix))]
pub(super) fn identity(found: &Metadata) -> Identity {
    (found.is_dir(), found.created().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moved_removed_or_replaced_file_is_detected() {
        let folder = tempfile::tempdir().expect("a folder");
        let [path, moved] = ["file", "moved"].map(|name| folder.path().join(name));
        fs::write(&path, "one").expect("writable");
        let anchor = PathIdentity::new(&path).expect("it is there");
        assert_eq!(anchor.check().expect("the same").len(), 3);

        fs::write(&path, "longer").expect("writable");
        assert!(anchor.check().is_ok(), "another content is another matter");
        fs::rename(&path, &moved).expect("ours");
        assert!(matches!(anchor.check(), Err(ProjectError::Removed { .. })));
        fs::write(&path, "other").expect("writable");
        assert!(matches!(anchor.check(), Err(ProjectError::Replaced { .. })));
        fs::rename(&moved, &path).expect("ours");
        assert!(anchor.check().is_ok(), "it was put back");
    }

    #[cfg(unix)]
    #[test]
    fn a_symlink_to_the_original_file_counts_as_replaced() {
        let folder = tempfile::tempdir().expect("a folder");
        let [path, moved] = ["file", "moved"].map(|name| folder.path().join(name));
        fs::write(&path, "one").expect("writable");
        let anchor = PathIdentity::new(&path).expect("it is there");
        fs::rename(&path, &moved).expect("ours");
        std::os::unix::fs::symlink(&moved, &path).expect("writable");

        assert!(matches!(anchor.check(), Err(ProjectError::Replaced { .. })));
    }
}
