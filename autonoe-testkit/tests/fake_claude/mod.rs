//! The program in the place of Claude Code, and the backend that drives it.
#![cfg(feature = "fake-claude")]

mod deviations;
mod endings;
mod faults_at_start;
mod faults_in_turns;
mod origins;
mod program;
mod recorded_lines;
mod replay;
mod setting;
