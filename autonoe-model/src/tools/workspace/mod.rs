//! [`ToolWorkspace`]: working directory of an agent that no path can escape.

mod atomic_write;
mod locate;
mod open;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::fs::{CWD, Mode, OFlags, openat};

pub(super) use atomic_write::ExpectedFile;
pub(super) use locate::{Entry, Located, Purpose};
pub(super) use open::{kind_of, open_directory, open_regular};

/// Working directory of an agent that no path can escape.
///
/// Paths are resolved component by component from an open directory. `..`, links, and a directory
/// that is concurrently replaced by a link therefore cannot lead outside. Links that stay inside
/// are followed. Relative paths start at the root of the workspace.
///
/// Entries of the root can be hidden from the tools, or read-only. Writes are serialized, so
/// concurrent edits do not lose changes.
///
/// ```
/// use autonoe_model::tools::ToolWorkspace;
///
/// # let folder = tempfile::tempdir()?;
/// let workspace = ToolWorkspace::open(folder.path())?.hidden(".env").read_only(".autonoe");
///
/// assert!(workspace.root().is_absolute());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ToolWorkspace {
    root: PathBuf,
    /// Other paths of the root that an agent may use: the path given by the caller, and symlinks.
    aliases: Vec<PathBuf>,
    directory: OwnedFd,
    hidden: BTreeSet<OsString>,
    read_only: BTreeSet<OsString>,
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
    pub fn open(root: impl AsRef<Path>) -> Result<Self, WorkspaceError> {
        let given = root.as_ref().to_owned();
        let refused = |source| WorkspaceError {
            path: given.clone(),
            source,
        };
        if !given.is_absolute() {
            return Err(refused(io::ErrorKind::InvalidInput.into()));
        }
        let root = given.canonicalize().map_err(refused)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let directory = openat(CWD, &root, flags, Mode::empty());
        let directory = directory.map_err(|error| refused(error.into()))?;
        Ok(Self {
            root,
            directory,
            aliases: vec![given],
            hidden: BTreeSet::new(),
            read_only: BTreeSet::new(),
            writing: Mutex::new(()),
        })
    }

    /// Adds a symlink to the root. Paths through it count as paths of the root.
    ///
    /// The link itself is never followed.
    #[must_use]
    pub fn alias(mut self, link: impl Into<PathBuf>) -> Self {
        self.aliases.push(link.into());
        self
    }

    /// Hides the entry `name` of the root, even if it is created later.
    #[must_use]
    pub fn hidden(mut self, name: impl Into<OsString>) -> Self {
        self.hidden.insert(name.into());
        self
    }

    /// Makes the entry `name` of the root, including its content, read-only.
    #[must_use]
    pub fn read_only(mut self, name: impl Into<OsString>) -> Self {
        self.read_only.insert(name.into());
        self
    }

    /// Returns the root: absolute and without links.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the hidden entries of the root.
    pub(super) fn hidden_names(&self) -> &BTreeSet<OsString> {
        &self.hidden
    }

    /// Returns the read-only entries of the root.
    pub(super) fn read_only_names(&self) -> &BTreeSet<OsString> {
        &self.read_only
    }

    /// Acquires the lock for writes.
    pub(super) fn lock_writes(&self) -> MutexGuard<'_, ()> {
        self.writing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
