//! Atomic writes of whole files.

use std::ffi::OsString;
use std::fs::File;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

use autonoe_core::ToolError;
use rustix::fs::{
    AtFlags, Gid, Mode, OFlags, Stat, Uid, fchmod, fchown, fsync, openat, renameat, unlinkat,
};
use rustix::io::Errno;

use super::Entry;
use super::open::{refuse_irregular, same_file};
use crate::tools::failure::{denied, invalid, system};

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
