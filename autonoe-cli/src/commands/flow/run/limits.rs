//! Limits of a flow: given options, or else the limits of the interrupted flow.

use autonoe_core::Budget;
use autonoe_core::session::RecordedFlow;
use autonoe_flow::{FlowFact, FlowLimits};

use crate::args::AgentArgs;

/// Returns the limits to set; `None` if no limit is given, so that `recorded` keeps its own.
pub(super) fn limits(agent: &AgentArgs, recorded: Option<&RecordedFlow>) -> Option<FlowLimits> {
    let given = agent.limits.overrides();
    let are_given = given.on_quota.is_some() || given.budget != Budget::default();
    let recorded_limits = recorded.and_then(last_limits).unwrap_or_default();
    are_given.then(|| FlowLimits {
        budget: Budget {
            cost_usd: given.budget.cost_usd.or(recorded_limits.budget.cost_usd),
            tokens: given.budget.tokens.or(recorded_limits.budget.tokens),
            time: given.budget.time.or(recorded_limits.budget.time),
        },
        on_quota: given.on_quota.unwrap_or(recorded_limits.on_quota),
        quota_backoff: recorded_limits.quota_backoff,
    })
}

/// Returns the limits of a flow when it was interrupted.
fn last_limits(recorded: &RecordedFlow) -> Option<FlowLimits> {
    let facts = recorded.facts.iter().rev();
    // Resuming the flow reports facts that cannot be parsed.
    let mut facts = facts.filter_map(|fact| serde_json::from_value(fact.clone()).ok());
    facts.find_map(|fact| match fact {
        FlowFact::Started { limits, .. } | FlowFact::LimitsChanged { limits } => Some(limits),
        _ => None,
    })
}
