//! Which agent works, and within which limits.

use autonoe_core::{Models, ThinkingBudget};
use clap::Args;

use super::LimitArgs;
use super::money_and_time::thinking;
use crate::compose::{BackendChoice, Wanted, sandbox_switch};
use crate::surroundings::Surroundings;

/// Which agent works, and within which limits.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct AgentArgs {
    /// What runs the agent: `claude`, `codex`, `gemini`, `acp:COMMAND`, `model:PROVIDER/MODEL`,
    /// `scripted:FILE`, or JSON [default: that of .autonoe/agent.json, else claude]
    #[arg(long, value_name = "BACKEND")]
    #[arg(help_heading = "Agent")]
    pub(crate) backend: Option<BackendChoice>,
    /// The model [default: the backend's own]
    #[arg(long, short = 'm', value_name = "MODEL", value_parser = model)]
    #[arg(help_heading = "Agent")]
    pub(crate) model: Option<String>,
    /// The model of sessions that plan [default: that of the others]
    #[arg(long, short = 'P', value_name = "MODEL", value_parser = model)]
    #[arg(help_heading = "Agent")]
    pub(crate) plan_model: Option<String>,
    /// Let the agent think, with 1024 tokens or more [default: off; without a number: 8192]
    #[arg(long, value_name = "TOKENS", num_args = 0..=1, default_missing_value = "8192")]
    #[arg(value_parser = thinking)]
    #[arg(help_heading = "Agent")]
    pub(crate) thinking: Option<ThinkingBudget>,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    /// Switch the sandbox of the agent off; only AUTONOE_NO_SANDBOX=1 does the same
    #[arg(long)]
    #[arg(help_heading = "Safety")]
    pub(crate) no_sandbox: bool,
}

/// Reads the name of a model.
pub(super) fn model(name: &str) -> Result<String, String> {
    match name.trim().is_empty() {
        true => Err("write the name of a model, or leave the option out".to_owned()),
        false => Ok(name.to_owned()),
    }
}

impl AgentArgs {
    pub(crate) fn models(&self) -> Models {
        Models {
            planning: self.plan_model.clone(),
            implementation: self.model.clone(),
        }
    }

    /// Returns what a backend must be able to give.
    pub(crate) fn wanted(&self, surroundings: &Surroundings) -> Wanted<'_> {
        Wanted {
            model: self.model.as_deref(),
            plan_model: self.plan_model.as_deref(),
            thinking: self.thinking,
            sandbox: sandbox_switch(self.no_sandbox, surroundings),
        }
    }
}
