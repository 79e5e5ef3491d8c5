//! File lock that processes take in turn, with detection of stalled holders.

use std::fs::{self, File, TryLockError};
use std::io::{Seek, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use autonoe_core::project::open_file_to_append;

use super::IsolationError;

/// Poll interval.
const PAUSE: Duration = Duration::from_millis(10);

/// Waits for the lock at `path`, and acquires it.
///
/// The holder writes its process ID into the file. The wait continues as long as the holder
/// changes.
///
/// # Errors
///
/// [`IsolationError::Stalled`] if one process holds the lock for longer than `lock_timeout`, and the
/// error of `check_wanted` once it returns one.
pub async fn acquire(
    path: &Path,
    lock_timeout: Duration,
    check_wanted: impl Fn() -> Result<(), IsolationError>,
) -> Result<File, IsolationError> {
    let (mut holder, mut since) = (String::new(), Instant::now());
    let mut file = open(path)?;
    loop {
        match file.try_lock() {
            Ok(()) if is_at(&file, path) => {
                record_holder(&mut file).map_err(IsolationError::io(path))?;
                return Ok(file);
            }
            // The file was removed in the meantime, and a lock on a removed file protects nothing.
            Ok(()) => {
                file = open(path)?;
                continue;
            }
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(error)) => return Err(IsolationError::io(path)(error)),
        }
        check_wanted()?;
        let now = fs::read_to_string(path).unwrap_or_default();
        if now != holder {
            (holder, since) = (now, Instant::now());
        } else if since.elapsed() > lock_timeout {
            return Err(IsolationError::Stalled {
                file: path.to_owned(),
                holder: holder.split(' ').next().unwrap_or_default().to_owned(),
            });
        }
        tokio::time::sleep(PAUSE).await;
    }
}

fn open(path: &Path) -> Result<File, IsolationError> {
    open_file_to_append(path).map_err(IsolationError::io(path))
}

fn is_at(file: &File, path: &Path) -> bool {
    let same = || -> std::io::Result<bool> {
        let (here, there) = (file.metadata()?, fs::metadata(path)?);
        Ok((here.dev(), here.ino()) == (there.dev(), there.ino()))
    };
    same().unwrap_or(false)
}

/// Records the current holder.
fn record_holder(file: &mut File) -> std::io::Result<()> {
    static TURNS: AtomicU64 = AtomicU64::new(0);
    let turn = TURNS.fetch_add(1, Ordering::Relaxed);
    file.set_len(0)?;
    file.rewind()?;
    file.write_all(format!("{} {turn}\n", std::process::id()).as_bytes())
}

/// A held lock whose file is removed on drop.
#[derive(Debug)]
pub(super) struct QueueLock {
    pub(super) path: PathBuf,
    pub(super) _lock: File,
}

impl Drop for QueueLock {
    fn drop(&mut self) {
        // While it is still held: waiting processes check that their file is the one at this path.
        let _ = fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_symlink_in_place_of_the_lock_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let (path, target) = (folder.path().join("lock"), folder.path().join("target"));
        fs::write(&target, "mine").expect("writable");
        std::os::unix::fs::symlink(&target, &path).expect("writable");

        let acquired = acquire(&path, Duration::from_secs(60), || Ok(())).await;

        assert!(acquired.is_err());
        assert_eq!(fs::read(&target).expect("it is there"), b"mine");
    }
}
