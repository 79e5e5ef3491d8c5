//! Sessions that are composed for a remote engine.
//!
//! Agents are scripts, or a model behind a scripted server whose commands are real processes. Each
//! test checks at its end that no process is left.

#![cfg(target_os = "linux")]

mod client_process;
mod fixture;
mod interruption;
mod mistakes;
mod sessions;
