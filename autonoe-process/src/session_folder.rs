//! A folder that goes when a session does.

use std::fs::{self, File, Permissions, TryLockError};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::process::geteuid;

/// A folder for the files of one session, which only this user can look into.
///
/// It is removed with all that is in it when it is dropped, also what was made
/// read-only. Hand it to [`Launch::folder`](crate::Launch::folder), and it is removed
/// when the last process of the session is gone, and not while one of them still writes.
///
/// A program that is killed cannot remove its folders. It holds a lock on each of them,
/// so whoever comes next can tell which are [abandoned](Self::abandoned_in).
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
    /// The folder itself, locked. No child inherits it.
    _lock: File,
    is_removed: bool,
}

impl SessionFolder {
    /// Makes a new folder in `parent`, with a name that begins with `prefix`.
    ///
    /// # Errors
    ///
    /// The system refuses it.
    pub fn create_in(parent: &Path, prefix: &str) -> io::Result<Self> {
        loop {
            let folder = tempfile::Builder::new()
                .prefix(prefix)
                .permissions(Permissions::from_mode(0o700))
                .tempdir_in(parent)?;
            // Before it is locked, somebody else may take it for an abandoned one.
            if let Some(created) = Self::locked(folder.path().to_owned())? {
                let _ = folder.keep();
                return Ok(created);
            }
        }
    }

    /// Finds the folders in `parent` of this user whose names begin with `prefix` and whose
    /// program is gone. They are the caller's now, and removed when they are dropped.
    ///
    /// What the sessions left running may still write to them: end it first, see
    /// [`Marker::kill_all`](crate::Marker::kill_all).
    ///
    /// # Errors
    ///
    /// The folders cannot be listed.
    ///
    /// ```
    /// use autonoe_process::SessionFolder;
    ///
    /// # let parent = tempfile::tempdir()?;
    /// let held = SessionFolder::create_in(parent.path(), "session-")?;
    /// std::fs::create_dir(parent.path().join("session-of-a-killed-program"))?;
    ///
    /// let abandoned = SessionFolder::abandoned_in(parent.path(), "session-")?;
    /// assert_eq!(abandoned.len(), 1);
    ///
    /// drop(abandoned);
    /// assert!(!parent.path().join("session-of-a-killed-program").exists());
    /// assert!(held.path().exists());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn abandoned_in(parent: &Path, prefix: &str) -> io::Result<Vec<Self>> {
        let mut abandoned = Vec::new();
        for entry in fs::read_dir(parent)?.flatten() {
            if entry.file_name().to_string_lossy().starts_with(prefix) {
                // What cannot be looked at is somebody else's.
                abandoned.extend(Self::locked(entry.path()).ok().flatten());
            }
        }
        Ok(abandoned)
    }

    /// Takes the folder at `path`; `None` if another program has it, or it is gone.
    fn locked(path: PathBuf) -> io::Result<Option<Self>> {
        // Links are not followed, so that nobody is led to a folder elsewhere.
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let lock = match openat(CWD, &path, flags, Mode::empty()) {
            Ok(folder) => File::from(folder),
            Err(rustix::io::Errno::NOENT) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        let held = lock.metadata()?;
        if held.uid() != geteuid().as_raw() {
            return Ok(None);
        }
        // Who had it before may have removed it in the meantime.
        let is_there = fs::symlink_metadata(&path)
            .is_ok_and(|there| (there.dev(), there.ino()) == (held.dev(), held.ino()));
        Ok(is_there.then_some(Self {
            path,
            _lock: lock,
            is_removed: false,
        }))
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
    pub fn remove(mut self) -> io::Result<()> {
        // One attempt is enough; `drop` would make another.
        self.is_removed = true;
        remove(&self.path)
    }
}

impl Drop for SessionFolder {
    fn drop(&mut self) {
        if self.is_removed {
            return;
        }
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
