//! [`LogWriters`], the writers of an [`AppendLog`](super::AppendLog) and the lock between them.

use std::fs::{File, TryLockError};
use std::io;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The writers of an [`AppendLog`](super::AppendLog).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogWriters {
    /// One handle. A file that anything else changed gets no more lines.
    One,
    /// Several handles, also in several processes. Each append holds the lock of the file and
    /// removes a torn line of a killed writer first.
    Several,
    /// Several handles that must not wait long for each other: after this time, an append writes
    /// without the lock. It removes nothing, because another writer may be in the middle of a line:
    /// a torn line gets a line end and stays in the file.
    SeveralWithin(Duration),
}

impl LogWriters {
    /// Locks `file` against the other writers.
    pub(super) fn lock(self, file: &File) -> io::Result<LogLock<'_>> {
        let is_locked = match self {
            Self::One => false,
            Self::Several => {
                file.lock()?;
                true
            }
            Self::SeveralWithin(limit) => lock_within(file, limit)?,
        };
        Ok(LogLock(is_locked.then_some(file)))
    }
}

/// The lock of a file, until it is dropped. The system releases it when the process ends.
#[derive(Debug)]
pub(super) struct LogLock<'a>(Option<&'a File>);

impl Drop for LogLock<'_> {
    fn drop(&mut self) {
        if let Some(Err(error)) = self.0.map(File::unlock) {
            tracing::warn!(%error, "cannot unlock a log");
        }
    }
}

/// Returns whether the file could be locked within `limit`. A suspended process may hold the lock
/// for ever.
fn lock_within(file: &File, limit: Duration) -> io::Result<bool> {
    const POLL_INTERVAL: Duration = Duration::from_millis(1);
    let started = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(true),
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) if started.elapsed() < limit => sleep(POLL_INTERVAL),
            Err(TryLockError::WouldBlock) => {
                tracing::warn!("another process keeps a log locked; writing without the lock");
                return Ok(false);
            }
        }
    }
}
