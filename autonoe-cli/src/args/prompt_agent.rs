//! Command-line options for the agent of `autonoe ask` and `autonoe flow run`.

use std::time::Duration;

use autonoe_app::BackendChoice;
use autonoe_app::value_parsers::{cost, thinking, time};
use autonoe_core::CostUsd;
use autonoe_core::agent::ThinkingBudget;
use autonoe_core::gate::policy::Destructive;
use clap::Args;

use super::agent::model;
use super::{AgentArgs, LimitArgs, destructive};

/// Options for the agent of a command whose other arguments are words of the operator.
#[derive(Clone, Debug, Args)]
pub(crate) struct PromptAgentArgs {
    /// The backend: `claude`, `codex`, `gemini`, `acp:COMMAND`, `model:PROVIDER/MODEL`,
    /// `scripted:FILE`, or JSON [default: the one in .autonoe/agent.json, else claude]
    #[arg(long, value_name = "BACKEND", help_heading = "Agent")]
    backend: Option<BackendChoice>,
    /// The model [default: chosen by the backend]
    #[arg(long, short = 'm', value_name = "MODEL", value_parser = model)]
    #[arg(help_heading = "Agent")]
    model: Option<String>,
    /// Enable extended thinking with a budget of at least 1024 tokens [default: off; without a
    /// number: 8192]
    // The value must be attached, so that the option does not consume a word of the operator.
    #[arg(long, value_name = "TOKENS", num_args = 0..=1, default_missing_value = "8192")]
    #[arg(require_equals = true, value_parser = thinking, help_heading = "Agent")]
    thinking: Option<ThinkingBudget>,
    /// Maximum total cost, in US dollars
    #[arg(long, value_name = "USD", value_parser = cost, help_heading = "Limits")]
    max_cost: Option<CostUsd>,
    /// Maximum run time, for example 90m, 2h30m or 45s. In a resumed flow, the time between the end
    /// and the resumption counts only if the flow was killed
    #[arg(long, value_name = "TIME", value_parser = time, help_heading = "Limits")]
    max_time: Option<Duration>,
    /// Turn off the sandbox of the agent and of checks, like AUTONOE_NO_SANDBOX=1
    #[arg(long, help_heading = "Safety")]
    no_sandbox: bool,
    /// Allow `rm`, `mv` and `git` commands that discard work, such as `push --force`
    #[arg(long, short = 'D', help_heading = "Safety")]
    allow_destructive: bool,
}

impl PromptAgentArgs {
    /// Returns the agent options in the form that a run uses.
    pub(super) fn agent(&self) -> AgentArgs {
        AgentArgs {
            backend: self.backend.clone(),
            model: self.model.clone(),
            plan_model: None,
            thinking: self.thinking,
            limits: LimitArgs {
                max_cost: self.max_cost,
                max_time: self.max_time,
                ..LimitArgs::default()
            },
            no_sandbox: self.no_sandbox,
        }
    }

    pub(super) fn destructive(&self) -> Destructive {
        destructive(self.allow_destructive)
    }
}
