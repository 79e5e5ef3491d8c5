//! The limits of a run.

use std::time::Duration;

use autonoe_core::{Budget, CostUsd, GivenLimits, OnQuota};
use clap::Args;

use super::money_and_time::{cost, pause, time};

/// Limits of a run, in this process or in an engine.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct LimitArgs {
    /// How many sessions in total, including the earlier ones of a resumed run
    #[arg(long, short = 'n', value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    #[arg(help_heading = "Limits")]
    pub(crate) max_iterations: Option<u32>,
    /// How many failed sessions in a row are tried again [default: 3]
    #[arg(long, value_name = "N")]
    #[arg(help_heading = "Limits")]
    pub(crate) max_retries: Option<u32>,
    /// Stop the run after N sessions in a row without progress; 0 means no limit [default: 5]
    #[arg(long, value_name = "N")]
    #[arg(help_heading = "Limits")]
    pub(crate) max_stalled_sessions: Option<u32>,
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
}

impl LimitArgs {
    /// Returns the limits that the command line gives; the others are left alone.
    pub(crate) fn given(&self) -> GivenLimits {
        GivenLimits {
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
