//! Memory of a process, from `/proc`.

/// Returns the current and the peak resident memory of a process, in MiB.
pub(crate) fn mib(pid: u32) -> (f64, f64) {
    let text = std::fs::read_to_string(format!("/proc/{pid}/status"));
    let text = text.expect("it lives");
    let field = |name: &str| {
        let line = text.lines().find(|line| line.starts_with(name));
        let kib = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<f64>().ok());
        kib.expect("the system tells it") / 1024.0
    };
    (field("VmRSS:"), field("VmHWM:"))
}
