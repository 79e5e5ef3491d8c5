//! The directory that an agent works in, and that no path leads out of.

mod locate;
mod open;
mod put;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::fs::{CWD, Mode, OFlags, openat};

pub(super) use locate::{Entry, Located, Purpose};
pub(super) use open::{kind_of, open_directory, open_regular};
pub(super) use put::Expected;

/// The directory that an agent works in, and that no path leads out of.
///
/// Paths are followed component by component from an open directory, so that `..`, links,
/// and somebody who changes a directory into a link meanwhile lead nowhere else. Links that
/// stay inside are followed. Relative paths start at the root of the workspace.
///
/// Entries of the root can be hidden, so that the tools see nothing of them, or read-only.
/// Writers take turns: two edits at once do not lose one another.
///
/// ```
/// use autonoe_model::Workspace;
///
/// # let folder = tempfile::tempdir()?;
/// let workspace = Workspace::open(folder.path())?.hidden(".env").read_only(".autonoe");
///
/// assert!(workspace.root().is_absolute());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Workspace {
    root: PathBuf,
    /// Other paths of the root that an agent may use: the path of the caller, and symlinks.
    aliases: Vec<PathBuf>,
    directory: OwnedFd,
    hidden: BTreeSet<OsString>,
    read_only: BTreeSet<OsString>,
    writing: Mutex<()>,
}

/// A directory that cannot be worked in.
#[derive(Debug, thiserror::Error)]
#[error("{path:?} is not a directory that one can work in")]
pub struct WorkspaceError {
    /// The directory.
    path: PathBuf,
    /// What the system says.
    source: io::Error,
}

impl Workspace {
    /// Opens the directory `root`, which must be an absolute path.
    ///
    /// # Errors
    ///
    /// It is not there, is no directory, or its path is not absolute.
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

    /// Hides the entry `name` of the root, now and when it comes to be.
    #[must_use]
    pub fn hidden(mut self, name: impl Into<OsString>) -> Self {
        self.hidden.insert(name.into());
        self
    }

    /// Keeps the entry `name` of the root, and all in it, from being written.
    #[must_use]
    pub fn read_only(mut self, name: impl Into<OsString>) -> Self {
        self.read_only.insert(name.into());
        self
    }

    /// Returns the root: absolute and without links.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the entries of the root that are not seen.
    pub(super) fn hidden_names(&self) -> &BTreeSet<OsString> {
        &self.hidden
    }

    /// Returns the entries of the root that are not written.
    pub(super) fn read_only_names(&self) -> &BTreeSet<OsString> {
        &self.read_only
    }

    /// Waits for the turn to write.
    pub(super) fn writing(&self) -> MutexGuard<'_, ()> {
        self.writing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
