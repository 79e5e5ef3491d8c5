//! The decision table: what ends a run, and what comes first.

use jiff::Timestamp;

use crate::domain::{BudgetKind, ExitReason, Failure, OnQuota, Retry};

/// All that the decision depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Situation<'a> {
    pub(super) interrupted: bool,
    /// The exit that the ledger calls for.
    pub(super) completion: Option<ExitReason>,
    /// The quota is spent: what to do, and when to try again.
    pub(super) quota: Option<(OnQuota, Timestamp)>,
    /// The end of the time budget.
    pub(super) deadline: Option<Timestamp>,
    /// The part of the budget that is spent.
    pub(super) spent: Option<BudgetKind>,
    pub(super) iterations: u32,
    pub(super) max_iterations: Option<u32>,
    /// What the last session failed with, if it did.
    pub(super) last_error: Option<&'a Failure>,
    pub(super) consecutive_errors: u32,
    pub(super) max_retries: u32,
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Decision {
    Exit(ExitReason),
    WaitForQuota { until: Timestamp },
    NextSession,
}

/// Decides what is to be done. The first row that applies wins.
pub(super) fn decide(situation: &Situation<'_>) -> Decision {
    // 1. Interrupt.
    if situation.interrupted {
        return Decision::Exit(ExitReason::Interrupted);
    }
    // 2. Completion: a finished ledger never waits for quota.
    if let Some(exit) = &situation.completion {
        return Decision::Exit(exit.clone());
    }
    // 3. Quota.
    if let Some((OnQuota::Stop, _)) = situation.quota {
        return Decision::Exit(ExitReason::QuotaExceeded);
    }
    // 4. Budget. It ends a wait for quota before it begins: no session could follow.
    let spent = situation
        .spent
        .or_else(|| match (situation.quota, situation.deadline) {
            (Some((OnQuota::Wait, until)), Some(deadline)) if until >= deadline => {
                Some(BudgetKind::Time)
            }
            _ => None,
        });
    if let Some(budget) = spent {
        return Decision::Exit(ExitReason::BudgetExceeded { budget });
    }
    // 5. Max iterations; likewise.
    if situation
        .max_iterations
        .is_some_and(|max| situation.iterations >= max)
    {
        return Decision::Exit(ExitReason::MaxIterations);
    }
    if let Some((OnQuota::Wait, until)) = situation.quota {
        return Decision::WaitForQuota { until };
    }
    // 6. Max retries.
    match situation.last_error {
        Some(error) if error.retry == Retry::Useless => Decision::Exit(ExitReason::Failed {
            error: error.clone(),
        }),
        Some(error) if situation.consecutive_errors > situation.max_retries => {
            Decision::Exit(ExitReason::MaxRetriesExceeded {
                error: error.clone(),
            })
        }
        _ => Decision::NextSession,
    }
}
