//! Creates and opens files and folders without following symlinks.
//!
//! Agents can create symlinks in a project, in a worktree and in `/tmp`. A file that Autonoe writes
//! there is opened by these functions, or replaced by
//! [`replace_file_durably`](super::replace_file_durably).

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::Path;

use super::FileKind;
use super::path_identity::identity;

/// The maximum number of tries when other processes create and remove the file concurrently.
const TRIES: u32 = 100;

/// Opens the file at `path` for reading and appending, and creates it if it is missing.
///
/// A symlink at `path` is not followed, neither to an existing file nor to a missing one. Symlinks
/// in the folders above it are followed.
///
/// ```
/// use std::io::Write;
///
/// # let dir = tempfile::tempdir()?;
/// let path = dir.path().join("journal.jsonl");
/// autonoe_core::project::open_file_to_append(&path)?.write_all(b"{}\n")?;
///
/// assert_eq!(std::fs::read(&path)?, b"{}\n");
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
///
/// `path` is a symlink, a folder, a named pipe or a device, or the system refuses to open it.
pub fn open_file_to_append(path: &Path) -> io::Result<File> {
    open_or_create(path, OpenOptions::new().read(true).append(true))
}

/// Opens the file at `path` with `options`, which neither create nor truncate, or creates it with
/// them.
///
/// # Errors
///
/// As [`open_file_to_append`].
pub(super) fn open_or_create(path: &Path, options: &OpenOptions) -> io::Result<File> {
    for _ in 0..TRIES {
        let (opened, race) = match fs::symlink_metadata(path) {
            Ok(found) if found.is_file() => (open_same(path, options, &found), ErrorKind::NotFound),
            Ok(found) => return Err(wrong_kind_error(&found, "a file")),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                // `O_EXCL` does not follow a symlink that was created since.
                let created = options.clone().create_new(true).open(path);
                (created, ErrorKind::AlreadyExists)
            }
            Err(error) => return Err(error),
        };
        match opened {
            Err(error) if error.kind() == race => {}
            opened => return opened,
        }
    }
    Err(io::Error::other(
        "other processes create and remove it repeatedly",
    ))
}

/// Opens the file that was `found` at `path`; [`NotFound`](ErrorKind::NotFound) if it is another
/// one by now.
fn open_same(path: &Path, options: &OpenOptions, found: &Metadata) -> io::Result<File> {
    // Neither truncated nor created: the target of a new symlink stays unchanged.
    let file = options.open(path)?;
    if identity(&file.metadata()?) == identity(found) {
        Ok(file)
    } else {
        Err(ErrorKind::NotFound.into())
    }
}

/// Creates a file with `bytes` at `path`. Fails if anything is there, even a symlink.
///
/// A crash can leave a part of it; [`create_file_durably`](super::create_file_durably) does not.
///
/// ```
/// use std::io::ErrorKind;
///
/// # let dir = tempfile::tempdir()?;
/// let path = dir.path().join(".gitignore");
/// autonoe_core::project::write_new_file(&path, b"*\n")?;
///
/// let second = autonoe_core::project::write_new_file(&path, b"");
///
/// assert_eq!(second.unwrap_err().kind(), ErrorKind::AlreadyExists);
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
///
/// [`AlreadyExists`](ErrorKind::AlreadyExists), or the system refuses to write it.
pub fn write_new_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    file.write_all(bytes)
}

/// Creates the folder at `path` and its missing parents.
///
/// ```
/// # let dir = tempfile::tempdir()?;
/// let path = dir.path().join(".harness/shared");
/// autonoe_core::project::create_folder(&path)?;
/// autonoe_core::project::create_folder(&path)?;
///
/// assert!(path.is_dir());
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
///
/// `path` is a symlink, even to a folder, or a file, or the system refuses to create the folder.
/// Symlinks above it are followed.
pub fn create_folder(path: &Path) -> io::Result<()> {
    let created = match (fs::create_dir(path), path.parent()) {
        (Err(error), Some(above)) if error.kind() == ErrorKind::NotFound => {
            fs::create_dir_all(above)?;
            fs::create_dir(path)
        }
        (created, _) => created,
    };
    match created {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        created => return created,
    }
    let found = fs::symlink_metadata(path)?;
    if found.is_dir() {
        Ok(())
    } else {
        Err(wrong_kind_error(&found, "a folder"))
    }
}

/// Creates the folder at `path` as [`create_folder`] does, and denies other users access to it.
///
/// # Errors
///
/// As [`create_folder`]. On systems without the permissions of Unix, always
/// [`Unsupported`](ErrorKind::Unsupported), and nothing is created.
#[cfg(unix)]
pub fn create_private_folder(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;

    create_folder(path)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o700))
}

/// Fails on this system: access cannot be denied to other users without the permissions of Unix.
///
/// # Errors
///
/// Always [`Unsupported`](ErrorKind::Unsupported). Nothing is created.
#[cfg(not(unix))]
pub fn create_private_folder(path: &Path) -> io::Result<()> {
    Err(io::Error::new(
        ErrorKind::Unsupported,
        format!("cannot deny other users access to {path:?} on this system"),
    ))
}

/// Deletes the folder at `path` with its content, if it exists. Symlinks are deleted, not followed,
/// at `path` and below.
///
/// # Errors
///
/// The system refuses to delete something.
pub fn remove_folder(path: &Path) -> io::Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

fn wrong_kind_error(found: &Metadata, expected: &str) -> io::Error {
    let found = FileKind::from_file_type(found.file_type());
    io::Error::other(format!("it is {}", found.instead_of(expected)))
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;
    use std::path::PathBuf;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;

    use super::*;

    /// Creates a folder with a file `file`, and a link `link` to the path `to`.
    fn linked(to: &str) -> (tempfile::TempDir, PathBuf, PathBuf) {
        let dir = tempfile::tempdir().expect("a folder");
        let (file, link) = (dir.path().join("file"), dir.path().join("link"));
        fs::write(&file, "content").expect("writable");
        symlink(dir.path().join(to), &link).expect("writable");
        (dir, file, link)
    }

    #[test]
    fn a_link_to_a_file_to_a_folder_or_to_nothing_is_refused() {
        for to in ["file", ".", "missing"] {
            let (dir, file, link) = linked(to);

            let opened = open_file_to_append(&link);
            let new = write_new_file(&link, b"new");
            let folder = create_folder(&link);

            let error = opened.expect_err("a link").to_string();
            assert_eq!(error, "it is a symlink and not a file", "{to}");
            assert_eq!(new.expect_err("a link").kind(), ErrorKind::AlreadyExists);
            let error = folder.expect_err("a link").to_string();
            assert_eq!(error, "it is a symlink and not a folder", "{to}");
            assert_eq!(fs::read(file).expect("there"), b"content");
            assert_eq!(fs::read_dir(dir.path()).expect("there").count(), 2, "{to}");
        }
    }

    #[test]
    fn a_folder_is_removed_without_the_targets_of_its_links() {
        let (dir, file, link) = linked("outside");
        let outside = dir.path().join("outside");
        let folder = dir.path().join("folder/below");
        fs::create_dir_all(&outside).expect("writable");
        fs::create_dir_all(&folder).expect("writable");
        symlink(&outside, folder.join("link")).expect("writable");
        fs::write(outside.join("file"), "content").expect("writable");

        for path in [&folder, &folder, &link] {
            remove_folder(path).expect("ours");
        }

        assert!(!folder.exists() && fs::symlink_metadata(&link).is_err());
        assert_eq!(fs::read(outside.join("file")).expect("there"), b"content");
        assert!(remove_folder(&file).is_err(), "a file is not a folder");
        assert_eq!(fs::read(file).expect("there"), b"content");
    }

    #[test]
    fn a_pipe_and_a_folder_are_refused_without_waiting() {
        let dir = tempfile::tempdir().expect("a folder");
        let pipe = dir.path().join("pipe");
        let status = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(status.expect("it is installed").success());

        assert!(open_file_to_append(&pipe).is_err());
        assert!(open_file_to_append(dir.path()).is_err());
        let nowhere = open_file_to_append(&dir.path().join("missing/file"));
        assert_eq!(nowhere.expect_err("no folder").kind(), ErrorKind::NotFound);
    }

    #[test]
    fn appends_to_existing_file() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("log");
        fs::write(&path, "one\n").expect("writable");

        let mut file = open_file_to_append(&path).expect("a file");
        file.write_all(b"two\n").expect("writable");

        assert_eq!(fs::read(&path).expect("there"), b"one\ntwo\n");
    }

    #[test]
    fn a_file_that_is_replaced_by_a_link_meanwhile_is_never_written_through() {
        let dir = tempfile::tempdir().expect("a folder");
        let (target, path) = (dir.path().join("target"), dir.path().join("path"));
        fs::write(&target, "").expect("writable");
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    let _ = fs::remove_file(&path);
                    let _ = symlink(&target, &path);
                    let _ = fs::remove_file(&path);
                    let _ = fs::write(&path, "");
                }
            });
            let mut written = 0;
            while written < 100 {
                if let Ok(mut file) = open_file_to_append(&path) {
                    file.write_all(b"x").expect("writable");
                    written += 1;
                }
            }
            is_over.store(true, Ordering::Relaxed);
        });

        assert_eq!(fs::read(&target).expect("there"), b"");
    }
}
