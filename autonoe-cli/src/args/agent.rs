//! Which agent works, and within which limits.

use std::time::Duration;

use autonoe_core::{Budget, CostUsd, GivenLimits, Models, OnQuota, ThinkingBudget};
use clap::Args;

use super::money_and_time::{cost, pause, thinking, time};
use crate::compose::{BackendChoice, Wanted, sandbox_switch};
use crate::surroundings::Surroundings;

/// Which agent works, and within which limits.
#[derive(Clone, Debug, Args)]
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
    #[arg(long, value_name = "MODEL", value_parser = model)]
    #[arg(help_heading = "Agent")]
    pub(crate) plan_model: Option<String>,
    /// Let the agent think, with 1024 tokens or more [default: off; without a number: 8192]
    #[arg(long, value_name = "TOKENS", num_args = 0..=1, default_missing_value = "8192")]
    #[arg(value_parser = thinking)]
    #[arg(help_heading = "Agent")]
    pub(crate) thinking: Option<ThinkingBudget>,
    /// How many sessions in total, those of a run that is gone on with included
    #[arg(long, short = 'n', value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    #[arg(help_heading = "Limits")]
    pub(crate) max_iterations: Option<u32>,
    /// How many failed sessions in a row are tried again [default: 3]
    #[arg(long, value_name = "N")]
    #[arg(help_heading = "Limits")]
    pub(crate) max_retries: Option<u32>,
    /// How much money may be spent in total, in dollars
    #[arg(long, value_name = "USD", value_parser = cost)]
    #[arg(help_heading = "Limits")]
    pub(crate) max_cost: Option<CostUsd>,
    /// How long it may take from now on, in hours (h), minutes (m) and seconds (s): 90m, 2h30m, 45s
    #[arg(long, value_name = "TIME", value_parser = time)]
    #[arg(help_heading = "Limits")]
    pub(crate) max_time: Option<Duration>,
    /// How long to pause between sessions, with units as above [default: 3s]
    #[arg(long, value_name = "TIME", value_parser = pause)]
    #[arg(help_heading = "Limits")]
    pub(crate) pause: Option<Duration>,
    /// Wait until the quota comes back instead of stopping
    #[arg(long)]
    #[arg(help_heading = "Limits")]
    pub(crate) wait_for_quota: bool,
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

    /// Returns the limits that the command line gives; the others are left alone.
    pub(crate) fn limits(&self) -> GivenLimits {
        GivenLimits {
            max_iterations: self.max_iterations,
            max_retries: self.max_retries,
            on_quota: self.wait_for_quota.then_some(OnQuota::Wait),
            quota_backoff: None,
            pause: self.pause,
            budget: Budget {
                cost_usd: self.max_cost,
                time: self.max_time,
                ..Budget::default()
            },
        }
    }
}
