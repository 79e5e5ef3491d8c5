//! Who runs the commands of checks and conditions.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
pub use autonoe_process::CommandEnd;

use crate::error::{FlowError, FlowErrorKind};

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Runs the commands of checks and conditions.
///
/// An implementer owes that nothing of a command lives when
/// [`run`](Self::run) returns or its future was dropped, and that a command
/// takes no longer than its time. What a command does is looked at by its end
/// alone, never by what it says.
///
/// ```
/// use std::time::Duration;
///
/// use autonoe_flow::{CommandEnd, CommandRunner};
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
///     ) -> Result<CommandEnd, Box<dyn std::error::Error + Send + Sync>> {
///         Ok(CommandEnd::Exited { code: 0 })
///     }
/// }
/// ```
#[async_trait]
pub trait CommandRunner: Send + Sync {
    /// Runs `command`, the program and its arguments, for at most `time`.
    ///
    /// # Errors
    ///
    /// It was not started, or nobody knows how it ended.
    async fn run(&self, command: &[String], time: Duration) -> Result<CommandEnd, BoxError>;

    /// Tells before the start of a flow whether `command` could be run.
    ///
    /// # Errors
    ///
    /// It surely could not; the kind is [`FlowErrorKind::DependencyResolution`].
    fn resolve(&self, command: &[String]) -> Result<(), FlowError> {
        let _ = command;
        Ok(())
    }
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl<R: CommandRunner + ?Sized> CommandRunner for Arc<R> {
    async fn run(&self, command: &[String], time: Duration) -> Result<CommandEnd, BoxError> {
        (**self).run(command, time).await
    }

    fn resolve(&self, command: &[String]) -> Result<(), FlowError> {
        (**self).resolve(command)
    }
}

/// Runs no commands: where a definition has none, or must not have any.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NoCommands;

#[async_trait]
impl CommandRunner for NoCommands {
    async fn run(&self, command: &[String], _: Duration) -> Result<CommandEnd, BoxError> {
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
