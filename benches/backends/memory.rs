//! Memory of this process and of process trees.

use std::fs;

use autonoe_process::Marker;

/// Returns the resident memory of this process.
pub(crate) fn own_kib() -> u64 {
    field("/proc/self/status", "VmRSS:").expect("the system tells it")
}

/// Returns the memory of all processes with the marker. Shared pages count proportionally (PSS).
pub(crate) fn tree_kib(marker: &Marker) -> u64 {
    let processes = marker.processes().into_iter();
    // A process that has exited uses no memory.
    let kib = |pid: u32| field(&format!("/proc/{pid}/smaps_rollup"), "Pss:").unwrap_or(0);
    processes.map(|process| kib(process.pid)).sum()
}

fn field(file: &str, name: &str) -> Option<u64> {
    let text = fs::read_to_string(file).ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    line.split_whitespace().nth(1)?.parse().ok()
}
