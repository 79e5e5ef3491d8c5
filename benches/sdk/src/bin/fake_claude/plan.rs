//! Amount of work in each phase.

use std::io;
use std::path::PathBuf;

/// Amount of work in each phase, and the file for the measurements.
#[derive(Debug)]
pub(crate) struct Plan {
    /// Messages in a row.
    pub(crate) messages: usize,
    /// Sequential hook requests.
    pub(crate) hooks: usize,
    /// Hook requests of which [`in_flight`](Self::in_flight) are open at a time.
    pub(crate) many_hooks: usize,
    pub(crate) in_flight: usize,
    /// Tool calls.
    pub(crate) calls: usize,
    pub(crate) figures: PathBuf,
}

impl Plan {
    /// Reads the plan from the environment, which the clients pass on.
    pub(crate) fn from_environment() -> io::Result<Self> {
        Ok(Self {
            messages: count("SDK_BENCH_MESSAGES")?,
            hooks: count("SDK_BENCH_HOOKS")?,
            many_hooks: count("SDK_BENCH_MANY_HOOKS")?,
            in_flight: count("SDK_BENCH_IN_FLIGHT")?,
            calls: count("SDK_BENCH_CALLS")?,
            figures: text("SDK_BENCH_FIGURES")?.into(),
        })
    }
}

fn count(name: &str) -> io::Result<usize> {
    let text = text(name)?;
    text.parse()
        .ok()
        .filter(|count| *count > 0)
        .ok_or_else(|| io::Error::other(format!("{name}={text} is no count")))
}

fn text(name: &str) -> io::Result<String> {
    std::env::var(name).map_err(|error| io::Error::other(format!("{name}: {error}")))
}
