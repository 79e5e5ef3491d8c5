//! A file or folder that must stay what it was.

use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use super::ProjectError;

/// A path, and what stood there when it was looked at first.
///
/// Who holds a file open does not notice that it was moved away or removed: what it writes
/// then is lost, or part of something else. Who opens a path anew finds whatever somebody
/// has put there since.
#[derive(Clone, Debug)]
pub(super) struct Anchor {
    path: PathBuf,
    identity: Identity,
}

impl Anchor {
    /// Remembers what stands at `path`.
    pub(super) fn of(path: &Path) -> Result<Self, ProjectError> {
        let found =
            fs::symlink_metadata(path).map_err(|source| ProjectError::unreadable(path, source))?;
        Ok(Self {
            path: path.to_owned(),
            identity: identity(&found),
        })
    }

    /// Looks whether the same stands there still, and returns what is known of it.
    pub(super) fn check(&self) -> Result<Metadata, ProjectError> {
        let path = || self.path.clone();
        match fs::symlink_metadata(&self.path) {
            Ok(found) if identity(&found) == self.identity => Ok(found),
            Ok(_) => Err(ProjectError::Replaced { path: path() }),
            Err(error) if is_gone(&error) => Err(ProjectError::Gone { path: path() }),
            Err(source) => Err(ProjectError::unreadable(&self.path, source)),
        }
    }
}

/// Tells whether nothing stands at the path, be it that a folder above it is a file now.
fn is_gone(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// What distinguishes a file from every other one that is there at the same time.
#[cfg(unix)]
pub(super) type Identity = (u64, u64);

#[cfg(unix)]
pub(super) fn identity(found: &Metadata) -> Identity {
    use std::os::unix::fs::MetadataExt;
    (found.dev(), found.ino())
}

/// Where files have no numbers, when it was made must do.
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
    fn what_was_moved_removed_or_replaced_is_noticed() {
        let folder = tempfile::tempdir().expect("a folder");
        let [path, aside] = ["file", "aside"].map(|name| folder.path().join(name));
        fs::write(&path, "one").expect("writable");
        let anchor = Anchor::of(&path).expect("it is there");
        assert_eq!(anchor.check().expect("the same").len(), 3);

        fs::write(&path, "longer").expect("writable");
        assert!(anchor.check().is_ok(), "another content is another matter");
        fs::rename(&path, &aside).expect("ours");
        assert!(matches!(anchor.check(), Err(ProjectError::Gone { .. })));
        fs::write(&path, "other").expect("writable");
        assert!(matches!(anchor.check(), Err(ProjectError::Replaced { .. })));
        fs::rename(&aside, &path).expect("ours");
        assert!(anchor.check().is_ok(), "it was put back");
    }

    #[cfg(unix)]
    #[test]
    fn a_symlink_to_the_same_file_is_another_thing() {
        let folder = tempfile::tempdir().expect("a folder");
        let [path, aside] = ["file", "aside"].map(|name| folder.path().join(name));
        fs::write(&path, "one").expect("writable");
        let anchor = Anchor::of(&path).expect("it is there");
        fs::rename(&path, &aside).expect("ours");
        std::os::unix::fs::symlink(&aside, &path).expect("writable");

        assert!(matches!(anchor.check(), Err(ProjectError::Replaced { .. })));
    }
}
