//! Folder of the project inside of a worktree, and removal of folders.

use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::IsolationError;

/// Returns the folder of the project in the worktree at `root`.
pub(super) fn path_in(root: &Path, inside: &Path) -> PathBuf {
    // Joining an empty path would append a slash.
    if inside.as_os_str().is_empty() {
        root.to_owned()
    } else {
        root.join(inside)
    }
}

/// Creates the folder of the project in the worktree at `root`, if it is missing: git stores no
/// empty folders.
///
/// # Errors
///
/// A link or a file is in its place. An agent that works behind a link is not isolated.
pub(super) fn create(root: &Path, inside: &Path) -> Result<(), IsolationError> {
    let mut folder = root.to_owned();
    for part in inside {
        folder.push(part);
        match folder.symlink_metadata() {
            Ok(found) if found.is_dir() => {}
            Ok(_) => {
                let reason = "a link or a file is in the place of the project's folder";
                return Err(IsolationError::RefusedFolder { folder, reason });
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                fs::create_dir(&folder).map_err(IsolationError::io(&folder))?;
            }
            Err(error) => return Err(IsolationError::io(folder)(error)),
        }
    }
    Ok(())
}

/// Removes a folder, which may be missing.
pub(super) async fn remove_folder(folder: &Path) -> Result<(), IsolationError> {
    let path = folder.to_owned();
    let removed = tokio::task::spawn_blocking(move || {
        let is_missing = |error: &io::Error| error.kind() == ErrorKind::NotFound;
        match fs::remove_dir_all(&path) {
            Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                make_writable(&path)?;
                fs::remove_dir_all(&path)
            }
            Err(error) if is_missing(&error) => Ok(()),
            removed => removed,
        }
    });
    let removed = removed.await;
    let removed = removed.unwrap_or_else(|error| Err(io::Error::other(error)));
    removed.map_err(IsolationError::io(folder))
}

/// Makes everything in a folder removable: some tools write-protect their caches.
fn make_writable(folder: &Path) -> io::Result<()> {
    fs::set_permissions(folder, fs::Permissions::from_mode(0o700))?;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            make_writable(&entry.path())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn the_folder_of_a_project_is_created_and_symlinks_are_not_followed() {
        let (root, outside) = (tempfile::tempdir(), tempfile::tempdir());
        let (root, outside) = (root.expect("a folder"), outside.expect("a folder"));
        let root = root.path();
        fs::write(root.join("file"), "").expect("writable");
        symlink(outside.path(), root.join("link")).expect("writable");

        let is_created = |inside: &str| create(root, inside.as_ref()).is_ok();

        assert!(is_created("") && is_created("a/b") && is_created("a/b"));
        assert!(root.join("a/b").is_dir());
        assert!(!is_created("file") && !is_created("link") && !is_created("link/c"));
        assert!(!outside.path().join("c").exists());
    }
}
