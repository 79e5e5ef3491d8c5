//! Settings of the process of a member, from the command that starts it.

use std::collections::BTreeMap;

use autonoe_core::{Destructive, ThinkingBudget};
use serde::{Deserialize, Serialize};

use crate::error::CliError;
use crate::surroundings::Surroundings;

/// The variable that holds them: backends may be described with secrets, which belong neither into
/// a file nor into arguments.
pub(super) const VARIABLE: &str = "AUTONOE_HARNESS_SETTINGS";

/// Settings of the process of a member, from the command that starts it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct WorkSettings {
    /// The backends that it may use, by name.
    pub(super) backends: BTreeMap<String, BackendWord>,
    /// The one of tasks that name none.
    pub(super) usual: String,
    /// How many tokens agents may think with.
    pub(super) thinking: Option<u32>,
    /// Whether the sandbox is off.
    pub(super) no_sandbox: bool,
    /// Whether agents may delete and move files.
    pub(super) destructive: bool,
    /// The variables that only the telemetry of the member needs. Nothing that it starts gets them.
    #[serde(default)]
    pub(super) telemetry_keys: Vec<String>,
}

/// A backend, as the command line says it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct BackendWord {
    /// What the command line says; that of the project without it.
    pub(super) backend: Option<String>,
    /// The model of tasks that name none.
    pub(super) model: Option<String>,
}

impl WorkSettings {
    /// Reads what whoever started this process has said.
    pub(super) fn of(surroundings: &Surroundings) -> Result<Self, CliError> {
        let wrong = |why: &str| {
            let message = format!("{VARIABLE} is not understood: {why}");
            CliError::usage(message).with_hint("`autonoe harness run` starts this by itself")
        };
        let text = surroundings
            .variable(VARIABLE)
            .ok_or_else(|| wrong("it is not set"))?;
        // What is wrong may hold a secret, so that it is not repeated.
        serde_json::from_str(text).map_err(|_| wrong("it is something else"))
    }

    pub(super) fn destructive(&self) -> Destructive {
        match self.destructive {
            true => Destructive::Allowed,
            false => Destructive::Forbidden,
        }
    }

    pub(super) fn thinking(&self) -> Option<ThinkingBudget> {
        self.thinking
            .and_then(|tokens| ThinkingBudget::new(tokens).ok())
    }
}
