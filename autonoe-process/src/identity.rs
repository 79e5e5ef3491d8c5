//! [`ProcessIdentity`], and the registry of running children.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::process_tree::ProcessTree;
use crate::shutdown_policy::{Deadline, KillReport};
use crate::{Marker, table};

/// Identifies a process across reuse of its process ID: by the process ID, its start time, and the
/// boot ID of the system.
///
/// It can be stored. A later program can check whether that process is still alive. Only on Linux;
/// on other systems there are none. It has no meaning in another PID namespace.
///
/// ```
/// use autonoe_process::ProcessIdentity;
///
/// # #[cfg(target_os = "linux")] {
/// let own = ProcessIdentity::current().expect("it is_alive");
/// assert!(own.is_alive());
///
/// let written_down = (own.pid(), own.started().to_owned());
/// assert_eq!(ProcessIdentity::new(written_down.0, written_down.1), own);
/// assert!(!ProcessIdentity::new(own.pid(), "at another time").is_alive());
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ProcessIdentity {
    pid: u32,
    started: String,
}

impl ProcessIdentity {
    /// Creates an identity from stored values.
    pub fn new(pid: u32, started: impl Into<String>) -> Self {
        Self {
            pid,
            started: started.into(),
        }
    }

    /// Returns the identity of this process.
    pub fn current() -> Option<Self> {
        Self::from_pid(std::process::id())
    }

    /// Returns the identity of the process that has the process ID `pid` now.
    pub fn from_pid(pid: u32) -> Option<Self> {
        let row = table::read_row(pid).filter(|row| !row.ended)?;
        let boot = table::boot_id()?;
        Some(Self::new(pid, format!("{}@{boot}", row.started)))
    }

    /// Returns the process ID.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Returns the start time, as an opaque string.
    pub fn started(&self) -> &str {
        &self.started
    }

    /// Returns whether the process is alive. A zombie is not.
    pub fn is_alive(&self) -> bool {
        Self::from_pid(self.pid).as_ref() == Some(self)
    }

    /// Kills the process, its descendants and all processes with `marker`, repeatedly until none is
    /// left or the limit has passed. This process is excluded.
    ///
    /// If the process ID was reused, the new process is left alone. It blocks the thread.
    pub fn kill_tree(&self, marker: &Marker, limit: Duration) -> KillReport {
        let mut process_tree = ProcessTree::from_marker(marker.clone());
        if self.is_alive()
            && let Some(row) = table::read_row(self.pid)
        {
            process_tree.add(row.identity());
        }
        process_tree.kill_all(limit)
    }
}

static REGISTRY: Mutex<Vec<Marker>> = Mutex::new(Vec::new());

fn registry() -> MutexGuard<'static, Vec<Marker>> {
    REGISTRY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Kills every child that this program has started and all processes with their markers. Returns
/// the number of processes that are left when the limit has passed.
///
/// This is for a program that must end at once, because the operator has requested it a second
/// time: no process gets the chance of an orderly shutdown. It blocks the thread. Only on Linux; on
/// other systems it finds nothing.
///
/// ```
/// use std::time::Duration;
///
/// assert_eq!(autonoe_process::kill_all_children(Duration::from_secs(2)), 0);
/// ```
pub fn kill_all_children(limit: Duration) -> usize {
    let deadline = Deadline::after(limit);
    let markers = registry().clone();
    let left = markers
        .iter()
        .map(|marker| marker.kill_all(deadline.left().unwrap_or(limit)).left.len());
    left.sum()
}

/// Registers one child, until this is dropped.
#[derive(Debug)]
pub(crate) struct RegisteredChild(Marker);

impl RegisteredChild {
    pub(crate) fn register(marker: Marker) -> Self {
        registry().push(marker.clone());
        Self(marker)
    }
}

impl Drop for RegisteredChild {
    fn drop(&mut self) {
        let mut registry = registry();
        if let Some(index) = registry.iter().position(|marker| *marker == self.0) {
            registry.swap_remove(index);
        }
    }
}
