//! [`RunLock`], the lock that allows one run at a time in a project.

use std::fs::{self, File, TryLockError};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use jiff::Timestamp;

use super::{FileKind, Project, ProjectError, RunLockHeld, RunLockHolder, open_file_to_append};

/// The right to run agents in a project, until it is dropped.
///
/// It is an advisory lock of the operating system on `.autonoe/run.lock`, so it cannot be stale:
/// the system releases it when the last process that holds it has exited. Agents' processes inherit
/// the [descriptor](Self::descriptor). After a kill of this process the lock stays held as long as
/// one of them is alive, so that two agents never share a directory. An orderly end releases it
/// immediately, whatever processes they have left running.
///
/// ```
/// use autonoe_core::project::{ProjectError, RunLock};
/// use autonoe_core::Project;
/// use jiff::Timestamp;
///
/// # let dir = tempfile::tempdir()?;
/// let project = Project::find(dir.path(), None)?;
/// let lock = RunLock::acquire(&project, Timestamp::now())?;
///
/// let second = RunLock::acquire(&project, Timestamp::now());
/// let Err(ProjectError::Locked(held)) = second else { panic!("it is taken") };
/// assert_eq!(held.holder.map(|holder| holder.pid), Some(std::process::id()));
///
/// drop(lock);
/// assert!(RunLock::acquire(&project, Timestamp::now()).is_ok());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct RunLock {
    file: Arc<File>,
    on_drop: OnDrop,
    is_released: Arc<AtomicBool>,
}

/// The effect of dropping the lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OnDrop {
    /// The lock is released.
    Free,
    /// The lock is released when the last process that inherited it has exited.
    LeaveToAgents,
}

impl RunLock {
    /// Acquires the lock of `project`, or returns its holder.
    ///
    /// # Errors
    ///
    /// Another run holds it, or the lock file cannot be written.
    pub fn acquire(project: &Project, now: Timestamp) -> Result<Self, ProjectError> {
        project.ensure_state_dir()?;
        let path = project.run_lock_path();
        let unwritable = |source| ProjectError::unwritable(&path, source);
        let mut file = open_file_to_append(&path).map_err(unwritable)?;
        match try_lock(&file) {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(ProjectError::Locked(RunLockHeld::new(path, &mut file)));
            }
            Err(TryLockError::Error(source)) => return Err(unwritable(source)),
        }
        let own = RunLockHolder {
            pid: std::process::id(),
            started_at: now,
        };
        own.write(&mut file).map_err(unwritable)?;
        Ok(Self {
            file: Arc::new(file),
            on_drop: OnDrop::Free,
            is_released: Arc::default(),
        })
    }

    /// Returns the holder of the lock of `project`, if it is held, without acquiring it.
    ///
    /// The result is only valid for the moment of the check. Nothing is written.
    ///
    /// ```
    /// use autonoe_core::project::RunLock;
    /// use autonoe_core::Project;
    /// use jiff::Timestamp;
    ///
    /// # let dir = tempfile::tempdir()?;
    /// let project = Project::find(dir.path(), None)?;
    /// assert!(RunLock::held(&project)?.is_none());
    ///
    /// let lock = RunLock::acquire(&project, Timestamp::now())?;
    /// assert!(RunLock::held(&project)?.is_some());
    /// # drop(lock);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The lock file exists but cannot be read.
    pub fn held(project: &Project) -> Result<Option<RunLockHeld>, ProjectError> {
        let held = Self::open_held(project)?;
        Ok(held.map(|mut file| RunLockHeld::new(project.run_lock_path(), &mut file)))
    }

    /// Returns whether the lock of `project` is held, without searching for its holders: cheap
    /// enough to poll.
    ///
    /// # Errors
    ///
    /// The lock file exists but cannot be read.
    pub fn is_held(project: &Project) -> Result<bool, ProjectError> {
        Ok(Self::open_held(project)?.is_some())
    }

    /// Opens the lock file of `project` if the lock is held.
    fn open_held(project: &Project) -> Result<Option<File>, ProjectError> {
        let path = project.run_lock_path();
        let unreadable = |source| ProjectError::unreadable(&path, source);
        // Checked before opening, because opening a pipe blocks until it has a writer.
        match fs::symlink_metadata(&path) {
            Ok(found) if found.is_file() => {}
            Ok(found) => {
                let found = FileKind::from_file_type(found.file_type());
                return Err(ProjectError::NotAFile { path, found });
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(unreadable(source)),
        }
        let file = File::open(&path).map_err(unreadable)?;
        if file.metadata().map_err(unreadable)?.len() == 0 {
            // A holder has recorded itself in the file; an orderly end removes that record.
            return Ok(None);
        }
        // Shared, so that concurrent checks do not take each other for a run.
        match file.try_lock_shared() {
            Ok(()) => Ok(None),
            Err(TryLockError::WouldBlock) => Ok(Some(file)),
            Err(TryLockError::Error(source)) => Err(unreadable(source)),
        }
    }

    /// Returns the descriptor that agents' processes inherit.
    pub fn descriptor(&self) -> Arc<File> {
        self.file.clone()
    }

    /// Returns a flag that is set when this lock is dropped, before another run can acquire it.
    pub(super) fn released_flag(&self) -> Arc<AtomicBool> {
        self.is_released.clone()
    }

    /// Leaves the lock to the agents' processes from now on, as a kill does: when this is dropped,
    /// they may still be shutting down.
    pub(super) fn leave_to_agents(&mut self) {
        self.on_drop = OnDrop::LeaveToAgents;
    }

    /// Releases the lock when this is dropped, which is the initial behaviour.
    pub(super) fn release_on_drop(&mut self) {
        self.on_drop = OnDrop::Free;
    }
}

impl Drop for RunLock {
    fn drop(&mut self) {
        // Also if the agents' processes keep the lock: the run that acquired it is over.
        self.is_released.store(true, Ordering::Release);
        if self.on_drop == OnDrop::LeaveToAgents {
            return;
        }
        // The next holder must not be taken for this run before it has recorded itself.
        let forgotten = self.file.set_len(0);
        // Not by closing alone: processes that inherited the descriptor would keep the lock.
        let released = self.file.unlock();
        if let Err(error) = released.and(forgotten) {
            tracing::warn!(%error, "the run lock could not be released");
        }
    }
}

/// Acquires the lock unless a run holds it.
///
/// A run holds the lock exclusively. [`RunLock::held`] holds it shared and only for a moment, so
/// this waits until all callers of that function have released it.
fn try_lock(file: &File) -> Result<(), TryLockError> {
    const PAUSE: Duration = Duration::from_millis(2);
    /// The number of tries while a run holds the lock: that run may be about to end.
    const TRIES: u32 = 20;
    /// The maximum time of tries while only callers of `held` hold the lock.
    const LIMIT: Duration = Duration::from_secs(10);
    let deadline = Instant::now() + LIMIT;
    let mut refusals = 0;
    loop {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => {}
            done => return done,
        }
        match file.try_lock_shared() {
            Ok(()) => file.unlock().map_err(TryLockError::Error)?,
            Err(TryLockError::WouldBlock) => refusals += 1,
            Err(error) => return Err(error),
        }
        if refusals == TRIES || Instant::now() >= deadline {
            return Err(TryLockError::WouldBlock);
        }
        std::thread::sleep(PAUSE);
    }
}
