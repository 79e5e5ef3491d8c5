//! [`ToolWorkspace`]: working directory of an agent that no path can escape; safe opening and atomic writes of its files.

mod locate;

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use autonoe_core::ToolError;
use rustix::fs::{
    AtFlags, CWD, FileType, Gid, Mode, OFlags, Stat, Uid, fchmod, fchown, fstat, fsync, openat,
    renameat, statat, unlinkat,
};
use rustix::io::Errno;

use crate::tools::file_tool::{denied, invalid, not_found, system};

pub(super) use locate::{Entry, Located, Purpose};

/// Working directory of an agent that no path can escape.
///
/// Paths are resolved component by component from an open directory. `..`, links, and a directory
/// that is concurrently replaced by a link therefore cannot lead outside. Links that stay inside
/// are followed. Relative paths start at the root of the workspace.
///
/// Entries of the root can be hidden from the tools, or read-only. Writes are serialized, so
/// concurrent edits do not lose changes.
#[derive(Debug)]
pub(super) struct ToolWorkspace {
    root: PathBuf,
    /// Other paths of the root that an agent may use: the path given by the caller, and symlinks to
    /// the root. The links themselves are never followed.
    pub(super) aliases: Vec<PathBuf>,
    directory: OwnedFd,
    /// Hidden entries of the root, even if they are created later.
    pub(super) hidden: BTreeSet<OsString>,
    /// Entries of the root that are read-only, including their content.
    pub(super) read_only: BTreeSet<OsString>,
    writing: Mutex<()>,
}

/// A directory that cannot be used as a workspace.
#[derive(Debug, thiserror::Error)]
#[error("{path:?} is not a directory that can be a workspace")]
pub struct WorkspaceError {
    /// Path of the directory.
    path: PathBuf,
    /// Error of the system.
    source: io::Error,
}

impl ToolWorkspace {
    /// Opens the directory `root`, which must be an absolute path.
    ///
    /// # Errors
    ///
    /// The path does not exist, is not a directory, or is not absolute.
    pub(super) fn open(root: &Path) -> Result<Self, WorkspaceError> {
        let path = root.to_owned();
        let refused = |source| WorkspaceError {
            path: path.clone(),
            source,
        };
        if !path.is_absolute() {
            return Err(refused(io::ErrorKind::InvalidInput.into()));
        }
        let root = path.canonicalize().map_err(refused)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let directory =
            openat(CWD, &root, flags, Mode::empty()).map_err(|error| refused(error.into()))?;
        Ok(Self {
            root,
            directory,
            aliases: vec![path],
            hidden: BTreeSet::new(),
            read_only: BTreeSet::new(),
            writing: Mutex::new(()),
        })
    }

    /// Returns the root: absolute and without links.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Acquires the lock for writes.
    pub(super) fn lock_writes(&self) -> MutexGuard<'_, ()> {
        self.writing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Opens the regular file `name` in `parent` for reading.
///
/// A FIFO would block the reader until a writer comes, and opening a device may have effects. Both
/// are rejected before they are opened, and opening never blocks if one appears meanwhile.
pub(in crate::tools) fn open_regular(
    parent: BorrowedFd<'_>,
    name: &OsStr,
    path: &Path,
) -> Result<(File, Stat), ToolError> {
    let failed = |error| match error {
        Errno::NOENT => not_found(format!("there is no {path:?}")),
        Errno::LOOP => changed(path),
        error => system(format!("{path:?}"), error),
    };
    let before = statat(parent, name, AtFlags::SYMLINK_NOFOLLOW).map_err(failed)?;
    refuse_irregular(&before, path)?;
    let flags =
        OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = openat(parent, name, flags, Mode::empty()).map_err(failed)?;
    let opened = fstat(&file).map_err(failed)?;
    if same_file(&before, &opened) {
        Ok((File::from(file), opened))
    } else {
        Err(changed(path))
    }
}

fn changed(path: &Path) -> ToolError {
    invalid(format!(
        "{path:?} was changed in the meantime; read it again"
    ))
}

pub(in crate::tools) fn refuse_irregular(stat: &Stat, path: &Path) -> Result<(), ToolError> {
    let is = match kind_of(stat) {
        FileType::RegularFile => return Ok(()),
        FileType::Directory => "a directory",
        FileType::Symlink => return Err(changed(path)),
        FileType::Fifo => "a FIFO",
        FileType::Socket => "a socket",
        FileType::CharacterDevice | FileType::BlockDevice => "a device",
        FileType::Unknown => "of an unknown kind",
    };
    Err(invalid(format!("{path:?} is {is}, not a regular file")))
}

pub(in crate::tools) fn kind_of(stat: &Stat) -> FileType {
    FileType::from_raw_mode(stat.st_mode)
}

/// Returns whether both belong to the same file.
pub(in crate::tools) fn same_file(one: &Stat, other: &Stat) -> bool {
    (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino) && kind_of(one) == kind_of(other)
}

/// Opens the directory `name` in `parent`, for listing it and opening its entries.
pub(in crate::tools) fn open_directory(
    parent: BorrowedFd<'_>,
    name: &OsStr,
) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(parent, name, flags, Mode::empty())
}

impl Entry {
    /// Opens the file for reading.
    pub(in crate::tools) fn open(&self) -> Result<(File, Stat), ToolError> {
        use std::os::fd::AsFd;
        open_regular(self.parent.as_fd(), &self.name, &self.path)
    }

    /// Returns the current metadata; `None` if nothing exists.
    pub(in crate::tools) fn stat(&self) -> Result<Option<Stat>, ToolError> {
        match statat(&self.parent, &self.name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(stat)),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(system(format!("{:?}", self.path), error)),
        }
    }
}

impl ToolWorkspace {
    /// Opens the directory `located`.
    pub(in crate::tools) fn directory_at(&self, located: &Located) -> Result<OwnedFd, ToolError> {
        use std::os::fd::AsFd;
        let opened = match located {
            Located::Root => open_directory(self.directory.as_fd(), OsStr::new(".")),
            Located::Entry(entry) => open_directory(entry.parent.as_fd(), &entry.name),
        };
        let path = located.path();
        opened.map_err(|error| match error {
            Errno::NOENT => not_found(format!("there is no {path:?}")),
            error => system(format!("{path:?}"), error),
        })
    }
}

/// Maximum number of attempts to find an unused name for the temporary file.
const MAX_ATTEMPTS: usize = 100;

/// Required state of a file before it is written.
#[derive(Debug)]
pub(in crate::tools) enum ExpectedFile {
    /// A regular file or nothing.
    Anything,
    /// The file that was read before, unchanged.
    Unchanged(Stat),
}

impl Entry {
    /// Writes `content` to the file atomically, and keeps its permissions.
    ///
    /// Concurrent readers see either the old content or the new one. Other hard links of the file
    /// keep the old content. Returns whether the file existed before.
    pub(in crate::tools) fn write_atomic(
        &self,
        content: &[u8],
        expected: &ExpectedFile,
    ) -> Result<bool, ToolError> {
        let before = self.check_unchanged(expected)?;
        let failed = |error: std::io::Error| system(format!("{:?}", self.path), error);
        let (file, temporary) = self.temporary(before.as_ref())?;
        let written = write_content(file, content, before.as_ref())
            .map_err(failed)
            // Another process may have written to the file meanwhile.
            .and_then(|()| self.check_unchanged(expected))
            .and_then(|_| {
                renameat(&self.parent, &temporary, &self.parent, &self.name)
                    .map_err(|error| failed(error.into()))
            });
        if let Err(error) = written {
            let _ = unlinkat(&self.parent, &temporary, AtFlags::empty());
            return Err(error);
        }
        self.sync_directory();
        Ok(before.is_some())
    }

    fn check_unchanged(&self, expected: &ExpectedFile) -> Result<Option<Stat>, ToolError> {
        let now = self.stat()?;
        if let Some(now) = &now {
            refuse_irregular(now, &self.path)?;
            if now.st_mode & 0o222 == 0 {
                let path = &self.path;
                return Err(denied(format!("{path:?} is a read-only file")));
            }
        }
        match (expected, &now) {
            (ExpectedFile::Anything, _) => Ok(now),
            (ExpectedFile::Unchanged(then), Some(now)) if is_unchanged(then, now) => Ok(Some(*now)),
            (ExpectedFile::Unchanged(_), _) => Err(invalid(format!(
                "{:?} was changed in the meantime; read it again",
                self.path
            ))),
        }
    }

    /// Creates a temporary file beside the target.
    fn temporary(&self, before: Option<&Stat>) -> Result<(OwnedFd, OsString), ToolError> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        // A new file gets the default permissions. The temporary copy of an existing file stays
        // private until its permissions are copied.
        let mode = Mode::from_raw_mode(if before.is_some() { 0o600 } else { 0o666 });
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut last = Errno::EXIST;
        for _ in 0..MAX_ATTEMPTS {
            let number = COUNT.fetch_add(1, Ordering::Relaxed);
            let name = OsString::from(format!(".autonoe-{}-{number}.tmp", process::id()));
            match openat(&self.parent, &name, flags, mode) {
                Ok(file) => return Ok((file, name)),
                Err(Errno::EXIST) => {}
                Err(error) => {
                    last = error;
                    break;
                }
            }
        }
        Err(system(format!("{:?}", self.path), last))
    }

    /// Syncs the directory, so that the new name is durable where the system supports it.
    fn sync_directory(&self) {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let synced = openat(&self.parent, ".", flags, Mode::empty()).and_then(fsync);
        if let Err(error) = synced {
            tracing::debug!(%error, "a directory cannot be synced");
        }
    }
}

fn write_content(file: OwnedFd, content: &[u8], before: Option<&Stat>) -> std::io::Result<()> {
    let mut file = File::from(file);
    file.write_all(content)?;
    if let Some(before) = before {
        let (user, group) = (Uid::from_raw(before.st_uid), Gid::from_raw(before.st_gid));
        // Only privileged users may change the owner. Without a change the file stays with the
        // current user, which is acceptable because the file was writable.
        let _ = fchown(&file, Some(user), Some(group));
        fchmod(&file, Mode::from_raw_mode(before.st_mode & 0o7777))?;
    }
    file.sync_all()
}

fn is_unchanged(then: &Stat, now: &Stat) -> bool {
    let times = |stat: &Stat| {
        (
            (stat.st_mtime, stat.st_mtime_nsec),
            (stat.st_ctime, stat.st_ctime_nsec),
        )
    };
    same_file(then, now) && then.st_size == now.st_size && times(then) == times(now)
}
