//! [`DesktopSink`] shows alerts as desktop notifications.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use async_trait::async_trait;
use autonoe_harness::alert::{Alert, AlertSink, Severity};
use autonoe_process::{ProcessRunner, find_program};

use crate::Env;
use crate::error::error_chain;
use crate::text::shorten;

/// Time limit of the program.
const TIME_LIMIT: Duration = Duration::from_secs(10);

/// Time limit for one alert.
pub(super) const DEADLINE: Duration = Duration::from_secs(20);

/// The script for `osascript`. The texts are arguments, so that they are never code.
const APPLE_SCRIPT: [&str; 3] = [
    "on run texts",
    "display notification (item 2 of texts) with title (item 1 of texts)",
    "end run",
];

/// The program that shows notifications on this desktop.
pub(super) struct DesktopSink {
    project: String,
    program: Program,
    runner: ProcessRunner,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Program {
    NotifySend(PathBuf),
    Osascript(PathBuf),
}

impl DesktopSink {
    /// Finds the program. The error is the reason why there is none.
    pub(super) fn find(project: String, env: &Env) -> Result<Self, &'static str> {
        Ok(Self {
            project,
            program: Program::find(env)?,
            runner: ProcessRunner::unconfined("/").envs(env.environment.clone()),
        })
    }
}

impl Program {
    fn find(env: &Env) -> Result<Self, &'static str> {
        let path = env.environment.get(OsStr::new("PATH"));
        let find = |name: &str| path.and_then(|path| find_program(name, path));
        if cfg!(target_os = "macos") {
            let program = find("osascript").ok_or("the program osascript is missing")?;
            return Ok(Self::Osascript(program));
        }
        let program = find("notify-send").ok_or("the program notify-send is missing")?;
        let has_bus = env.variable("DBUS_SESSION_BUS_ADDRESS").is_some()
            || env
                .variable("XDG_RUNTIME_DIR")
                .is_some_and(|folder| Path::new(folder).join("bus").exists());
        if has_bus {
            Ok(Self::NotifySend(program))
        } else {
            Err("there is no session bus (DBUS_SESSION_BUS_ADDRESS)")
        }
    }

    fn command(&self, title: &str, body: &str, severity: Severity) -> Vec<String> {
        let command_line = |program: &Path, arguments: &[&str]| {
            let program = program.to_string_lossy().into_owned();
            let arguments = arguments.iter().map(|word| (*word).to_owned());
            std::iter::once(program).chain(arguments).collect()
        };
        match self {
            Self::NotifySend(program) => {
                let urgency = match severity {
                    Severity::Critical | Severity::Error => "--urgency=critical",
                    Severity::Info | Severity::Success | Severity::Warning => "--urgency=normal",
                };
                // The body may be markup; the title is plain text.
                let body = escape(body);
                command_line(
                    program,
                    &["--app-name=Autonoe", urgency, "--", title, &body],
                )
            }
            Self::Osascript(program) => {
                let [one, two, three] = APPLE_SCRIPT;
                // `--` ends the options, so that no text is taken for one.
                let script = ["-e", one, "-e", two, "-e", three, "--", title, body];
                command_line(program, &script)
            }
        }
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[async_trait]
impl AlertSink for DesktopSink {
    fn name(&self) -> &str {
        "desktop"
    }

    async fn deliver(&self, alert: &Alert) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        let title = format!(
            "Autonoe: {} ({})",
            alert.kind.replace('_', " "),
            shorten(&self.project)
        );
        let body = shorten(&alert.message);
        let command = self.program.command(&title, &body, alert.severity);
        let output = self.runner.output(&command, TIME_LIMIT, 0).await;
        let output =
            output.map_err(|error| format!("no desktop notification: {}", error_chain(&error)))?;
        if output.is_success() {
            return Ok(());
        }
        let reason = shorten(&output.stderr);
        Err(format!(
            "no desktop notification: the program {}: {reason}",
            output.end
        )
        .into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_arguments_and_no_options_markup_or_code() {
        let hostile = "--help <b>\" & do shell script \"x\"";
        let sent = Program::NotifySend("/bin/notify-send".into());
        let program = Program::Osascript("/usr/bin/osascript".into());

        let sent = sent.command("-t", hostile, Severity::Error);
        let words = program.command("-t", hostile, Severity::Error);

        assert_eq!(
            sent,
            [
                "/bin/notify-send",
                "--app-name=Autonoe",
                "--urgency=critical",
                "--",
                "-t",
                "--help &lt;b&gt;\" &amp; do shell script \"x\"",
            ]
        );
        let place = words.iter().position(|word| word == "--").expect("there");
        assert_eq!(words[place + 1..], ["-t", hostile]);
        assert!(!words[..place].concat().contains("shell"));
    }
}
