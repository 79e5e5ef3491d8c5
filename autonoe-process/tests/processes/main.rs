//! What is left of a child, in every way in which it or this program can end.
//!
//! Each test looks for processes by its marker at the end and finds none.

#![cfg(target_os = "linux")]

mod commands;
mod daemons;
mod dropped;
mod handed_on;
mod host_death;
mod inherit;
mod ladder;
mod launch_errors;
mod leftovers;
mod sandbox;
mod session_folder;
mod setting;
mod stdio;
mod trial;
