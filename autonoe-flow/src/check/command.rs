//! [`CommandRunner`]: runs the commands of checks and completion conditions.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

pub use autonoe_process::{CommandOutcome, ProcessRunner};

use crate::error::{FlowError, FlowErrorKind};

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Runs the commands of checks and conditions.
///
/// Implementations must guarantee that no process of a command is alive when [`run`](Self::run)
/// returns or when its future is dropped, and that a command never runs longer than its time limit.
/// Only the end of a command counts, never its output. [`ProcessRunner`] runs commands as child
/// processes.
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

#[async_trait]
impl CommandRunner for ProcessRunner {
    async fn run(&self, command: &[String], time: Duration) -> Result<CommandOutcome, BoxError> {
        Ok(Self::run(self, command, time).await?)
    }

    /// Looks up only bare program names: a path may point to a file that the flow has yet to
    /// create.
    fn resolve(&self, command: &[String]) -> Result<(), FlowError> {
        let name = command.first().map_or("", String::as_str);
        if self.find_program(name).is_some() {
            return Ok(());
        }
        let message = format!(
            "the program {name:?} is not in the PATH of commands; install it there, or write its \
             full path"
        );
        Err(FlowError::new(FlowErrorKind::DependencyResolution, message))
    }
}
