//! Memory of processes, as reported by the system.

use std::fs;

/// Returns the resident memory of this process.
pub(crate) fn own_kib() -> u64 {
    resident_kib("self").expect("the system tells it")
}

/// Returns the resident memory of a process.
pub(crate) fn resident_kib(pid: &str) -> Option<u64> {
    field(&format!("/proc/{pid}/status"), "VmRSS:")
}

/// Returns the memory of a process with shared pages counted proportionally (PSS).
pub(crate) fn proportional_kib(pid: &str) -> Option<u64> {
    field(&format!("/proc/{pid}/smaps_rollup"), "Pss:")
}

fn field(file: &str, name: &str) -> Option<u64> {
    let text = fs::read_to_string(file).ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    line.split_whitespace().nth(1)?.parse().ok()
}
