//! [`RunLockHeld`], the run that acquired a run lock and the processes that hold it.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::path_identity::{Identity, identity};
use crate::time::format_time;

/// The run lock of a project is held.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunLockHeld {
    /// The lock file.
    pub path: PathBuf,
    /// The process that acquired it; `None` until that process has recorded itself.
    pub holder: Option<RunLockHolder>,
    /// The processes that hold it now; `None` if the system does not report them. Processes of
    /// other users are never among them.
    pub processes: Option<Vec<LockProcess>>,
}

/// The process that acquired the run lock, as recorded in the lock file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunLockHolder {
    /// The process that runs the agents. It may be dead while its agents are still alive.
    pub pid: u32,
    /// The time of its start.
    pub started_at: Timestamp,
}

impl RunLockHeld {
    pub(super) fn new(path: PathBuf, file: &mut File) -> Self {
        Self {
            path,
            holder: RunLockHolder::read(file),
            processes: LockProcess::holding(file),
        }
    }

    /// Returns the processes that a killed run left behind and that still hold the lock. Empty if
    /// the run itself is alive, or if the holders are unknown.
    pub fn survivors(&self) -> &[LockProcess] {
        let holding = self.processes.as_deref().unwrap_or_default();
        match &self.holder {
            Some(holder) if holding.iter().all(|process| process.pid != holder.pid) => holding,
            _ => &[],
        }
    }
}

impl fmt::Display for RunLockHeld {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = &self.path;
        let listed = |processes: &[LockProcess]| {
            let names: Vec<String> = processes.iter().map(ToString::to_string).collect();
            names.join(", ")
        };
        match (&self.holder, self.processes.as_deref()) {
            (Some(run), Some([_, ..])) if self.survivors().is_empty() => {
                write!(
                    f,
                    "{path:?} is held by another run: {run}; wait for it or stop it"
                )
            }
            (Some(run), Some(survivors @ [_, ..])) => write!(
                f,
                "{path:?} is held by {}, which a killed run left behind ({run}); wait for it to \
                 exit or kill it",
                listed(survivors)
            ),
            (Some(run), Some([])) => write!(
                f,
                "{path:?} is held by another run, or by an agent of a killed run. The lock was \
                 acquired by {run}. The process that holds it now cannot be found: it belongs to \
                 another user, or has just exited"
            ),
            (Some(run), None) => write!(
                f,
                "{path:?} is held by another run, or by an agent of a killed run. The lock was \
                 acquired by {run}. This system does not report which process holds it now"
            ),
            (None, Some(holding @ [_, ..])) => write!(
                f,
                "{path:?} is held by {}; wait for it or stop it",
                listed(holding)
            ),
            (None, Some([]) | None) => {
                write!(
                    f,
                    "{path:?} is held by an unknown process; wait for it or stop it"
                )
            }
        }
    }
}

impl fmt::Display for RunLockHolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { pid, started_at } = self;
        write!(f, "process {pid}, since {}", format_time(*started_at))
    }
}

impl std::error::Error for RunLockHeld {}

impl RunLockHolder {
    /// Reads the recorded holder of the lock. It may not have recorded itself yet.
    fn read(file: &mut File) -> Option<Self> {
        let mut text = String::new();
        file.read_to_string(&mut text).ok()?;
        serde_json::from_str(&text).ok()
    }

    pub(super) fn write(&self, file: &mut File) -> io::Result<()> {
        let mut text = serde_json::to_vec(self)?;
        text.push(b'\n');
        file.set_len(0)?;
        file.seek(SeekFrom::Start(0))?;
        file.write_all(&text)?;
        file.sync_data()
    }
}

/// A running process that holds a file lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockProcess {
    /// Its process ID.
    pub pid: u32,
    /// Its name, as the system shows it.
    pub name: String,
}

impl LockProcess {
    /// Returns the processes that hold an exclusive lock on `file`. This process may be among them.
    ///
    /// A lock belongs to an open file, so a child process that inherited the descriptor holds it
    /// too. Processes of other users are not visible. Returns `None` on systems without the `/proc`
    /// of Linux, which reports locks.
    pub(super) fn holding(file: &File) -> Option<Vec<Self>> {
        let locked = identity(&file.metadata().ok()?);
        let processes = fs::read_dir("/proc").ok()?;
        let mut found: Vec<Self> = processes
            .flatten()
            .filter_map(|process| {
                let pid = process.file_name().to_str()?.parse().ok()?;
                holds(&process.path(), locked).then(|| Self {
                    pid,
                    name: name(&process.path()),
                })
            })
            .collect();
        found.sort_by_key(|process| process.pid);
        Some(found)
    }
}

impl fmt::Display for LockProcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {} ({})", self.pid, self.name)
    }
}

/// Returns whether the process at `/proc/PID` has the file open through the descriptor that locks
/// it.
fn holds(process: &Path, locked: Identity) -> bool {
    let Ok(descriptors) = fs::read_dir(process.join("fd")) else {
        return false;
    };
    descriptors.flatten().any(|descriptor| {
        let is_same = fs::metadata(descriptor.path()).is_ok_and(|found| identity(&found) == locked);
        is_same && {
            let info = process.join("fdinfo").join(descriptor.file_name());
            fs::read_to_string(info).is_ok_and(|info| has_exclusive_lock(&info))
        }
    })
}

/// Reads `/proc/PID/fdinfo/FD`, which lists the locks that were taken through a descriptor.
fn has_exclusive_lock(info: &str) -> bool {
    info.lines().any(|line| {
        let mut words = line.split_whitespace();
        words.next() == Some("lock:") && {
            let words: Vec<&str> = words.collect();
            words.contains(&"FLOCK") && words.contains(&"WRITE")
        }
    })
}

fn name(process: &Path) -> String {
    let name = fs::read_to_string(process.join("comm")).unwrap_or_default();
    let name: String = name.trim().chars().filter(|it| !it.is_control()).collect();
    if name.is_empty() {
        "unnamed".to_owned()
    } else {
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_exclusive_file_lock_counts() {
        for (info, expected) in [
            ("pos:\t0\nflags:\t0100001\nino:\t10\n", false),
            (
                "ino:\t10\nlock:\t1: FLOCK  ADVISORY  WRITE 9598 fe:00:10 0 EOF\n",
                true,
            ),
            (
                "ino:\t10\nlock:\t1: FLOCK  ADVISORY  READ 9598 fe:00:10 0 EOF\n",
                false,
            ),
            (
                "ino:\t10\nlock:\t1: POSIX  ADVISORY  WRITE 9598 fe:00:10 0 EOF\n",
                false,
            ),
        ] {
            assert_eq!(has_exclusive_lock(info), expected, "{info}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_holder_of_a_lock_is_found_and_a_process_that_only_opened_the_file_is_not() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("lock");
        let file = File::create(&path).expect("writable");
        let opened = File::open(&path).expect("readable");
        assert_eq!(LockProcess::holding(&opened), Some(Vec::new()));

        file.lock().expect("the lock is free");

        let holding = LockProcess::holding(&opened).expect("Linux reports locks");
        let pids: Vec<u32> = holding.iter().map(|process| process.pid).collect();
        assert_eq!(pids, [std::process::id()]);
    }
}
