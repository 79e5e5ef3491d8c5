//! Impact of an ended session on the run.

use jiff::Timestamp;

use super::SessionPlan;
use crate::agent::{
    Activity, BudgetKind, CostUsd, SessionEnd, SessionOutcome, SessionProgress, SessionReport,
};
use crate::event::{Failure, Phase};
use crate::ledger::LedgerView;

/// The impact of an ended session on the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SessionImpact {
    /// The session did its work, which resets the count of errors in a row.
    Completed,
    /// Neither a success nor an error.
    Neutral,
    /// The quota is exceeded.
    Quota { resets_at: Option<Timestamp> },
    /// The budget of the run is spent.
    BudgetSpent(BudgetKind),
    /// It counts as an error.
    Error(Failure),
}

impl SessionImpact {
    /// Returns whether the agent presumably read its prompt.
    pub(super) fn prompt_was_read(&self, result: &SessionReport) -> bool {
        match self {
            Self::Completed => true,
            Self::Neutral | Self::BudgetSpent(_) => result.activity == Activity::Some,
            Self::Quota { .. } | Self::Error(_) => false,
        }
    }
}

/// Returns the number of sessions in a row without progress after an ended session, given the
/// number before it.
///
/// A session that failed, hit the quota or was cancelled leaves the number unchanged unless it made
/// progress: the error limit, the quota rules or the caller handle those sessions. Unknown progress
/// counts as progress, so that no run stops on a guess.
pub(super) fn stalled_sessions(
    before: u32,
    meaning: &SessionImpact,
    result: &SessionReport,
    plan: &SessionPlan,
) -> u32 {
    let stalled = match meaning {
        // A completed plan leads to the next phase, also if there was nothing to change.
        SessionImpact::Completed if plan.instruction.phase() == Phase::Planning => return 0,
        SessionImpact::Completed => true,
        SessionImpact::Neutral => result.end != SessionEnd::Cancelled,
        SessionImpact::Quota { .. } | SessionImpact::BudgetSpent(_) | SessionImpact::Error(_) => {
            false
        }
    };
    match (result.progress, stalled) {
        (SessionProgress::Made, _) | (SessionProgress::Unknown, true) => 0,
        (SessionProgress::None, true) => before.saturating_add(1),
        (SessionProgress::None | SessionProgress::Unknown, false) => before,
    }
}

/// Returns the impact of `result`, given the plan of the session and the ledger before and after
/// it.
pub(super) fn impact(
    result: &SessionReport,
    plan: &SessionPlan,
    before: &LedgerView,
    after: &LedgerView,
) -> SessionImpact {
    match &result.end {
        SessionEnd::Outcome(
            outcome @ (SessionOutcome::Completed
            | SessionOutcome::MaxTurns
            | SessionOutcome::Interrupted),
        ) => {
            let completed = *outcome == SessionOutcome::Completed;
            match flaw(result, plan, completed, before, after) {
                Some(error) => SessionImpact::Error(error),
                None if completed => SessionImpact::Completed,
                None => SessionImpact::Neutral,
            }
        }
        SessionEnd::Outcome(SessionOutcome::ExecutionError { messages }) => {
            let message = match messages.as_slice() {
                [] => "the agent reported an error without a message".to_owned(),
                messages => messages.join("; "),
            };
            SessionImpact::Error(Failure::retryable("execution_error", message))
        }
        // The only budget of a session is the rest of the run's budget.
        SessionEnd::Outcome(SessionOutcome::BudgetExceeded) => match limiting_budget(plan) {
            Some(budget) => SessionImpact::BudgetSpent(budget),
            None => SessionImpact::Error(Failure::retryable(
                "budget_exceeded",
                "the session exceeded a budget that the backend sets itself",
            )),
        },
        SessionEnd::Outcome(SessionOutcome::QuotaExceeded { resets_at, .. }) => {
            SessionImpact::Quota {
                resets_at: *resets_at,
            }
        }
        SessionEnd::Failed { error } => SessionImpact::Error(error.clone()),
        SessionEnd::BudgetSpent { budget } => SessionImpact::BudgetSpent(*budget),
        SessionEnd::Cancelled => SessionImpact::Neutral,
    }
}

/// Returns the reason why a normally ended session counts as failed.
fn flaw(
    result: &SessionReport,
    plan: &SessionPlan,
    completed: bool,
    before: &LedgerView,
    after: &LedgerView,
) -> Option<Failure> {
    if result.activity == Activity::None {
        return Some(Failure::retryable(
            "empty_session",
            "the agent ended its session without saying or doing anything",
        ));
    }
    // A completed sync may find nothing to change. A sync that was cut short must at least have
    // made progress, or it could be cut short forever.
    let planned_nothing = after.counts.is_empty() || (!completed && after.counts == before.counts);
    if plan.instruction.phase() == Phase::Planning && planned_nothing {
        return Some(Failure::retryable(
            Failure::NOTHING_PLANNED,
            format!("the {} session created no deliverable", plan.instruction),
        ));
    }
    // If only a part of the cost is unknown, such as one interrupted call, the run continues until
    // there are too many unknown parts.
    let no_cost_reported = result.cost.unknown_parts > 0 && result.cost.known_usd == CostUsd::ZERO;
    if plan.budget.cost_usd.is_some() && no_cost_reported {
        return Some(Failure::permanent(
            "cost_not_reported",
            "the agent did not report what the session cost, so the cost budget cannot be \
             enforced",
        ));
    }
    // An interrupted session may have ended before it reported its tokens.
    let tokens_reported =
        result.tokens.total() > 0 || result.end == SessionEnd::Outcome(SessionOutcome::Interrupted);
    if plan.budget.tokens.is_some() && !tokens_reported {
        return Some(Failure::permanent(
            "tokens_not_reported",
            "the agent did not report how many tokens the session used, so the token budget \
             cannot be enforced",
        ));
    }
    None
}

/// Returns the budget that limited the session: cost first, then tokens, then time.
fn limiting_budget(plan: &SessionPlan) -> Option<BudgetKind> {
    let budget = &plan.budget;
    let money = budget.cost_usd.map(|_| BudgetKind::Cost);
    let tokens = budget.tokens.map(|_| BudgetKind::Tokens);
    money.or(tokens).or(budget.time.map(|_| BudgetKind::Time))
}
