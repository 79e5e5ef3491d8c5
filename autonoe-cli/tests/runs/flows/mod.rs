//! Tests of `autonoe flow run`: the flows of `examples/flows`, on scripted agents and on the real
//! Claude Code.

mod examples;
mod failures;
mod fixture;
mod operator_lines;
mod real_claude;
mod resume;
mod webhook;
