//! Tests of fleets through the command: real processes in a real git repository, on scripted
//! agents.

#[path = "../../../autonoe-dashboard/tests/browser/chromium.rs"]
#[allow(dead_code, reason = "here a browser looks at one page")]
pub(crate) mod chromium;
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
