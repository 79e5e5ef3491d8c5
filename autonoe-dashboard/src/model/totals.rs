//! What all members come to together.

use autonoe_core::{CostTotal, TokenUsage};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Member, MemberStatus};

/// What all members come to together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Totals {
    /// What was spent, as far as that is known.
    pub cost: CostTotal,
    /// The tokens that were used.
    pub tokens: TokenUsage,
    /// How many members did their work.
    pub done: u32,
    /// How many failed or were stopped.
    pub lost: u32,
    /// How many there are.
    pub total: u32,
}

impl Totals {
    /// Sums up members.
    pub fn of(members: &[Member]) -> Self {
        let mut totals = Self::default();
        for member in members {
            totals.cost.merge(member.cost);
            totals.tokens += member.tokens;
            totals.total = totals.total.saturating_add(1);
            match member.status {
                MemberStatus::Completed => totals.done = totals.done.saturating_add(1),
                MemberStatus::Failed | MemberStatus::Stopped => {
                    totals.lost = totals.lost.saturating_add(1);
                }
                MemberStatus::Pending | MemberStatus::Running | MemberStatus::Paused => {}
            }
        }
        totals
    }
}
