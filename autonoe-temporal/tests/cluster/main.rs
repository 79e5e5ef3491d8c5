//! Engine and workers on a real Temporal server, which `cargo xtask test-temporal` installs.
//!
//! Those with hosts that are killed start this program again, as a worker.

#![cfg(target_os = "linux")]

mod afterwards;
mod body;
mod cancelled;
mod conformance;
mod crew;
mod cut_off;
mod fleets;
mod host;
mod host_gone;
mod killed_worker;
mod log;
mod many;
mod project;
mod proxy;
mod runs;
mod server;
mod server_away;
mod sessions;
mod site;
mod tool;
mod working;
