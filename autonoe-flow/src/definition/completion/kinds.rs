//! What each way of being complete needs to know.

use autonoe_core::DeliverableId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::definition::check::{KeywordMode, ten_minutes};
use crate::definition::nested::read_by_type;

/// Complete when the steps have come to their end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StepMachine {}

/// Complete after so many iterations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct IterationBudget {
    /// How many: each prompt that is sent for a step is one, new tries included.
    pub max_iterations: u32,
}

/// Complete after so many checks of steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CheckBudget {
    /// How many, whatever their verdict.
    pub max_checks: u32,
}

/// Complete when the agent has said a word.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct KeywordSignal {
    /// The words, as they are spelled, each as a word of its own. They are searched in the text parts of answers.
    pub keywords: Vec<String>,
    /// Whether one of them is enough.
    #[serde(default)]
    pub mode: KeywordMode,
}

/// Complete when the agent has given a signal with fields, through a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StructuredSignal {
    /// The name of the signal, for example `done`.
    pub signal: String,
    /// The fields that it must have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub required_fields: Vec<String>,
}

/// Complete when a step of a last phase has passed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PhaseCompletion {
    /// The last phases; one of them is enough.
    pub terminal_phases: Vec<String>,
}

/// Complete when something outside says so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ExternalState {
    /// Who is asked.
    pub source: ExternalStateSource,
}

/// Who is asked for a state outside of the flow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum ExternalStateSource {
    /// A command.
    Command(StateCommand),
    /// Something that the embedder registered under a name.
    Named(NamedState),
}

read_by_type!(ExternalStateSource, None, {
    "command" => Command,
    "named" => Named,
});

/// A command that ends with exit code 0 when a state is reached, and with 1 while it is not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StateCommand {
    /// The program and its arguments; no shell is between.
    pub command: Vec<String>,
    /// After how many seconds it is ended; that is an error and no answer.
    #[serde(default = "ten_minutes")]
    pub timeout_seconds: u64,
}

/// A state that the embedder knows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NamedState {
    /// The name under which it was registered.
    pub name: String,
}

/// Complete when the deliverables of the ledger have passed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Deliverables {
    /// Those that must have passed; all that can be achieved, if nothing is said.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ids: Vec<DeliverableId>,
}
