//! Fleets through the command: real processes of it in a real git repository, on scripted agents.

#[path = "../../../autonoe-dashboard/tests/browser/chromium.rs"]
#[allow(dead_code, reason = "here a browser looks at one page")]
mod chromium;
mod fleets;
mod interrupted;
mod leading;
mod mistakes;
mod outputs;
mod served;
mod setting;
mod telemetry;
mod viewed;
mod warnings;
mod webhook;
