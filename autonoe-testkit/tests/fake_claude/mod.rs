//! The stand-in for Claude Code, driven by the real backend.
#![cfg(feature = "fake-claude")]

mod call_parents;
mod deviations;
mod faults_at_start;
mod faults_in_turns;
mod fixture;
mod program;
mod recorded_lines;
mod replay;
mod shutdown;
