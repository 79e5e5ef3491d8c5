//! Leftovers of a child, in every way in which it or this program can end.
//!
//! Each test searches for processes by its marker at the end and finds none.

#![cfg(target_os = "linux")]

mod commands;
mod daemons;
mod dropped;
mod fixture;
mod host_death;
mod inherit;
mod inherited_markers;
mod initial_state;
mod launch_errors;
mod leftovers;
mod sandbox;
mod session_folder;
mod shutdown_policy;
mod stdio;
