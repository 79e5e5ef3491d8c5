//! [`ProcessCommands`]: runs commands as child processes.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use async_trait::async_trait;
use autonoe_process::{OsSandbox, ProcessRunner};

use super::{CommandOutcome, CommandRunner};
use crate::error::{FlowError, FlowErrorKind};

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Runs commands as child processes in a directory, like [`ProcessRunner`].
///
/// ```
/// use std::time::Duration;
///
/// use autonoe_flow::command::{CommandOutcome, ProcessCommands};
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
