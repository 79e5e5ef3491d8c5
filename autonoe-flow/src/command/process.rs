//! Commands as child processes.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use async_trait::async_trait;
use autonoe_process::{Commands, OsSandbox};

use super::{CommandEnd, CommandRunner};
use crate::error::{FlowError, FlowErrorKind};

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Runs commands as child processes in a folder, as [`Commands`] do.
///
/// ```
/// use std::time::Duration;
///
/// use autonoe_flow::{CommandEnd, CommandRunner, ProcessCommands};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
/// let commands = ProcessCommands::unconfined("/").env("PATH", "/usr/bin:/bin");
///
/// let end = commands.run(&["true".to_owned()], Duration::from_secs(10)).await?;
///
/// assert_eq!(end, CommandEnd::Exited { code: 0 });
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct ProcessCommands(Commands);

impl ProcessCommands {
    /// Runs commands in `directory` inside `sandbox`, with an empty environment.
    pub fn confined(directory: impl Into<PathBuf>, sandbox: OsSandbox) -> Self {
        Self(Commands::confined(directory, sandbox))
    }

    /// Runs commands in `directory` as this program may, with an empty environment.
    pub fn unconfined(directory: impl Into<PathBuf>) -> Self {
        Self(Commands::unconfined(directory))
    }

    /// Sets a variable of the environment.
    #[must_use]
    pub fn env(self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        Self(self.0.env(name, value))
    }

    /// Sets variables of the environment.
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
    async fn run(&self, command: &[String], time: Duration) -> Result<CommandEnd, BoxError> {
        Ok(self.0.run(command, time).await?)
    }

    /// A path may lead to what the flow has yet to make; a name of a program is looked for.
    fn resolve(&self, command: &[String]) -> Result<(), FlowError> {
        let name = command.first().map_or("", String::as_str);
        if self.0.program(name).is_some() {
            return Ok(());
        }
        let message = format!("there is no program {name:?} in the PATH that commands get");
        Err(FlowError::new(FlowErrorKind::DependencyResolution, message))
    }
}
