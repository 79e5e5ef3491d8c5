//! Settings for the process of a member, from the command that starts it.

use std::collections::BTreeMap;

use autonoe_core::agent::ThinkingBudget;
use autonoe_core::gate::policy::Destructive;
use serde::{Deserialize, Serialize};

use crate::args::destructive;
use crate::cli_env::CliEnv;
use crate::error::CliError;

/// Environment variable that holds the settings. Backends may contain secrets, which must be
/// neither in a file nor in arguments.
pub(super) const VARIABLE: &str = "AUTONOE_HARNESS_SETTINGS";

/// Settings for the process of a member, from the command that starts it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct WorkSettings {
    /// The backends that the member may use, by name.
    pub(super) backends: BTreeMap<String, BackendSetting>,
    /// The backend of tasks without an explicit one.
    pub(super) default_backend: String,
    /// The thinking budget of agents, in tokens.
    pub(super) thinking: Option<u32>,
    /// Whether the sandbox is off.
    pub(super) no_sandbox: bool,
    /// Whether agents may delete and move files.
    pub(super) destructive: bool,
    /// The variables that only the telemetry of the member needs. Child processes do not inherit
    /// them.
    #[serde(default)]
    pub(super) telemetry_keys: Vec<String>,
}

/// A backend, as the command line describes it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct BackendSetting {
    /// The value of `--backend`; `None` for the backend of the project.
    pub(super) backend: Option<String>,
    /// The model of tasks without an explicit one.
    pub(super) model: Option<String>,
}

impl WorkSettings {
    /// Reads the settings from the environment of this process.
    pub(super) fn from_env(env: &CliEnv) -> Result<Self, CliError> {
        let invalid = |why: &str| {
            let message = format!("{VARIABLE} is invalid: {why}");
            CliError::usage(message).with_hint("`autonoe harness run` starts this command itself")
        };
        let text = env
            .variable(VARIABLE)
            .ok_or_else(|| invalid("it is not set"))?;
        // The error is not printed, because it may contain a secret.
        serde_json::from_str(text).map_err(|_| invalid("it has another format"))
    }

    pub(super) fn destructive(&self) -> Destructive {
        destructive(self.destructive)
    }

    pub(super) fn thinking(&self) -> Option<ThinkingBudget> {
        self.thinking
            .and_then(|tokens| ThinkingBudget::new(tokens).ok())
    }
}
