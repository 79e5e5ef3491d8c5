//! Configuration of each type of completion condition.

use autonoe_core::ledger::DeliverableId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::definition::check::{KeywordMode, ten_minutes};
use crate::definition::nested::read_by_type;

/// Complete when the flow reaches the end of its steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StepMachine {}

/// Complete after a number of iterations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct IterationBudget {
    /// The number of iterations. Each prompt that is sent for a step is one, including retries.
    pub max_iterations: u32,
}

/// Complete after a number of checks of steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CheckBudget {
    /// The number of checks, passed or failed.
    pub max_checks: u32,
}

/// Complete when an answer of the agent contains a keyword.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct KeywordSignal {
    /// The keywords, case-sensitive and as whole words, in the text parts of answers.
    pub keywords: Vec<String>,
    /// Whether one or all of the keywords are needed.
    #[serde(default)]
    pub mode: KeywordMode,
}

/// Complete when the agent has sent a signal with fields, through a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StructuredSignal {
    /// The name of the signal, for example `done`.
    pub signal: String,
    /// The required fields of the signal.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub required_fields: Vec<String>,
}

/// Complete when a step of a terminal phase has passed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PhaseCompletion {
    /// The terminal phases. One of them is enough.
    pub terminal_phases: Vec<String>,
}

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

/// Complete when the deliverables of the ledger have passed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Deliverables {
    /// The ids of the required deliverables. By default they are all achievable ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ids: Vec<DeliverableId>,
}
