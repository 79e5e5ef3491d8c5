//! [`ExternalState`]: a state outside of a flow is reached.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::command::{CommandOutcome, CommandRunner};
use crate::completion::dependencies::{CompletionDependencies, StateProbe, unresolved};
use crate::completion::kind::{CompletionKind, LastResult, Mistake, Needs, Unreachable};
use crate::definition::{read_by_type, ten_minutes};
use crate::error::{FlowError, FlowErrorKind};
use crate::port::{CompletionContext, CompletionHandler, CompletionResult};
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
        let handler = match &self.source {
            ExternalStateSource::Command(command) => {
                needed.commands.resolve(&command.command)?;
                ExternalStateHandler::command(command, Arc::clone(&needed.commands))
            }
            ExternalStateSource::Named(state) => {
                let name = &state.name;
                let probe = needed.states.get(name).ok_or_else(|| {
                    let known: Vec<&str> = needed.states.names().collect();
                    let known = if known.is_empty() {
                        "no state is registered".to_owned()
                    } else {
                        format!("known states: `{}`", known.join("`, `"))
                    };
                    unresolved(format!("the state `{name}` is not registered; {known}"))
                })?;
                ExternalStateHandler::named(name, Arc::clone(probe))
            }
        };
        Ok(Box::new(handler))
    }

    fn mistakes(&self) -> Vec<Mistake> {
        let mut found = Vec::new();
        match &self.source {
            ExternalStateSource::Command(StateCommand {
                command,
                timeout_seconds,
            }) => {
                if command.first().is_none_or(|it| it.trim().is_empty()) {
                    let hint = "write a program with its arguments, like [\"./is-done.sh\"]";
                    let message = "the command is empty";
                    found.push(Mistake::new("/source/command", message, hint));
                }
                if *timeout_seconds == 0 {
                    let message = "the timeout of the command is 0";
                    let pointer = "/source/timeoutSeconds";
                    found.push(Mistake::new(pointer, message, "write 1 or more"));
                }
            }
            ExternalStateSource::Named(state) => {
                if state.name.trim().is_empty() {
                    let hint = "write the name under which the program registers it";
                    found.push(Mistake::new("/source/name", "the name is blank", hint));
                }
            }
        }
        found
    }

    fn formula(&self) -> Formula {
        Formula::Free
    }

    fn unreachable(&self) -> Option<Unreachable> {
        None
    }

    fn needs(&self) -> Needs {
        Needs {
            runs_command: match self.source {
                ExternalStateSource::Command(_) => true,
                ExternalStateSource::Named(_) => false,
            },
            ..Needs::default()
        }
    }
}

/// A condition that probes an external state on each check.
struct ExternalStateHandler {
    /// Its description in reasons and errors.
    name: String,
    probe: Arc<dyn StateProbe>,
    last: LastResult,
}

impl ExternalStateHandler {
    fn named(name: &str, probe: Arc<dyn StateProbe>) -> Self {
        Self {
            name: format!("the state `{name}`"),
            probe,
            last: LastResult::default(),
        }
    }

    fn command(command: &StateCommand, runner: Arc<dyn CommandRunner>) -> Self {
        let program = command.command.first().map_or("", String::as_str);
        Self {
            name: format!("the state that the command `{program}` reports"),
            probe: Arc::new(Command {
                command: command.clone(),
                runner,
            }),
            last: LastResult::default(),
        }
    }
}

#[async_trait]
impl CompletionHandler for ExternalStateHandler {
    async fn check(&mut self, _: &CompletionContext<'_>) -> Result<CompletionResult, FlowError> {
        self.last.reset();
        let is_reached = self.probe.is_reached().await.map_err(|error| {
            let message = format!("cannot determine {}", self.name);
            FlowError::new(FlowErrorKind::CompletionCheck, message).with_cause(error)
        })?;
        let reason = is_reached.then(|| format!("{} is reached", self.name));
        Ok(self.last.set(reason))
    }

    fn is_complete(&self) -> bool {
        self.last.is_complete()
    }

    fn reason(&self) -> &str {
        self.last.reason()
    }
}

/// A command that exits with 0 when a state is reached, and with 1 while it is not.
struct Command {
    command: StateCommand,
    runner: Arc<dyn CommandRunner>,
}

#[async_trait]
impl StateProbe for Command {
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
