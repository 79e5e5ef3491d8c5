//! Runs that are exported to a receiver of OpenTelemetry.

mod content;
mod failures;
mod measured;
mod metrics;
mod parents;
pub(crate) mod receiver;
mod spans;
mod tree;

use std::process::Command;

use serde_json::json;

use self::receiver::Receiver;
use crate::support::autonoe::scripted_command;
use crate::support::project::Project;
use crate::support::script::{Script, asks_model, creates, ends, is_denied, sets};

/// A run of two sessions with calls of a model, of tools, and one that is blocked.
fn script() -> Script {
    let blocked = json!({"command": "curl http://private.example"});
    Script::new()
        .session([
            asks_model("a-model", "a private answer"),
            creates(&["DL-001"]),
            ends(),
        ])
        .session([is_denied("Bash", blocked), sets("DL-001", "passed"), ends()])
}

/// Prepares `autonoe run` with this script, exported to `receiver`.
fn exported(project: &Project, script: &Script, receiver: &Receiver) -> Command {
    let mut command = scripted_command(project, script, &["run"]);
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.url());
    command
}
