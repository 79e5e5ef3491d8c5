//! Tests of runs through the command: in a real terminal and in a pipe, on scripted agents and on
//! the real Claude Code.

mod ask;
mod decisions;
mod flows;
mod ignored_fields;
mod notify;
mod options;
mod other_limits;
mod pipe;
mod project_in_use;
mod real_claude;
mod same_gate;
mod serve;
pub(crate) mod support;
pub(crate) mod telemetry;
pub(crate) mod terminal;
mod unwritable;
mod wrong_programs;
