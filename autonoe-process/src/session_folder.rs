//! A folder that goes when a session does.

use std::fs::{self, Permissions};
use std::io;
use std::mem::ManuallyDrop;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// A folder for the files of one session, which only this user can look into.
///
/// It is removed with all that is in it when it is dropped, also what was made
/// read-only. Hand it to [`Launch::folder`](crate::Launch::folder), and it is removed
/// when the last process of the session is gone, and not while one of them still writes.
///
/// ```
/// use autonoe_process::SessionFolder;
///
/// # let parent = tempfile::tempdir()?;
/// let folder = SessionFolder::create_in(parent.path(), "session-")?;
/// let path = folder.path().to_owned();
/// std::fs::write(path.join("notes"), "kept for a while")?;
///
/// drop(folder);
/// assert!(!path.exists());
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct SessionFolder {
    path: PathBuf,
}

impl SessionFolder {
    /// Makes a new folder in `parent`, with a name that begins with `prefix`.
    ///
    /// # Errors
    ///
    /// The system refuses it.
    pub fn create_in(parent: &Path, prefix: &str) -> io::Result<Self> {
        let folder = tempfile::Builder::new()
            .prefix(prefix)
            .permissions(Permissions::from_mode(0o700))
            .tempdir_in(parent)?;
        Ok(Self {
            path: folder.keep(),
        })
    }

    /// Returns the path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes the folder.
    ///
    /// # Errors
    ///
    /// Something in it cannot be removed. It stays then.
    pub fn remove(self) -> io::Result<()> {
        // One attempt is enough; `drop` would make another.
        let mut folder = ManuallyDrop::new(self);
        remove(&std::mem::take(&mut folder.path))
    }
}

impl Drop for SessionFolder {
    fn drop(&mut self) {
        if let Err(error) = remove(&self.path) {
            let path = self.path.display();
            tracing::warn!(%path, %error, "the folder of a session cannot be removed");
        }
    }
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            open_up(path);
            fs::remove_dir_all(path)
        }
        result => result,
    }
}

/// Makes all folders in `folder` writable. What fails shows when they are removed.
fn open_up(folder: &Path) {
    let _ = fs::set_permissions(folder, Permissions::from_mode(0o700));
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        // Links are not followed: `file_type` is about the link itself.
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            open_up(&entry.path());
        }
    }
}
