//! [`CommandSink`] runs a command of the operator for each alert.

use std::path::PathBuf;
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::Project;
use autonoe_harness::alert::{Alert, AlertSink};
use autonoe_process::ProcessRunner;

use crate::Env;
use crate::error::{AppError, error_chain};
use crate::text::shorten;

/// Time limit of the command.
const TIME_LIMIT: Duration = Duration::from_secs(30);

/// Time limit for one alert: longer than that of the command, which includes its shutdown.
pub(super) const DEADLINE: Duration = Duration::from_secs(45);

/// Maximum number of bytes in an environment variable; the system limits them to 128 KiB.
const MAX_VARIABLE: usize = 64 * 1024;

/// A command of the operator, which gets the alert in environment variables.
///
/// The text of an alert may come from an agent. Therefore it never becomes part of the command
/// line.
pub(super) struct CommandSink {
    line: String,
    runner: ProcessRunner,
}

impl CommandSink {
    /// Creates the sink. The command gets the variables of `env`.
    pub(super) fn new(line: &str, env: &Env) -> Result<Self, AppError> {
        if line.trim().is_empty() {
            return Err(AppError::usage("the command of --notify-command is empty"));
        }
        // Not the project: a relative name must not run a file that an agent wrote.
        let folder = env
            .home()
            .filter(|home| home.is_dir())
            .unwrap_or_else(|| PathBuf::from("/"));
        Ok(Self {
            line: line.to_owned(),
            runner: ProcessRunner::unconfined(folder).envs(env.environment.clone()),
        })
    }
}

#[async_trait]
impl AlertSink for CommandSink {
    fn name(&self) -> &str {
        "command"
    }

    async fn deliver(&self, alert: &Alert) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        let runner = self.runner.clone().envs(variables(alert)?);
        let command = ["/bin/sh", "-c", &self.line].map(str::to_owned);
        let output = runner
            .output(&command, TIME_LIMIT, 0)
            .await
            .map_err(|error| {
                format!(
                    "the notification command did not run: {}",
                    error_chain(&error)
                )
            })?;
        if output.is_success() {
            return Ok(());
        }
        let stderr = shorten(&output.stderr);
        let reason = if stderr.is_empty() {
            String::new()
        } else {
            format!(": {stderr}")
        };
        Err(format!("the notification command {}{reason}", output.end).into())
    }
}

/// Returns the variables that describe an alert.
fn variables(alert: &Alert) -> Result<[(&'static str, String); 4], serde_json::Error> {
    let mut alert = alert.clone();
    // A null byte cannot be part of a variable.
    alert.message = limited(&alert.message.replace('\0', " "), MAX_VARIABLE / 2);
    let mut json = serde_json::to_string(&alert)?;
    if json.len() > MAX_VARIABLE {
        // Escapes and details can be long.
        alert.context.clear();
        alert.message = limited(&alert.message, MAX_VARIABLE / 8);
        json = serde_json::to_string(&alert)?;
    }
    Ok([
        ("AUTONOE_ALERT", json),
        ("AUTONOE_ALERT_TYPE", alert.kind),
        (
            "AUTONOE_ALERT_SEVERITY",
            alert.severity.to_string().to_uppercase(),
        ),
        ("AUTONOE_ALERT_MESSAGE", alert.message),
    ])
}

/// Returns the beginning of a text, at most `bytes` long.
fn limited(text: &str, bytes: usize) -> String {
    let mut end = bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].to_owned()
}

/// Returns a warning if agents may be able to change the program of the command.
pub(super) fn warning(line: &str, project: &Project, env: &Env) -> Option<String> {
    let program = line.split_whitespace().next()?.trim_matches(['"', '\'']);
    let program = match program.strip_prefix("~/") {
        Some(below) => env.home()?.join(below),
        None => PathBuf::from(program),
    };
    if !program.is_absolute() {
        return None;
    }
    let program = program.canonicalize().unwrap_or(program);
    let root = project.root();
    let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    let is_writable = program.starts_with(root) || program.starts_with("/tmp");
    is_writable.then(|| {
        format!(
            "agents can change {program:?}, which runs outside of the sandbox for notifications; \
             move it out of the project and of /tmp"
        )
    })
}

#[cfg(test)]
mod tests {
    use autonoe_harness::alert::Severity;
    use jiff::Timestamp;

    use super::*;

    fn alert(message: &str) -> Alert {
        Alert::new("failed", Severity::Error, message, Timestamp::UNIX_EPOCH)
    }

    #[test]
    fn variables_have_the_alert_without_null_bytes_and_within_the_limit() {
        let [json, kind, severity, message] = variables(&alert("a\0b")).expect("JSON");

        assert_eq!(kind, ("AUTONOE_ALERT_TYPE", "failed".to_owned()));
        assert_eq!(severity, ("AUTONOE_ALERT_SEVERITY", "ERROR".to_owned()));
        assert_eq!(message, ("AUTONOE_ALERT_MESSAGE", "a b".to_owned()));
        let json: serde_json::Value = serde_json::from_str(&json.1).expect("JSON");
        assert_eq!(json["type"], "failed");

        for character in ["ü", "\u{1}"] {
            let long = alert(&character.repeat(200_000)).detail("log", "x".repeat(200_000));
            for (name, value) in variables(&long).expect("JSON") {
                assert!(value.len() <= MAX_VARIABLE, "{name}: {}", value.len());
            }
        }
    }
}
