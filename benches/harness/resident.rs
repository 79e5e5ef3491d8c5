//! Memory of processes, as the system tells it.

use std::fs;

/// Returns the resident memory of this process.
pub(crate) fn own_kib() -> u64 {
    of("self").expect("the system tells it")
}

/// Returns the memory of a process: what it has resident.
pub(crate) fn of(pid: &str) -> Option<u64> {
    field(&format!("/proc/{pid}/status"), "VmRSS:")
}

/// Returns the memory of a process in which a page that others have too counts by its share (PSS).
pub(crate) fn share_of(pid: &str) -> Option<u64> {
    field(&format!("/proc/{pid}/smaps_rollup"), "Pss:")
}

fn field(file: &str, name: &str) -> Option<u64> {
    let text = fs::read_to_string(file).ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    line.split_whitespace().nth(1)?.parse().ok()
}
