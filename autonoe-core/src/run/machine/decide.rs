//! Decision table of a run: its exits and their precedence.

use jiff::Timestamp;

use crate::agent::BudgetKind;
use crate::event::{Failure, Retry};
use crate::run::{ExitReason, OnQuota};
use crate::time::Mode;

/// The inputs of a decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Situation<'a> {
    pub(super) interrupted: bool,
    /// The exit that follows from the ledger.
    pub(super) completion: Option<ExitReason>,
    /// The reaction to the quota, if it is exceeded.
    pub(super) quota: Option<OnQuota>,
    /// The time of the quota's reset, if the quota is exceeded and the time is known.
    pub(super) quota_resets_at: Option<Timestamp>,
    /// The earliest start of the next session, after the due wait.
    pub(super) next_start: Timestamp,
    /// The end of the time budget.
    pub(super) deadline: Option<Timestamp>,
    /// The spent part of the budget.
    pub(super) spent: Option<BudgetKind>,
    pub(super) iterations: u32,
    pub(super) max_iterations: Option<u32>,
    /// The error of the last session, if it failed.
    pub(super) last_error: Option<&'a Failure>,
    pub(super) consecutive_errors: u32,
    pub(super) max_retries: u32,
    pub(super) mode: Mode,
    /// Sessions in a row without progress.
    pub(super) stalled_sessions: u32,
    /// The limit of `stalled_sessions`; 0 means no limit.
    pub(super) max_stalled_sessions: u32,
}

/// The next step of the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Decision {
    Exit(ExitReason),
    WaitForQuota,
    NextSession,
}

/// Decides the next step. The first matching row wins.
pub(super) fn decide(situation: &Situation<'_>) -> Decision {
    // 1. Interrupt.
    if situation.interrupted {
        return Decision::Exit(ExitReason::Interrupted);
    }
    // 2. Completion: a finished ledger never waits for quota.
    if let Some(exit) = &situation.completion {
        return Decision::Exit(exit.clone());
    }
    // 3. An error that a retry cannot fix ends the run immediately, whatever else is due.
    if let Some(error) = situation.last_error
        && error.retry == Retry::Permanent
    {
        return Decision::Exit(ExitReason::Failed {
            error: error.clone(),
        });
    }
    // 4. Quota.
    if situation.quota == Some(OnQuota::Stop) {
        return Decision::Exit(ExitReason::QuotaExceeded);
    }
    // 5. Budget. It ends the run before a wait if no session could follow the wait.
    let out_of_time = situation
        .deadline
        .is_some_and(|deadline| situation.next_start >= deadline);
    if out_of_time && situation.spent.is_none() && situation.quota == Some(OnQuota::Wait) {
        return Decision::Exit(ExitReason::QuotaWaitTooLong {
            resets_at: situation.quota_resets_at,
        });
    }
    let spent = situation.spent.or(out_of_time.then_some(BudgetKind::Time));
    if let Some(budget) = spent {
        return Decision::Exit(ExitReason::BudgetExceeded { budget });
    }
    // 6. Max iterations; likewise.
    if situation
        .max_iterations
        .is_some_and(|max| situation.iterations >= max)
    {
        return Decision::Exit(ExitReason::MaxIterations);
    }
    // 7. No progress; likewise.
    let max_stalled = situation.max_stalled_sessions;
    if max_stalled > 0 && situation.stalled_sessions >= max_stalled {
        return Decision::Exit(ExitReason::Stalled {
            sessions: situation.stalled_sessions,
            mode: situation.mode,
        });
    }
    if situation.quota == Some(OnQuota::Wait) {
        return Decision::WaitForQuota;
    }
    // 8. Max retries.
    match situation.last_error {
        Some(error) if situation.consecutive_errors > situation.max_retries => {
            Decision::Exit(ExitReason::MaxRetriesExceeded {
                error: error.clone(),
            })
        }
        _ => Decision::NextSession,
    }
}
