//! The limits of a flow: those that are given, and else those that it was started with.

use autonoe_core::{Budget, RecordedFlow};
use autonoe_flow::{FlowFact, FlowLimits};

use crate::args::AgentArgs;

/// Returns the limits to set; `None` if the interrupted flow `recorded` keeps its own.
pub(super) fn limits(agent: &AgentArgs, recorded: Option<&RecordedFlow>) -> Option<FlowLimits> {
    let given = agent.limits.given();
    let are_given = given.on_quota.is_some() || given.budget != Budget::default();
    let kept = recorded.and_then(last_limits).unwrap_or_default();
    are_given.then(|| FlowLimits {
        budget: Budget {
            cost_usd: given.budget.cost_usd.or(kept.budget.cost_usd),
            tokens: given.budget.tokens.or(kept.budget.tokens),
            time: given.budget.time.or(kept.budget.time),
        },
        on_quota: given.on_quota.unwrap_or(kept.on_quota),
        quota_backoff: kept.quota_backoff,
    })
}

/// Returns the limits of a flow when it was interrupted.
fn last_limits(recorded: &RecordedFlow) -> Option<FlowLimits> {
    let facts = recorded.facts.iter().rev();
    // A fact that cannot be understood is told when the flow goes on.
    let mut facts = facts.filter_map(|fact| serde_json::from_value(fact.clone()).ok());
    facts.find_map(|fact| match fact {
        FlowFact::Started { limits, .. } | FlowFact::LimitsChanged { limits } => Some(limits),
        _ => None,
    })
}
