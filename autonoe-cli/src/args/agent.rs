//! Command-line options for the agent: backend, models, limits and sandbox.

use autonoe_app::value_parsers::thinking;
use autonoe_app::{BackendChoice, RequestedOptions, sandbox_switch};
use autonoe_core::agent::ThinkingBudget;
use autonoe_core::run::Models;
use clap::Args;

use super::LimitArgs;
use crate::cli_env::CliEnv;

/// Options that select an agent and its limits.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct AgentArgs {
    /// The backend: `claude`, `codex`, `gemini`, `acp:COMMAND`, `model:PROVIDER/MODEL`,
    /// `scripted:FILE`, or JSON [default: the one in .autonoe/agent.json, else claude]
    #[arg(long, value_name = "BACKEND")]
    #[arg(help_heading = "Agent")]
    pub(crate) backend: Option<BackendChoice>,
    /// The model [default: chosen by the backend]
    #[arg(long, short = 'm', value_name = "MODEL", value_parser = model)]
    #[arg(help_heading = "Agent")]
    pub(crate) model: Option<String>,
    /// The model for planning sessions [default: same as --model]
    #[arg(long, short = 'P', value_name = "MODEL", value_parser = model)]
    #[arg(help_heading = "Agent")]
    pub(crate) plan_model: Option<String>,
    /// Enable extended thinking with a budget of at least 1024 tokens [default: off; without a
    /// number: 8192]
    #[arg(long, value_name = "TOKENS", num_args = 0..=1, default_missing_value = "8192")]
    #[arg(value_parser = thinking)]
    #[arg(help_heading = "Agent")]
    pub(crate) thinking: Option<ThinkingBudget>,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    /// Turn off the sandbox of the agent, like AUTONOE_NO_SANDBOX=1
    #[arg(long)]
    #[arg(help_heading = "Safety")]
    pub(crate) no_sandbox: bool,
}

/// Parses a model name, which must not be blank.
pub(super) fn model(name: &str) -> Result<String, String> {
    if name.trim().is_empty() {
        Err("expected the name of a model; omit the option to use the default".to_owned())
    } else {
        Ok(name.to_owned())
    }
}

impl AgentArgs {
    pub(crate) fn models(&self) -> Models {
        Models {
            planning: self.plan_model.clone(),
            implementation: self.model.clone(),
        }
    }

    /// Returns the options that a backend must support.
    pub(crate) fn requirements(&self, env: &CliEnv) -> RequestedOptions<'_> {
        RequestedOptions {
            model: self.model.as_deref(),
            plan_model: self.plan_model.as_deref(),
            thinking: self.thinking,
            sandbox: sandbox_switch(self.no_sandbox, env),
        }
    }
}
