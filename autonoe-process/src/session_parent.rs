//! [`SessionParent`], the protected parent of all session folders.

use std::fs::{File, Permissions};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, mkdirat, openat};
use rustix::io::Errno;
use rustix::process::geteuid;

/// Prefix of the name of the parent. The ID of the user follows.
const PREFIX: &str = "autonoe-";

/// The folder in the parent that holds the folders of sessions. Guards of agents refuse every path
/// with this name.
const SESSIONS: &str = ".autonoe";

/// The folder `autonoe-UID` in a directory for temporary files, below which all sessions of a user
/// have their folders.
///
/// Programs read scripts and settings from those folders, so no agent may write there. A sandbox
/// can make the common parent read-only as a whole, also for sessions that start later. The parent
/// is not removed with the last session: a running sandbox would then protect a folder that no
/// longer exists.
///
/// ```
/// use autonoe_process::{SessionFolder, SessionParent};
///
/// # let directory = tempfile::tempdir()?;
/// let parent = SessionParent::open(directory.path())?;
/// let session = SessionFolder::create_in(directory.path(), "session-")?;
///
/// assert!(session.path().starts_with(parent.path()));
/// assert!(!session.temporary().starts_with(parent.path()));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct SessionParent {
    path: PathBuf,
}

impl SessionParent {
    /// Opens the parent in `directory`, and creates it if it does not exist.
    ///
    /// # Errors
    ///
    /// It cannot be created, is a symlink or not a directory, or belongs to another user.
    pub fn open(directory: &Path) -> io::Result<Self> {
        let parent = Self::in_directory(directory);
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory = openat(CWD, directory, flags, Mode::empty())?;
        let name = parent.path.file_name().unwrap_or_default();
        let folder = private_folder(directory.as_fd(), Path::new(name), &parent.path)?;
        private_folder(folder.as_fd(), Path::new(SESSIONS), &parent.sessions())?;
        Ok(parent)
    }

    /// Returns the parent in `directory`, without accessing the disk.
    pub fn in_directory(directory: &Path) -> Self {
        let name = format!("{PREFIX}{}", geteuid().as_raw());
        Self {
            path: directory.join(name),
        }
    }

    /// Returns the path of the parent.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the folder in it that holds the folders of sessions.
    pub fn sessions(&self) -> PathBuf {
        self.path.join(SESSIONS)
    }
}

/// Opens the folder `name` in `directory`, which only this user can access, and creates it if it
/// does not exist. No symlink is followed. `path` is for messages.
fn private_folder(directory: BorrowedFd<'_>, name: &Path, path: &Path) -> io::Result<File> {
    match mkdirat(directory, name, Mode::RWXU) {
        Ok(()) | Err(Errno::EXIST) => {}
        Err(error) => return Err(error.into()),
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let folder = match openat(directory, name, flags, Mode::empty()) {
        Ok(folder) => File::from(folder),
        Err(Errno::LOOP | Errno::NOTDIR) => {
            let message = format!("{path:?} is not a directory; remove it");
            return Err(io::Error::new(io::ErrorKind::NotADirectory, message));
        }
        Err(Errno::ACCESS) => return Err(no_access(path)),
        Err(error) => return Err(error.into()),
    };
    let found = folder.metadata()?;
    if found.uid() != geteuid().as_raw() {
        return Err(other_owner(path));
    }
    if found.mode() & 0o777 != 0o700 {
        folder.set_permissions(Permissions::from_mode(0o700))?;
    }
    Ok(folder)
}

fn no_access(path: &Path) -> io::Error {
    let message = format!("{path:?} belongs to another user or cannot be read; remove it");
    io::Error::new(io::ErrorKind::PermissionDenied, message)
}

fn other_owner(path: &Path) -> io::Error {
    let message = format!("{path:?} belongs to another user; remove it, or use another directory");
    io::Error::new(io::ErrorKind::PermissionDenied, message)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).expect("it is there").mode() & 0o777
    }

    #[test]
    fn the_parent_is_private_and_the_same_for_all_sessions() {
        let directory = tempfile::tempdir().expect("a directory");

        let one = SessionParent::open(directory.path()).expect("it can be made");
        let other = SessionParent::open(directory.path()).expect("it is there");

        assert_eq!(one.path(), other.path());
        assert_eq!(one.path().parent(), Some(directory.path()));
        assert_eq!([mode(one.path()), mode(&one.sessions())], [0o700, 0o700]);
    }

    #[test]
    fn permissions_of_an_existing_parent_are_narrowed() {
        let directory = tempfile::tempdir().expect("a directory");
        let parent = SessionParent::in_directory(directory.path());
        fs::create_dir(parent.path()).expect("writable");
        fs::set_permissions(parent.path(), Permissions::from_mode(0o777)).expect("ours");

        SessionParent::open(directory.path()).expect("it is ours");

        assert_eq!(mode(parent.path()), 0o700);
    }

    #[test]
    fn a_symlink_or_a_file_in_place_of_a_folder_is_refused() {
        for name in ["parent", "sessions"] {
            for is_link in [true, false] {
                let directory = tempfile::tempdir().expect("a directory");
                let target = tempfile::tempdir().expect("a directory");
                let parent = SessionParent::in_directory(directory.path());
                let place = match name {
                    "parent" => parent.path().to_owned(),
                    _ => {
                        fs::create_dir(parent.path()).expect("writable");
                        parent.sessions()
                    }
                };
                if is_link {
                    symlink(target.path(), &place).expect("writable");
                } else {
                    fs::write(&place, "").expect("writable");
                }

                let refused = SessionParent::open(directory.path()).expect_err("it is no folder");

                assert_eq!(refused.kind(), io::ErrorKind::NotADirectory, "{refused}");
                let left = fs::read_dir(target.path()).expect("it is there").count();
                assert_eq!(left, 0, "nothing is made behind the link");
            }
        }
    }

    #[test]
    fn a_folder_of_another_user_is_refused() {
        let directory = tempfile::tempdir().expect("a directory");
        // Only root can give folders away; for all other users, `/usr` belongs to another user.
        let (around, name) = if geteuid().is_root() {
            let folder = directory.path().join("foreign");
            fs::create_dir(&folder).expect("writable");
            std::os::unix::fs::chown(&folder, Some(1), None).expect("root may");
            (directory.path(), "foreign")
        } else {
            (Path::new("/"), "usr")
        };
        let around = File::open(around).expect("it is there");

        let refused = private_folder(around.as_fd(), Path::new(name), Path::new(name));

        let refused = refused.expect_err("it is not ours");
        assert_eq!(refused.kind(), io::ErrorKind::PermissionDenied);
        assert!(refused.to_string().contains("another user"), "{refused}");
    }
}
