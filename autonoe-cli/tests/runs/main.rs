//! Runs through the command: in a real terminal and in a pipe, on scripted agents and on the
//! real Claude Code.

#[path = "../../../autonoe-testkit/tests/model_server_with_claude/build.rs"]
#[allow(
    unused_macros,
    unused_imports,
    reason = "here a test is for both builds"
)]
mod build;
mod decisions;
mod flows;
mod lost_ground;
mod options;
mod other_limits;
mod pipe;
mod real_claude;
mod strangers;
mod support;
mod telemetry;
mod terminal;
mod unwritable;
