//! Runs whose telemetry is exported to an OpenTelemetry receiver.

mod content;
mod failures;
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
use crate::runs::support::script::{Script, calls_model, creates, ends, is_denied_by, sets};

/// A run of two sessions with model calls, tool calls and a denied call.
fn script() -> Script {
    let blocked = json!({"command": "curl http://private.example"});
    Script::new()
        .session([
            calls_model("a-model", "a private answer"),
            creates(&["DL-001"]),
            ends(),
        ])
        .session([
            is_denied_by("bash-security", "Bash", blocked),
            sets("DL-001", "passed"),
            ends(),
        ])
}

/// Time limit of the last exports, in milliseconds.
pub(crate) const EXPORT_LIMIT: (&str, &str) = ("OTEL_EXPORTER_OTLP_TIMEOUT", "60000");

/// Prepares `autonoe run` with this script and an export to `receiver`.
fn exported(project: &Project, script: &Script, receiver: &Receiver) -> Command {
    let mut command = scripted_command(project, script, &["run"]);
    command
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.url())
        .envs([EXPORT_LIMIT]);
    command
}
