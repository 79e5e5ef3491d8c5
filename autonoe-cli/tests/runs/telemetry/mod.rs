//! Runs that are exported to a receiver of OpenTelemetry.

mod content;
mod failures;
mod measured;
pub(crate) mod metrics;
mod parents;
pub(crate) mod receiver;
pub(crate) mod spans;
mod tree;

use std::process::Command;

use serde_json::json;

use self::receiver::Receiver;
use crate::runs::support::autonoe::scripted_command;
use crate::runs::support::project::Project;
use crate::runs::support::script::{Script, asks_model, creates, ends, is_denied_by, sets};

/// A run of two sessions with calls of a model, of tools, and one that is blocked.
fn script() -> Script {
    let blocked = json!({"command": "curl http://private.example"});
    Script::new()
        .session([
            asks_model("a-model", "a private answer"),
            creates(&["DL-001"]),
            ends(),
        ])
        .session([
            is_denied_by("bash-security", "Bash", blocked),
            sets("DL-001", "passed"),
            ends(),
        ])
}

/// How long the command waits for its last exports, in milliseconds.
pub(crate) const EXPORT_LIMIT: (&str, &str) = ("OTEL_EXPORTER_OTLP_TIMEOUT", "60000");

/// Prepares `autonoe run` with this script, exported to `receiver`.
fn exported(project: &Project, script: &Script, receiver: &Receiver) -> Command {
    let mut command = scripted_command(project, script, &["run"]);
    command
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.url())
        .envs([EXPORT_LIMIT]);
    command
}
