//! Engine and workers on a real Temporal server, which `cargo xtask test-temporal` installs.
//!
//! Those with hosts that are killed start this program again, as a worker.

#![cfg(target_os = "linux")]

mod afterwards;
mod cancelled;
mod conformance;
mod cut_off;
mod ending;
mod fleets;
mod host_gone;
mod killed_worker;
mod many;
mod project;
mod refusing;
mod server_away;
mod sessions;
mod slow_claim;
mod trouble;

/// This program, when a test starts it again.
#[test]
fn worker() {
    autonoe_temporal_support::work_if_told_to();
}
