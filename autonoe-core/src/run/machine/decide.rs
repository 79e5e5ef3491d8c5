//! Decision table of a run, the impact of ended sessions, and the effect of changed limits.

use jiff::Timestamp;

use super::{LimitOverrides, MachineState, PendingWait, RunAction, RunMachine, SessionPlan};
use crate::agent::{
    Activity, BudgetKind, CostUsd, SessionEnd, SessionOutcome, SessionProgress, SessionReport,
};
use crate::event::{Failure, Phase, Retry, WaitReason};
use crate::ledger::LedgerView;
use crate::run::{ExitReason, OnQuota};
use crate::time::Mode;

/// The inputs of a decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DecisionInputs<'a> {
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
pub(super) fn decide(decision_inputs: &DecisionInputs<'_>) -> Decision {
    // 1. Interrupt.
    if decision_inputs.interrupted {
        return Decision::Exit(ExitReason::Interrupted);
    }
    // 2. Completion: a finished ledger never waits for quota.
    if let Some(exit) = &decision_inputs.completion {
        return Decision::Exit(exit.clone());
    }
    // 3. An error that a retry cannot fix ends the run immediately, whatever else is due.
    if let Some(error) = decision_inputs.last_error
        && error.retry == Retry::Permanent
    {
        return Decision::Exit(ExitReason::Failed {
            error: error.clone(),
        });
    }
    // 4. Quota.
    if decision_inputs.quota == Some(OnQuota::Stop) {
        return Decision::Exit(ExitReason::QuotaExceeded);
    }
    // 5. Budget. It ends the run before a wait if no session could follow the wait.
    let out_of_time = decision_inputs
        .deadline
        .is_some_and(|deadline| decision_inputs.next_start >= deadline);
    if out_of_time
        && decision_inputs.spent.is_none()
        && decision_inputs.quota == Some(OnQuota::Wait)
    {
        return Decision::Exit(ExitReason::QuotaWaitTooLong {
            resets_at: decision_inputs.quota_resets_at,
        });
    }
    let spent = decision_inputs
        .spent
        .or(out_of_time.then_some(BudgetKind::Time));
    if let Some(budget) = spent {
        return Decision::Exit(ExitReason::BudgetExceeded { budget });
    }
    // 6. Max iterations; likewise.
    if decision_inputs
        .max_iterations
        .is_some_and(|max| decision_inputs.iterations >= max)
    {
        return Decision::Exit(ExitReason::MaxIterations);
    }
    // 7. No progress; likewise.
    let max_stalled = decision_inputs.max_stalled_sessions;
    if max_stalled > 0 && decision_inputs.stalled_sessions >= max_stalled {
        return Decision::Exit(ExitReason::Stalled {
            sessions: decision_inputs.stalled_sessions,
            mode: decision_inputs.mode,
        });
    }
    if decision_inputs.quota == Some(OnQuota::Wait) {
        return Decision::WaitForQuota;
    }
    // 8. Max retries.
    match decision_inputs.last_error {
        Some(error) if decision_inputs.consecutive_errors > decision_inputs.max_retries => {
            Decision::Exit(ExitReason::MaxRetriesExceeded {
                error: error.clone(),
            })
        }
        _ => Decision::NextSession,
    }
}

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
        (SessionProgress::Some, _) | (SessionProgress::Unknown, true) => 0,
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

impl RunMachine {
    /// Applies the changed limits, and ends the run if it has reached one of them.
    pub(super) fn change_limits(
        &mut self,
        at: Timestamp,
        overrides: &LimitOverrides,
        ledger: LedgerView,
    ) -> RunAction {
        self.limits = overrides.apply_to(&self.limits);
        if overrides.budget.time.is_some() && self.started_at.is_some() {
            self.time_budget_start = Some(at);
        }
        let now = PendingWait::new(WaitReason::Pause, at);
        let mut ending = self.clone();
        let (quota, due) = match self.state {
            MachineState::Nothing | MachineState::Finished { .. } => return RunAction::Continue,
            MachineState::Holding => (None, now),
            MachineState::Waiting { reason, until } => {
                let is_quota = matches!(reason, WaitReason::Quota | WaitReason::QuotaBackoff);
                let quota = is_quota.then_some(self.limits.on_quota);
                let quota_resets_at = (reason == WaitReason::Quota).then_some(until);
                let due = PendingWait {
                    quota_resets_at,
                    ..PendingWait::new(reason, until)
                };
                (quota, due)
            }
            MachineState::Session(_) => {
                // The session was lost with its process. The caller that restarts the run wants it
                // to continue.
                ending.count_lost_session();
                (None, now)
            }
        };
        // Only a limit ends the current action. If a limit does, the work that is done by then may
        // still complete the ledger.
        if let Decision::Exit(by_limit) = ending.decision(at, quota, &due) {
            ending.ledger = ledger;
            let exit = match ending.decision(at, quota, &due) {
                Decision::Exit(exit) => exit,
                _ => by_limit,
            };
            *self = ending;
            self.requeue_messages();
            return self.finish(exit);
        }
        let (budget, deadline) = (self.budget_left(at), self.deadline());
        if let MachineState::Session(plan) = &mut self.state {
            plan.budget = budget;
            plan.deadline = deadline;
        }
        RunAction::Continue
    }

    /// Counts a session that was lost with its process.
    pub(super) fn count_lost_session(&mut self) {
        // It may have incurred a cost, which will stay unknown.
        self.tally.cost.add(None);
        // A pending cancellation is fulfilled: the session is gone.
        self.cancelled = false;
    }

    /// Keeps the messages of the running session, in front of later ones.
    fn requeue_messages(&mut self) {
        if let MachineState::Session(plan) = &mut self.state {
            let mut messages = std::mem::take(&mut plan.messages);
            messages.append(&mut self.messages);
            self.messages = messages;
        }
    }
}
