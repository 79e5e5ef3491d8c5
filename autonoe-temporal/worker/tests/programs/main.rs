//! The program with a real Temporal server, and with `autonoe` for the sessions.
//!
//! `cargo xtask test-temporal` installs the one and builds the other.

#![cfg(target_os = "linux")]

mod cluster;
mod commands;
mod mistakes;
mod moving;
mod submitting;
