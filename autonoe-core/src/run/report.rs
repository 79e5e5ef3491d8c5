//! [`RunReport`], the result of a run.

use std::fmt;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::agent::{CostTotal, TokenUsage};
use crate::ledger::LedgerView;
use crate::run::ExitReason;
use crate::time::millis;
use crate::time::{Mode, RunId, format_duration};

/// The result of a run. Always returned, however the run ended.
///
/// Its `Display` is a short summary for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RunReport {
    /// The run.
    pub run: RunId,
    /// The reason why it ended.
    #[serde(flatten)]
    pub exit: ExitReason,
    /// The sessions that count: all except those that hit the quota.
    pub iterations: u32,
    /// All started sessions.
    pub sessions: u32,
    /// The deliverables by status; `None` if the run ended before it read the ledger.
    #[serde(flatten)]
    pub deliverables: Option<ReportedCounts>,
    /// The duration of the run, including waits.
    #[serde(rename = "totalDurationMs", with = "millis")]
    #[schemars(with = "u64")]
    pub elapsed: Duration,
    /// The cost of the run.
    #[serde(rename = "totalCost")]
    pub cost: CostTotal,
    /// The tokens it used.
    pub tokens: TokenUsage,
    /// Messages that no agent has read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub undelivered_messages: Vec<String>,
}

/// The deliverables by status at the end of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct ReportedCounts {
    /// The deliverables that passed.
    #[serde(rename = "deliverablesPassedCount")]
    pub passed: usize,
    /// The deliverables that count.
    #[serde(rename = "deliverablesTotalCount")]
    pub total: usize,
    /// The deliverables that are blocked.
    #[serde(rename = "blockedCount")]
    pub blocked: usize,
    /// The deliverables that a sync verified.
    #[serde(rename = "verifiedCount")]
    pub verified: usize,
    /// The deliverables that a sync has to verify.
    #[serde(rename = "verifiedTotalCount")]
    pub verified_total: usize,
}

impl ReportedCounts {
    /// Counts `ledger` at the end of a run of `mode`. Only a sync verifies deliverables.
    pub(crate) fn new(ledger: &LedgerView, mode: Mode) -> Self {
        let counts = ledger.counts;
        let (verified, verified_total) = match mode {
            Mode::Run => (0, 0),
            Mode::Sync => (ledger.verified, counts.total),
        };
        Self {
            passed: counts.passed,
            total: counts.total,
            blocked: counts.blocked,
            verified,
            verified_total,
        }
    }
}

impl fmt::Display for ReportedCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} deliverables passed", self.passed, self.total)?;
        if self.blocked > 0 {
            write!(f, ", {} blocked", self.blocked)?;
        }
        if self.verified_total > 0 {
            write!(f, ", {} of {} verified", self.verified, self.verified_total)?;
        }
        Ok(())
    }
}

impl fmt::Display for RunReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "Run {} ended: {}", self.run, self.exit)?;
        if let Some(deliverables) = &self.deliverables {
            write!(f, "{deliverables}; ")?;
        }
        write_effort(f, (self.iterations, "iteration"), self.elapsed, self.cost)
    }
}

/// Writes the last line of a summary: a count, the duration and the cost.
pub(super) fn write_effort(
    f: &mut fmt::Formatter<'_>,
    (count, noun): (u32, &str),
    elapsed: Duration,
    cost: CostTotal,
) -> fmt::Result {
    let plural = if count == 1 { "" } else { "s" };
    let elapsed = format_duration(elapsed);
    write!(f, "{count} {noun}{plural}, {elapsed}, {cost}")
}
