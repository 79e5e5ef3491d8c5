//! Command-line options for the agent: backend, models, limits and sandbox.

use std::time::Duration;

use autonoe_app::value_parsers::{cost, pause, thinking, time};
use autonoe_app::{BackendChoice, RequestedOptions, sandbox_switch};
use autonoe_core::agent::ThinkingBudget;
use autonoe_core::gate::policy::Destructive;
use autonoe_core::run::{LimitOverrides, Models};
use autonoe_core::{Budget, CostUsd, OnQuota};
use clap::Args;

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

/// Returns the policy for destructive commands.
pub(crate) fn destructive(is_allowed: bool) -> Destructive {
    if is_allowed {
        Destructive::Allowed
    } else {
        Destructive::Forbidden
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

/// Limits of a run, in this process or in an engine.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct LimitArgs {
    /// Maximum number of iterations. Sessions that hit the quota or were lost in a crash do not
    /// count. A resumed run counts its earlier iterations
    #[arg(long, short = 'n', value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    #[arg(help_heading = "Limits")]
    pub(crate) max_iterations: Option<u32>,
    /// Stop after more than N failed sessions in a row; 0 means no retry [default: 3]
    #[arg(long, value_name = "N")]
    #[arg(help_heading = "Limits")]
    pub(crate) max_retries: Option<u32>,
    /// Stop after N sessions in a row without progress; 0 means no limit [default: 5]
    #[arg(long, value_name = "N")]
    #[arg(help_heading = "Limits")]
    pub(crate) max_stalled_sessions: Option<u32>,
    /// Maximum total cost, in US dollars
    #[arg(long, value_name = "USD", value_parser = cost)]
    #[arg(help_heading = "Limits")]
    pub(crate) max_cost: Option<CostUsd>,
    /// Maximum time from now on, for example 90m, 2h30m or 45s
    #[arg(long, value_name = "TIME", value_parser = time)]
    #[arg(help_heading = "Limits")]
    pub(crate) max_time: Option<Duration>,
    /// Pause between sessions, for example 0s or 1m [default: 3s]
    #[arg(long, value_name = "TIME", value_parser = pause)]
    #[arg(help_heading = "Limits")]
    pub(crate) pause: Option<Duration>,
    /// Wait for the quota to reset instead of stopping
    #[arg(long)]
    #[arg(help_heading = "Limits")]
    pub(crate) wait_for_quota: bool,
}

impl LimitArgs {
    /// Returns the limits from the command line. Limits without an option stay `None`.
    pub(crate) fn overrides(&self) -> LimitOverrides {
        LimitOverrides {
            max_iterations: self.max_iterations,
            max_retries: self.max_retries,
            max_stalled_sessions: self.max_stalled_sessions,
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
