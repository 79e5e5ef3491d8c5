//! [`Totals`]: sums over all members of a fleet.

use autonoe_core::agent::{CostTotal, TokenUsage};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{MemberRow, MemberRowStatus};

/// Sums over all members of a fleet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Totals {
    /// Cost, as far as known.
    pub cost: CostTotal,
    /// Tokens used.
    pub tokens: TokenUsage,
    /// Number of members that completed their work.
    pub done: u32,
    /// Number of members that failed or were stopped.
    pub lost: u32,
    /// Number of members.
    pub total: u32,
}

impl Totals {
    /// Sums up `members`.
    pub fn from_members(members: &[MemberRow]) -> Self {
        let mut totals = Self::default();
        for member in members {
            totals.cost.merge(member.cost);
            totals.tokens += member.tokens;
            totals.total = totals.total.saturating_add(1);
            match member.status {
                MemberRowStatus::Completed => totals.done = totals.done.saturating_add(1),
                MemberRowStatus::Failed | MemberRowStatus::Stopped => {
                    totals.lost = totals.lost.saturating_add(1);
                }
                MemberRowStatus::Pending | MemberRowStatus::Running | MemberRowStatus::Paused => {}
            }
        }
        totals
    }
}
