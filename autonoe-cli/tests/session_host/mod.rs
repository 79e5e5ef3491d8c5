//! `autonoe session-host`, as a worker of a cluster starts it.
//!
//! Agents are scripts, or a model behind a scripted server whose commands are real processes. Each
//! test looks at its end whether one of them is left.

#![cfg(target_os = "linux")]

mod breaking_off;
mod mistakes;
mod roles;
mod sessions;
mod setting;
