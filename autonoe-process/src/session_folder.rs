//! [`SessionFolder`], a folder that is removed with its session.

use std::fs::{self, DirBuilder, File, Permissions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::process::geteuid;

use crate::session_parent::SessionParent;

/// A folder for the files of one session, which only this user can access.
///
/// It is created below the [`SessionParent`] of a directory for temporary files. A second folder
/// with the same name is directly in that directory: the session's own [temporary
/// files](Self::temporary) go there, so that a guard or a sandbox can refuse all writes to the
/// parent.
///
/// Dropping it removes it with all its contents, including read-only ones. Pass it to
/// [`Launch::folder`](crate::Launch::folder) to remove it when the last process of the session has
/// ended, and not while one of them still writes.
///
/// A killed program cannot remove its folders. A program holds a lock on each of its folders, so a
/// later program can find the [abandoned](Self::abandoned_in) ones.
///
/// ```
/// use autonoe_process::SessionFolder;
///
/// # let directory = tempfile::tempdir()?;
/// let folder = SessionFolder::create_in(directory.path(), "session-")?;
/// let (path, temporary) = (folder.path().to_owned(), folder.temporary().to_owned());
/// std::fs::write(path.join("settings"), "read by the program")?;
/// std::fs::write(temporary.join("output"), "written by its commands")?;
///
/// drop(folder);
/// assert!(!path.exists() && !temporary.exists());
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct SessionFolder {
    path: PathBuf,
    temporary: PathBuf,
    /// The folder itself, locked. No child inherits it.
    _lock: File,
    is_removed: bool,
}

impl SessionFolder {
    /// Creates a new folder below the [`SessionParent`] of `directory`, with a name that begins
    /// with `prefix`, and one for its temporary files in `directory`.
    ///
    /// # Errors
    ///
    /// The folder cannot be created, or the parent belongs to another user.
    pub fn create_in(directory: &Path, prefix: &str) -> io::Result<Self> {
        let parent = SessionParent::open(directory)?;
        loop {
            let folder = tempfile::Builder::new()
                .prefix(prefix)
                .permissions(Permissions::from_mode(0o700))
                .tempdir_in(parent.sessions())?;
            // Before it is locked, another program may take it for an abandoned folder.
            let Some(mut created) = Self::try_lock_folder(folder.path().to_owned(), directory)?
            else {
                continue;
            };
            if let Err(error) = DirBuilder::new().mode(0o700).create(&created.temporary) {
                // The existing path of this name is not ours.
                created.is_removed = true;
                match error.kind() {
                    io::ErrorKind::AlreadyExists => continue,
                    _ => return Err(error),
                }
            }
            let _ = folder.keep();
            return Ok(created);
        }
    }

    /// Returns the folders below the [`SessionParent`] of `directory` whose names begin with
    /// `prefix` and whose program has ended. The caller owns them now; dropping them removes them.
    ///
    /// Processes that the sessions left running may still write to them: end these first, see
    /// [`Marker::kill_all`](crate::Marker::kill_all).
    ///
    /// # Errors
    ///
    /// The folders cannot be listed, or the parent belongs to another user.
    ///
    /// ```
    /// use autonoe_process::SessionFolder;
    ///
    /// # let directory = tempfile::tempdir()?;
    /// let held = SessionFolder::create_in(directory.path(), "session-")?;
    /// let left = held.path().with_file_name("session-of-a-killed-program");
    /// std::fs::create_dir(&left)?;
    ///
    /// let abandoned = SessionFolder::abandoned_in(directory.path(), "session-")?;
    /// assert_eq!(abandoned.len(), 1);
    ///
    /// drop(abandoned);
    /// assert!(!left.exists());
    /// assert!(held.path().exists());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn abandoned_in(directory: &Path, prefix: &str) -> io::Result<Vec<Self>> {
        let parent = SessionParent::open(directory)?;
        let mut abandoned = Vec::new();
        for entry in fs::read_dir(parent.sessions())?.flatten() {
            if entry.file_name().to_string_lossy().starts_with(prefix) {
                // A folder that cannot be accessed belongs to another user.
                abandoned.extend(
                    Self::try_lock_folder(entry.path(), directory)
                        .ok()
                        .flatten(),
                );
            }
        }
        Ok(abandoned)
    }

    /// Locks the folder at `path`, whose temporary files are in `directory`; `None` if another
    /// program holds it, or it does not exist.
    fn try_lock_folder(path: PathBuf, directory: &Path) -> io::Result<Option<Self>> {
        // Symlinks are not followed, so that nothing leads to a folder elsewhere.
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
        // The previous owner may have removed it in the meantime.
        let is_there = fs::symlink_metadata(&path)
            .is_ok_and(|there| (there.dev(), there.ino()) == (held.dev(), held.ino()));
        let temporary = directory.join(path.file_name().unwrap_or_default());
        Ok(is_there.then_some(Self {
            path,
            temporary,
            _lock: lock,
            is_removed: false,
        }))
    }

    /// Returns the path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the folder for temporary files of the session. It is outside of the
    /// [`SessionParent`].
    pub fn temporary(&self) -> &Path {
        &self.temporary
    }

    /// Removes the folder and its temporary files.
    ///
    /// # Errors
    ///
    /// Something in it cannot be removed, and stays.
    pub fn remove(mut self) -> io::Result<()> {
        // One attempt is enough; `drop` would make another.
        self.is_removed = true;
        self.remove_both()
    }

    fn remove_both(&self) -> io::Result<()> {
        // The temporary files are removed first: a later sweep finds them by the folder.
        remove(&self.temporary)?;
        remove(&self.path)
    }
}

impl Drop for SessionFolder {
    fn drop(&mut self) {
        if self.is_removed {
            return;
        }
        if let Err(error) = self.remove_both() {
            let path = self.path.display();
            tracing::warn!(%path, %error, "the folder of a session could not be removed");
        }
    }
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            make_writable(path);
            fs::remove_dir_all(path)
        }
        // A command can replace the directory for temporary files with a file.
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => fs::remove_file(path),
        result => result,
    }
}

/// Makes all folders in `folder` writable, without following symlinks. A failure surfaces when they
/// are removed.
fn make_writable(folder: &Path) {
    if !fs::symlink_metadata(folder).is_ok_and(|found| found.is_dir()) {
        return;
    }
    let _ = fs::set_permissions(folder, Permissions::from_mode(0o700));
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        // Symlinks are not followed: `file_type` is that of the link itself.
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            make_writable(&entry.path());
        }
    }
}
