//! Engine and workers on a real Temporal server, which `cargo xtask test-temporal` installs.
//!
//! Tests that kill hosts start this program again, as a worker.

#![cfg(target_os = "linux")]

mod assertions;
mod cancelled;
mod conformance;
mod cut_off;
mod ending;
mod failures;
mod fleets;
mod killed_worker;
mod lost_host;
mod many;
mod project;
mod refusing;
mod server_outage;
mod sessions;
mod slow_claim;

/// The entry point of worker processes, which tests start.
#[test]
fn worker() {
    autonoe_temporal_support::run_worker_if_requested();
}
