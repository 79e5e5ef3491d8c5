//! [`CommandRunner`]: runs the commands of checks and completion conditions.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use autonoe_process::{OsSandbox, ProcessRunner};

pub use autonoe_process::CommandOutcome;

use crate::error::{FlowError, FlowErrorKind};

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Runs the commands of checks and conditions.
///
/// Implementations must guarantee that no process of a command is alive when [`run`](Self::run)
/// returns or when its future is dropped, and that a command never runs longer than its time limit.
/// Only the end of a command counts, never its output.
///
/// ```
/// use std::time::Duration;
///
/// use autonoe_flow::check::CommandOutcome;
/// use autonoe_flow::CommandRunner;
///
/// /// Every command succeeds.
/// struct Fine;
///
/// #[async_trait::async_trait]
/// impl CommandRunner for Fine {
///     async fn run(
///         &self,
///         _: &[String],
///         _: Duration,
///     ) -> Result<CommandOutcome, Box<dyn std::error::Error + Send + Sync>> {
///         Ok(CommandOutcome::Exited { code: 0 })
///     }
/// }
/// ```
#[async_trait]
pub trait CommandRunner: Send + Sync {
    /// Runs `command`, the program and its arguments, for at most `time`.
    ///
    /// # Errors
    ///
    /// The command was not started, or its end is unknown.
    async fn run(&self, command: &[String], time: Duration) -> Result<CommandOutcome, BoxError>;

    /// Checks before the start of a flow whether `command` can be run.
    ///
    /// # Errors
    ///
    /// The command certainly cannot be run. The kind is [`FlowErrorKind::DependencyResolution`].
    fn resolve(&self, command: &[String]) -> Result<(), FlowError> {
        let _ = command;
        Ok(())
    }
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl<R: CommandRunner + ?Sized> CommandRunner for Arc<R> {
    async fn run(&self, command: &[String], time: Duration) -> Result<CommandOutcome, BoxError> {
        (**self).run(command, time).await
    }

    fn resolve(&self, command: &[String]) -> Result<(), FlowError> {
        (**self).resolve(command)
    }
}

/// Rejects every command. For definitions that have none or must not have any.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NoCommands;

#[async_trait]
impl CommandRunner for NoCommands {
    async fn run(&self, command: &[String], _: Duration) -> Result<CommandOutcome, BoxError> {
        Err(Box::new(refusal(command)))
    }

    fn resolve(&self, command: &[String]) -> Result<(), FlowError> {
        Err(refusal(command))
    }
}

fn refusal(command: &[String]) -> FlowError {
    let program = command.first().map_or("", String::as_str);
    let message = format!("the command {program:?} cannot be run: this program runs no commands");
    FlowError::new(FlowErrorKind::DependencyResolution, message)
}

/// Runs commands as child processes in a directory, like [`ProcessRunner`].
///
/// ```
/// use std::time::Duration;
///
/// use autonoe_flow::check::{CommandOutcome, ProcessCommands};
/// use autonoe_flow::CommandRunner;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
/// let commands = ProcessCommands::unconfined("/").env("PATH", "/usr/bin:/bin");
///
/// let end = commands.run(&["true".to_owned()], Duration::from_secs(10)).await?;
///
/// assert_eq!(end, CommandOutcome::Exited { code: 0 });
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct ProcessCommands(ProcessRunner);

impl ProcessCommands {
    /// Runs commands in `directory` inside `sandbox`, with an empty environment.
    pub fn confined(directory: impl Into<PathBuf>, sandbox: OsSandbox) -> Self {
        Self(ProcessRunner::confined(directory, sandbox))
    }

    /// Runs commands in `directory` without a sandbox, with an empty environment.
    pub fn unconfined(directory: impl Into<PathBuf>) -> Self {
        Self(ProcessRunner::unconfined(directory))
    }

    /// Sets an environment variable.
    #[must_use]
    pub fn env(self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        Self(self.0.env(name, value))
    }

    /// Sets environment variables.
    #[must_use]
    pub fn envs<N: Into<OsString>, V: Into<OsString>>(
        self,
        variables: impl IntoIterator<Item = (N, V)>,
    ) -> Self {
        Self(self.0.envs(variables))
    }
}

#[async_trait]
impl CommandRunner for ProcessCommands {
    async fn run(&self, command: &[String], time: Duration) -> Result<CommandOutcome, BoxError> {
        Ok(self.0.run(command, time).await?)
    }

    /// Looks up only bare program names: a path may point to a file that the flow has yet to
    /// create.
    fn resolve(&self, command: &[String]) -> Result<(), FlowError> {
        let name = command.first().map_or("", String::as_str);
        if self.0.find_program(name).is_some() {
            return Ok(());
        }
        let message = format!(
            "the program {name:?} is not in the PATH of commands; install it there, or write its \
             full path"
        );
        Err(FlowError::new(FlowErrorKind::DependencyResolution, message))
    }
}
