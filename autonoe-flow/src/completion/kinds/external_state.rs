//! [`ExternalState`]: a state outside of a flow is reached.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CompletionKind, CompletionNeeds, Mistake, Unreachable};
use crate::check::{CommandOutcome, CommandRunner};
use crate::completion::dependencies::unresolved;
use crate::completion::{
    CompletionContext, CompletionDependencies, CompletionHandler, CompletionResult, StateProbe,
};
use crate::definition::{read_by_type, ten_minutes};
use crate::error::{FlowError, FlowErrorKind};
use crate::walk::Formula;

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Complete when an external state is reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ExternalState {
    /// The source of the state.
    pub source: ExternalStateSource,
}

/// The source of a state outside the flow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum ExternalStateSource {
    /// A command.
    Command(StateCommand),
    /// A state that the embedding program registered under a name.
    Named(NamedState),
}

read_by_type!(ExternalStateSource, None, {
    "command" => Command,
    "named" => Named,
});

/// A command that exits with 0 when a state is reached, and with 1 while it is not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StateCommand {
    /// The program and its arguments. They are not passed to a shell.
    pub command: Vec<String>,
    /// The timeout in seconds. A timeout is an error.
    #[serde(default = "ten_minutes")]
    pub timeout_seconds: u64,
}

/// A state of the embedding program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NamedState {
    /// The name under which the state is registered.
    pub name: String,
}

impl CompletionKind for ExternalState {
    fn build(
        &self,
        needed: &CompletionDependencies,
    ) -> Result<Box<dyn CompletionHandler>, FlowError> {
        let (name, probe): (String, Arc<dyn StateProbe>) = match &self.source {
            ExternalStateSource::Command(command) => {
                needed.commands.resolve(&command.command)?;
                let program = command.command.first().map_or("", String::as_str);
                let probe = CommandProbe {
                    command: command.clone(),
                    runner: Arc::clone(&needed.commands),
                };
                (
                    format!("the state that the command `{program}` reports"),
                    Arc::new(probe),
                )
            }
            ExternalStateSource::Named(NamedState { name }) => {
                let probe = needed.states.get(name).ok_or_else(|| {
                    let known: Vec<&str> = needed.states.names().collect();
                    let known = if known.is_empty() {
                        "no state is registered".to_owned()
                    } else {
                        format!("known states: `{}`", known.join("`, `"))
                    };
                    unresolved(format!("the state `{name}` is not registered; {known}"))
                })?;
                (format!("the state `{name}`"), Arc::clone(probe))
            }
        };
        Ok(Box::new(ExternalStateHandler { name, probe }))
    }

    fn mistakes(&self) -> Vec<Mistake> {
        let mut mistakes = Vec::new();
        match &self.source {
            ExternalStateSource::Command(StateCommand {
                command,
                timeout_seconds,
            }) => {
                if command.first().is_none_or(|it| it.trim().is_empty()) {
                    let hint = "write a program with its arguments, like [\"./is-done.sh\"]";
                    let message = "the command is empty";
                    mistakes.push(Mistake::new("/source/command", message, hint));
                }
                if *timeout_seconds == 0 {
                    let message = "the timeout of the command is 0";
                    let pointer = "/source/timeoutSeconds";
                    mistakes.push(Mistake::new(pointer, message, "write 1 or more"));
                }
            }
            ExternalStateSource::Named(state) => {
                if state.name.trim().is_empty() {
                    let hint = "write the name under which the program registers it";
                    mistakes.push(Mistake::new("/source/name", "the name is blank", hint));
                }
            }
        }
        mistakes
    }

    fn formula(&self) -> Formula {
        Formula::Free
    }

    fn unreachable(&self) -> Option<Unreachable> {
        None
    }

    fn needs(&self) -> CompletionNeeds {
        CompletionNeeds {
            runs_command: matches!(self.source, ExternalStateSource::Command(_)),
            ..CompletionNeeds::default()
        }
    }
}

/// A condition that probes an external state on each check.
struct ExternalStateHandler {
    /// Its description in reasons and errors.
    name: String,
    probe: Arc<dyn StateProbe>,
}

#[async_trait]
impl CompletionHandler for ExternalStateHandler {
    async fn check(&mut self, _: &CompletionContext<'_>) -> Result<CompletionResult, FlowError> {
        let is_reached = self.probe.is_reached().await.map_err(|error| {
            let message = format!("cannot determine {}", self.name);
            FlowError::new(FlowErrorKind::CompletionCheck, message).with_cause(error)
        })?;
        let reason = is_reached.then(|| format!("{} is reached", self.name));
        Ok(reason.into())
    }
}

/// A command that exits with 0 when a state is reached, and with 1 while it is not.
struct CommandProbe {
    command: StateCommand,
    runner: Arc<dyn CommandRunner>,
}

#[async_trait]
impl StateProbe for CommandProbe {
    async fn is_reached(&self) -> Result<bool, BoxError> {
        let time = Duration::from_secs(self.command.timeout_seconds);
        match self.runner.run(&self.command.command, time).await? {
            CommandOutcome::Exited { code: 0 } => Ok(true),
            CommandOutcome::Exited { code: 1 } => Ok(false),
            end => Err(format!(
                "the command {end}; it must exit with 0 if the state is reached, or with 1 if it \
                 is not"
            )
            .into()),
        }
    }
}
