//! Writing a file as a whole.

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

/// How often another name is tried for the file that is written first.
const TRIES: usize = 100;

/// What must be there for a file to be written.
#[derive(Debug)]
pub(in crate::tools) enum Expected {
    /// A regular file or nothing.
    Anything,
    /// What was read before, unchanged.
    Unchanged(Stat),
}

impl Entry {
    /// Writes `content` to the file, all of it or nothing, and keeps its permissions.
    ///
    /// Whoever reads it meanwhile sees the old content or the new one. Should it have other
    /// names, those keep the old content. Returns whether it was there before.
    pub(in crate::tools) fn put(
        &self,
        content: &[u8],
        expected: &Expected,
    ) -> Result<bool, ToolError> {
        let before = self.look(expected)?;
        let failed = |error: std::io::Error| system(format!("{:?}", self.path), error);
        let (file, temporary) = self.temporary(before.as_ref())?;
        let written = fill(file, content, before.as_ref())
            .map_err(failed)
            // Somebody may have written to it since.
            .and_then(|()| self.look(expected))
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

    fn look(&self, expected: &Expected) -> Result<Option<Stat>, ToolError> {
        let now = self.stat()?;
        if let Some(now) = &now {
            refuse_irregular(now, &self.path)?;
            if now.st_mode & 0o222 == 0 {
                let path = &self.path;
                return Err(denied(format!("{path:?} is a read-only file")));
            }
        }
        match (expected, &now) {
            (Expected::Anything, _) => Ok(now),
            (Expected::Unchanged(then), Some(now)) if is_unchanged(then, now) => Ok(Some(*now)),
            (Expected::Unchanged(_), _) => Err(invalid(format!(
                "{:?} was changed meanwhile; read it again",
                self.path
            ))),
        }
    }

    /// Makes a file beside the one that is to be written.
    fn temporary(&self, before: Option<&Stat>) -> Result<(OwnedFd, OsString), ToolError> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        // A new file gets what the system grants new files; nobody looks into an old one's.
        let mode = Mode::from_raw_mode(if before.is_some() { 0o600 } else { 0o666 });
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut last = Errno::EXIST;
        for _ in 0..TRIES {
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

    /// Has the system remember the new name, where it can.
    fn sync_directory(&self) {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let synced = openat(&self.parent, ".", flags, Mode::empty()).and_then(fsync);
        if let Err(error) = synced {
            tracing::debug!(%error, "a directory cannot be synced");
        }
    }
}

fn fill(file: OwnedFd, content: &[u8], before: Option<&Stat>) -> std::io::Result<()> {
    let mut file = File::from(file);
    file.write_all(content)?;
    if let Some(before) = before {
        let (user, group) = (Uid::from_raw(before.st_uid), Gid::from_raw(before.st_gid));
        // Who may not give files away keeps it: it was writable, which is what counts.
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
