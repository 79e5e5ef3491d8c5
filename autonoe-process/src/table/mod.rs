//! List of all processes of the system.

#[cfg(target_os = "linux")]
mod linux;
mod membership;

pub(crate) use membership::{TreeMembers, descendants, members, program_in_sandbox};

#[cfg(target_os = "linux")]
pub(crate) use linux::{
    boot_id, children, is_on_current_process, is_same_process, own_session, read, read_row,
};

use crate::shutdown_policy::ProcessInfo;

/// A process in the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) pid: u32,
    pub(crate) parent: u32,
    pub(crate) group: u32,
    pub(crate) session: u32,
    /// Start time, in ticks since the boot of the system.
    pub(crate) started: u64,
    /// Whether it is a zombie.
    pub(crate) ended: bool,
    pub(crate) name: String,
    /// Whether it has the requested marker.
    pub(crate) marked: bool,
}

/// Distinguishes a process from a later one with the same process ID.
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

/// Returns nothing: only Linux exposes the start time of a process in a file system.
#[cfg(not(target_os = "linux"))]
pub(crate) fn row_of(_pid: u32) -> Option<Row> {
    None
}

/// Returns nothing: only Linux lists the children of a process in a file system.
#[cfg(not(target_os = "linux"))]
pub(crate) fn children(_pid: u32) -> Option<Vec<u32>> {
    None
}

/// Returns nothing: only Linux has a boot ID.
#[cfg(not(target_os = "linux"))]
pub(crate) fn boot() -> Option<String> {
    None
}

/// Returns nothing: only Linux exposes the environment of processes in a file system.
#[cfg(not(target_os = "linux"))]
pub(crate) fn read(_marker: &crate::Marker) -> Vec<Row> {
    Vec::new()
}

/// Returns `false`: only Linux exposes the initial environment of a process.
#[cfg(not(target_os = "linux"))]
pub(crate) fn is_on_this(_marker: &crate::Marker) -> bool {
    false
}
