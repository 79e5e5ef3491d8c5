//! Benchmark of a Temporal cluster: sessions per second, memory, and the time until the runs of a
//! killed host continue.
//!
//! `cargo xtask bench temporal` at the root installs the server and runs all parts. After that,
//! `cargo bench --manifest-path autonoe-temporal/Cargo.toml --bench cluster [-- PART]` runs one
//! part, which is `steps` or `death`. The server and the agents are those of the tests.

#![allow(clippy::print_stdout)] // A benchmark prints its tables.

mod death;
mod local;
mod resident;
mod steps;

/// Extent of the measurement.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Scope {
    Whole,
    /// One short round, as a smoke test.
    Try,
}

fn main() {
    autonoe_temporal_support::run_worker_if_requested();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // `cargo test --benches` runs this too.
    let scope = if arguments.iter().any(|argument| argument == "--bench") {
        Scope::Whole
    } else {
        Scope::Try
    };
    let mut selected = arguments.iter().filter(|one| !one.starts_with('-'));
    let selected = selected.next().map_or("all", String::as_str);
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    println!("load before: {}", load());
    if ["steps", "all"].contains(&selected) {
        runtime.block_on(steps::measure(scope));
    }
    if ["death", "all"].contains(&selected) {
        runtime.block_on(death::measure(scope));
    }
    println!("\nload after: {}", load());
}

fn load() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().unwrap_or_default().to_owned()
}
