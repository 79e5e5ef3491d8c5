//! The stand-in for Claude Code, driven by the real backend.
#![cfg(feature = "fake-claude")]

mod deviations;
mod endings;
mod faults_at_start;
mod faults_in_turns;
mod fixture;
mod origins;
mod program;
mod recorded_lines;
mod replay;
