//! Command-line options for the agent: backend, models, limits and sandbox.

use std::time::Duration;

use autonoe_app::value_parsers::{cost, pause, thinking, time};
use autonoe_app::{AgentOptions, BackendChoice};
use autonoe_core::agent::ThinkingBudget;
use autonoe_core::run::LimitOverrides;
use autonoe_core::{Budget, CostUsd, OnQuota};
use clap::Args;

/// Options that select an agent and its limits.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Agent")]
pub(crate) struct AgentArgs {
    /// The backend: `claude`, `codex`, `gemini`, `acp:COMMAND`, `model:PROVIDER/MODEL`,
    /// `scripted:FILE`, or JSON [default: the one in .autonoe/agent.json, else claude]
    #[arg(long, value_name = "BACKEND")]
    backend: Option<BackendChoice>,
    /// The model [default: chosen by the backend]
    #[arg(long, short = 'm', value_name = "MODEL", value_parser = model)]
    model: Option<String>,
    /// The model for planning sessions [default: same as --model]
    #[arg(long, short = 'P', value_name = "MODEL", value_parser = model)]
    plan_model: Option<String>,
    /// Enable extended thinking with a budget of at least 1024 tokens [default: off; without a
    /// number: 8192]
    #[arg(long, value_name = "TOKENS", num_args = 0..=1, default_missing_value = "8192")]
    #[arg(value_parser = thinking)]
    thinking: Option<ThinkingBudget>,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    /// Turn off the sandbox of the agent, like AUTONOE_NO_SANDBOX=1
    #[arg(long, help_heading = "Safety")]
    no_sandbox: bool,
    /// Allow `rm`, `mv` and `git` commands that discard work, such as `push --force`
    #[arg(long, short = 'D', help_heading = "Safety")]
    pub(crate) allow_destructive: bool,
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
    pub(crate) fn options(&self) -> AgentOptions {
        AgentOptions {
            backend: self.backend.clone(),
            model: self.model.clone(),
            plan_model: self.plan_model.clone(),
            thinking: self.thinking,
            is_destructive: self.allow_destructive,
            no_sandbox: self.no_sandbox,
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
    pub(crate) fn options(&self) -> AgentOptions {
        AgentOptions {
            backend: self.backend.clone(),
            model: self.model.clone(),
            plan_model: None,
            thinking: self.thinking,
            is_destructive: self.allow_destructive,
            no_sandbox: self.no_sandbox,
        }
    }

    pub(crate) fn budget(&self) -> Budget {
        Budget {
            cost_usd: self.max_cost,
            time: self.max_time,
            ..Budget::default()
        }
    }
}

/// Limits of a run, in this process or in an engine.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Limits")]
pub(crate) struct LimitArgs {
    /// Maximum number of iterations. Sessions that hit the quota or were lost in a crash do not
    /// count. A resumed run counts its earlier iterations
    #[arg(long, short = 'n', value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_iterations: Option<u32>,
    /// Stop after more than N failed sessions in a row; 0 means no retry [default: 3]
    #[arg(long, value_name = "N")]
    pub(crate) max_retries: Option<u32>,
    /// Stop after N sessions in a row without progress; 0 means no limit [default: 5]
    #[arg(long, value_name = "N")]
    pub(crate) max_stalled_sessions: Option<u32>,
    /// Maximum total cost, in US dollars
    #[arg(long, value_name = "USD", value_parser = cost)]
    pub(crate) max_cost: Option<CostUsd>,
    /// Maximum time from now on, for example 90m, 2h30m or 45s
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) max_time: Option<Duration>,
    /// Pause between sessions, for example 0s or 1m [default: 3s]
    #[arg(long, value_name = "TIME", value_parser = pause)]
    pub(crate) pause: Option<Duration>,
    /// Wait for the quota to reset instead of stopping
    #[arg(long)]
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
