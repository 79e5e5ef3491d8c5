//! Fleets through the command: real processes of it in a real git repository, on scripted agents.

#[path = "../../../autonoe-dashboard/tests/browser/chromium.rs"]
#[allow(dead_code, reason = "here a browser looks at one page")]
mod chromium;
mod fleets;
mod interrupted;
mod leading;
mod mistakes;
mod outputs;
#[path = "../runs/telemetry/receiver.rs"]
#[allow(dead_code, reason = "here every request is answered")]
mod receiver;
mod served;
mod setting;
mod viewed;
mod webhook;
#[path = "../runs/terminal/window.rs"]
#[allow(dead_code, reason = "here one terminal is looked at")]
mod window;
