//! Criterion: a command ends with the expected exit code.

use std::time::Duration;

use async_trait::async_trait;
use autonoe_process::CommandOutcome;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Criterion, Verification, VerificationContext};

/// Default time limit of a command, in seconds.
const TEN_MINUTES: u64 = 600;

/// A command that ends with an exit code: `{"type": "command", "command": ["cargo", "check"]}`.
///
/// It runs in the folder of the task without a shell, for at most `timeoutSeconds`. Its output does
/// not count.
///
/// ```
/// use autonoe_harness::executor::CommandCriterion;
/// use autonoe_harness::Criterion;
///
/// let check = CommandCriterion::new(["cargo", "check"]);
///
/// assert_eq!(check.describe(), "the command `cargo check` ends with exit code 0");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CommandCriterion {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The expected exit code; 0 by default.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub exit_code: i32,
    /// The time limit in seconds; 600 by default.
    #[serde(default = "ten_minutes", skip_serializing_if = "is_ten_minutes")]
    pub timeout_seconds: u64,
}

fn ten_minutes() -> u64 {
    TEN_MINUTES
}

fn is_ten_minutes(seconds: &u64) -> bool {
    *seconds == TEN_MINUTES
}

fn is_zero(code: &i32) -> bool {
    *code == 0
}

impl CommandCriterion {
    /// Requires `command`, a program and its arguments, to end with exit code 0.
    pub fn new<S: Into<String>>(command: impl IntoIterator<Item = S>) -> Self {
        Self {
            command: command.into_iter().map(Into::into).collect(),
            exit_code: 0,
            timeout_seconds: TEN_MINUTES,
        }
    }
}

/// Formats a command for people.
pub(super) fn format_command(command: &[String]) -> String {
    format!("`{}`", command.join(" "))
}

/// Validates a command and its time limit.
pub(super) fn problems(command: &[String], timeout_seconds: u64) -> Vec<String> {
    let mut problems = Vec::new();
    if command
        .first()
        .is_none_or(|program| program.trim().is_empty())
    {
        problems.push("a command is empty".to_owned());
    }
    if timeout_seconds == 0 {
        problems.push(format!(
            "the timeout of the command {} is 0",
            format_command(command)
        ));
    }
    problems
}

/// Runs a command until it ends.
///
/// # Errors
///
/// The command could not be run, so that its outcome is unknown.
pub(super) async fn run(
    command: &[String],
    timeout_seconds: u64,
    context: &VerificationContext<'_>,
) -> Result<CommandOutcome, Verification> {
    let Some(commands) = context.commands else {
        let message = format!(
            "{} was not run: this executor runs no commands",
            format_command(command)
        );
        return Err(Verification::unverified(message));
    };
    let time = Duration::from_secs(timeout_seconds);
    commands.run(command, time).await.map_err(|error| {
        Verification::unverified(format!("{} was not run: {error}", format_command(command)))
    })
}

#[typetag::serde(name = "command")]
#[async_trait]
impl Criterion for CommandCriterion {
    fn describe(&self) -> String {
        let (command, code) = (format_command(&self.command), self.exit_code);
        format!("the command {command} ends with exit code {code}")
    }

    fn problems(&self) -> Vec<String> {
        problems(&self.command, self.timeout_seconds)
    }

    async fn verify(&self, context: &VerificationContext<'_>) -> Verification {
        let command = format_command(&self.command);
        match run(&self.command, self.timeout_seconds, context).await {
            Err(unverified) => unverified,
            Ok(CommandOutcome::Exited { code }) if code == self.exit_code => {
                Verification::passed(format!("{command} ended with exit code {code}"))
            }
            Ok(end) => Verification::failed(format!("{command} {end}")),
        }
    }
}

autonoe_core::register_spec!(Other("criterion"), CommandCriterion, "command", {
    "command": ["cargo", "check"]
});
