//! End-to-end tests of the program with a real Temporal server, which `cargo xtask test-temporal`
//! installs.

#![cfg(target_os = "linux")]

mod cluster;
mod commands;
mod failures;
mod fleets;
mod guide;
mod mistakes;
mod moving;
mod submitting;
mod tracing;
