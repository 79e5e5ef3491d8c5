//! The processes of the system, as one list.

mod belongs;
#[cfg(target_os = "linux")]
mod linux;

pub(crate) use belongs::{Kin, descendants, members, program_in_sandbox};

#[cfg(target_os = "linux")]
pub(crate) use linux::{boot, children, is_on_this, own_session, read, row_of, still_is};

use crate::ladder::ProcessInfo;

/// A process in the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) pid: u32,
    pub(crate) parent: u32,
    pub(crate) group: u32,
    pub(crate) session: u32,
    /// When it was started, in ticks since the system was.
    pub(crate) started: u64,
    /// Whether it has ended and waits for its parent to take notice.
    pub(crate) ended: bool,
    pub(crate) name: String,
    /// Whether it has the marker that was looked for.
    pub(crate) marked: bool,
}

/// Tells one process from a later one with the same number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Identity {
    pub(crate) pid: u32,
    pub(crate) started: u64,
}

impl Row {
    pub(crate) fn identity(&self) -> Identity {
        Identity {
            pid: self.pid,
            started: self.started,
        }
    }

    pub(crate) fn info(&self) -> ProcessInfo {
        ProcessInfo {
            pid: self.pid,
            parent: self.parent,
            name: self.name.clone(),
        }
    }
}

/// Finds nothing: only Linux shows when a process was started in a file system.
#[cfg(not(target_os = "linux"))]
pub(crate) fn row_of(_pid: u32) -> Option<Row> {
    None
}

/// Lists nothing: only Linux lists the children of a process in a file system.
#[cfg(not(target_os = "linux"))]
pub(crate) fn children(_pid: u32) -> Option<Vec<u32>> {
    None
}

/// Tells nothing: only Linux names each of its starts.
#[cfg(not(target_os = "linux"))]
pub(crate) fn boot() -> Option<String> {
    None
}

/// Lists nothing: only Linux shows the environment of processes in a file system.
#[cfg(not(target_os = "linux"))]
pub(crate) fn read(_marker: &crate::Marker) -> Vec<Row> {
    Vec::new()
}

/// Tells nothing: only Linux shows what a process was started with.
#[cfg(not(target_os = "linux"))]
pub(crate) fn is_on_this(_marker: &crate::Marker) -> bool {
    false
}
