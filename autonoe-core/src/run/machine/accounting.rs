//! What a session that ended means for the run.

use jiff::Timestamp;

use super::SessionPlan;
use crate::domain::{
    Activity, BudgetKind, CostUsd, Failure, LedgerView, Phase, SessionEnd, SessionOutcome,
    SessionProgress, SessionResult,
};

/// What a session that ended means for the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// It did its work: the row of errors is broken.
    Completed,
    /// Neither a success nor an error.
    Neutral,
    /// The quota is spent.
    Quota { resets_at: Option<Timestamp> },
    /// The budget of the run is spent.
    Spent(BudgetKind),
    /// It counts as an error.
    Error(Failure),
}

impl Meaning {
    /// Tells whether the agent can be taken to have read its prompt.
    pub(super) fn shows_a_reader(&self, result: &SessionResult) -> bool {
        match self {
            Self::Completed => true,
            Self::Neutral | Self::Spent(_) => result.activity == Activity::Some,
            Self::Quota { .. } | Self::Error(_) => false,
        }
    }
}

/// Returns the number of sessions in a row without progress after a session that ended, given the
/// number before it.
///
/// A session that failed, hit the quota or was cancelled leaves the number as it is unless it made
/// progress: the error limit, the quota rules or the caller decide about those sessions. Unknown
/// progress counts as progress, so that no run stops on a guess.
pub(super) fn stalled_sessions(
    before: u32,
    meaning: &Meaning,
    result: &SessionResult,
    plan: &SessionPlan,
) -> u32 {
    let stalled = match meaning {
        // A completed plan leads to the next phase, also if there was nothing to change.
        Meaning::Completed if plan.instruction.phase() == Phase::Planning => return 0,
        Meaning::Completed => true,
        Meaning::Neutral => result.end != SessionEnd::Cancelled,
        Meaning::Quota { .. } | Meaning::Spent(_) | Meaning::Error(_) => false,
    };
    match (result.progress, stalled) {
        (SessionProgress::Made, _) | (SessionProgress::Unknown, true) => 0,
        (SessionProgress::None, true) => before.saturating_add(1),
        (SessionProgress::None | SessionProgress::Unknown, false) => before,
    }
}

/// Says what `result` means, given the plan of the session and the ledger before and after it.
pub(super) fn meaning(
    result: &SessionResult,
    plan: &SessionPlan,
    before: &LedgerView,
    after: &LedgerView,
) -> Meaning {
    match &result.end {
        SessionEnd::Outcome(
            outcome @ (SessionOutcome::Completed
            | SessionOutcome::MaxTurns
            | SessionOutcome::Interrupted),
        ) => {
            let completed = *outcome == SessionOutcome::Completed;
            match flaw(result, plan, completed, before, after) {
                Some(error) => Meaning::Error(error),
                None if completed => Meaning::Completed,
                None => Meaning::Neutral,
            }
        }
        SessionEnd::Outcome(SessionOutcome::ExecutionError { messages }) => {
            let message = match messages.as_slice() {
                [] => "the agent reported an error without a message".to_owned(),
                messages => messages.join("; "),
            };
            Meaning::Error(Failure::retryable("execution_error", message))
        }
        // What is left of the run's budget is all the budget that a session is given.
        SessionEnd::Outcome(SessionOutcome::BudgetExceeded) => match limited(plan) {
            Some(budget) => Meaning::Spent(budget),
            None => Meaning::Error(Failure::retryable(
                "budget_exceeded",
                "the session spent a budget of its backend's own",
            )),
        },
        SessionEnd::Outcome(SessionOutcome::QuotaExceeded { resets_at, .. }) => Meaning::Quota {
            resets_at: *resets_at,
        },
        SessionEnd::Failed { error } => Meaning::Error(error.clone()),
        SessionEnd::BudgetSpent { budget } => Meaning::Spent(*budget),
        SessionEnd::Cancelled => Meaning::Neutral,
    }
}

/// Returns what is wrong with a session that ended in order.
fn flaw(
    result: &SessionResult,
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
    // A sync that completes may find nothing to change; one that was cut short
    // must at least have got on, or it would be cut short for ever.
    let planned_nothing = after.counts.is_empty() || (!completed && after.counts == before.counts);
    if plan.instruction.phase() == Phase::Planning && planned_nothing {
        return Some(Failure::retryable(
            Failure::NOTHING_PLANNED,
            format!("the {} session created no deliverable", plan.instruction),
        ));
    }
    // Where only a part is unknown, one interrupted call for example, the run goes on until
    // there are too many such parts.
    let told_nothing = result.cost.unknown_parts > 0 && result.cost.known_usd == CostUsd::ZERO;
    if plan.budget.cost_usd.is_some() && told_nothing {
        return Some(Failure::permanent(
            "cost_not_reported",
            "the agent did not tell what the session cost, so the money budget cannot be kept",
        ));
    }
    // One that was interrupted may not have come so far as to tell.
    let is_told =
        result.tokens.total() > 0 || result.end == SessionEnd::Outcome(SessionOutcome::Interrupted);
    if plan.budget.tokens.is_some() && !is_told {
        return Some(Failure::permanent(
            "tokens_not_reported",
            "the agent did not tell how many tokens the session used, so the token budget cannot \
             be kept",
        ));
    }
    None
}

/// Returns the part of the budget that the session was limited by, money first.
fn limited(plan: &SessionPlan) -> Option<BudgetKind> {
    let budget = &plan.budget;
    let money = budget.cost_usd.map(|_| BudgetKind::Cost);
    let tokens = budget.tokens.map(|_| BudgetKind::Tokens);
    money.or(tokens).or(budget.time.map(|_| BudgetKind::Time))
}
