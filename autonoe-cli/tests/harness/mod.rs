//! Tests of fleets through the command: real processes in a real git repository, on scripted
//! agents.

mod control;
mod fixture;
mod fleets;
mod interrupted;
mod live_view;
mod mistakes;
mod outputs;
mod telemetry;
mod web_view;
mod webhook;
