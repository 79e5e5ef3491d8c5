//! The stand-in for Claude Code, driven by the real backend.
#![cfg(feature = "fake-claude")]

mod call_parents;
mod faults_at_start;
mod faults_in_turns;
mod fixture;
mod other_settings;
mod program;
mod recorded_lines;
mod replay;
mod shutdown;
