//! What a session that ended means for the run.

use jiff::Timestamp;

use crate::domain::{
    Activity, Failure, InstructionName, LedgerView, Phase, SessionEnd, SessionOutcome,
    SessionResult,
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
    /// It counts as an error.
    Error(Failure),
}

/// Says what `result` means, given the ledger after it.
pub(super) fn meaning(
    result: &SessionResult,
    instruction: &InstructionName,
    ledger: &LedgerView,
) -> Meaning {
    match &result.end {
        SessionEnd::Outcome(SessionOutcome::Completed) => {
            if result.activity == Activity::None {
                Meaning::Error(Failure::retryable(
                    "empty_session",
                    "the agent ended its session without saying or doing anything",
                ))
            } else if instruction.phase() == Phase::Planning && ledger.counts.is_empty() {
                Meaning::Error(Failure::retryable(
                    "nothing_planned",
                    format!("the {instruction} session created no deliverable"),
                ))
            } else {
                Meaning::Completed
            }
        }
        SessionEnd::Outcome(SessionOutcome::ExecutionError { messages }) => {
            let message = match messages.as_slice() {
                [] => "the agent reported an error without a message".to_owned(),
                messages => messages.join("; "),
            };
            Meaning::Error(Failure::retryable("execution_error", message))
        }
        SessionEnd::Outcome(SessionOutcome::BudgetExceeded) => Meaning::Error(Failure::retryable(
            "budget_exceeded",
            "the session spent its own budget without an end",
        )),
        SessionEnd::Outcome(SessionOutcome::QuotaExceeded { resets_at, .. }) => Meaning::Quota {
            resets_at: *resets_at,
        },
        SessionEnd::Failed { error } => Meaning::Error(error.clone()),
        SessionEnd::Outcome(SessionOutcome::MaxTurns | SessionOutcome::Interrupted)
        | SessionEnd::BudgetSpent { .. }
        | SessionEnd::Cancelled => Meaning::Neutral,
    }
}
