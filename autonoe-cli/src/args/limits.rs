//! Command-line options for the limits of a run.

use std::time::Duration;

use autonoe_app::value_parsers::{cost, pause, time};
use autonoe_core::run::LimitOverrides;
use autonoe_core::{Budget, CostUsd, OnQuota};
use clap::Args;

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
