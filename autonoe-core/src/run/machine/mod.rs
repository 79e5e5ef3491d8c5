//! [`RunMachine`], the session loop as a state machine without I/O.

mod decide;
mod fact;
#[cfg(test)]
mod tests;

use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use self::decide::{Decision, DecisionInputs, SessionImpact, decide, impact, stalled_sessions};
pub use self::fact::{LimitOverrides, RunAction, RunFact, RunLimits, SessionPlan};
use crate::agent::{
    Budget, BudgetKind, BudgetUsage, CostTotal, SessionEnd, SessionOutcome, SessionReport,
    TokenUsage,
};
use crate::event::{Failure, InstructionName, Retry, WaitReason};
use crate::ledger::LedgerView;
use crate::run::{ExitReason, OnQuota, ReportedCounts, RunReport, SelectionContext, Workflow};
use crate::time::RunId;
use crate::time::timestamp::{between, saturating_add};

/// The session loop as a state machine: facts in, actions out.
///
/// It has no clock, does no I/O and uses no random numbers; the same facts lead to the same
/// actions. It can be serialised at any point and continued in another process or on another host:
/// [`action`](Self::action) returns the current action. [`SessionRunner`](crate::SessionRunner)
/// drives it in-process.
///
/// An unexpected fact changes nothing: a session that was not requested, a wait that is not pending
/// or not over yet. After `Finish` every fact returns the same `Finish` again.
///
/// ```
/// use autonoe_core::ledger::LedgerView;
/// use autonoe_core::run::{RunAction, RunFact, RunLimits, RunMachine};
/// use autonoe_core::{ExitReason, Mode};
/// use jiff::Timestamp;
///
/// let limits = RunLimits { max_iterations: Some(0), ..RunLimits::new(Mode::Run) };
/// let mut machine = RunMachine::new(limits);
///
/// let started = RunFact::Started { at: Timestamp::UNIX_EPOCH, ledger: LedgerView::default() };
/// let action = machine.apply(started);
///
/// assert_eq!(action, RunAction::Finish { exit: ExitReason::MaxIterations });
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunMachine {
    limits: RunLimits,
    state: MachineState,
    #[serde(default)]
    started_at: Option<Timestamp>,
    /// The start of the time budget, if it is not the start of the run.
    #[serde(default)]
    time_budget_start: Option<Timestamp>,
    #[serde(default)]
    ledger: LedgerView,
    #[serde(default)]
    tally: Tally,
    #[serde(default)]
    messages: Vec<String>,
    #[serde(default)]
    pause_requested: bool,
    #[serde(default)]
    cancelled: bool,
}

/// The current state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "doing", rename_all = "snake_case")]
enum MachineState {
    Nothing,
    Session(SessionPlan),
    Waiting {
        reason: WaitReason,
        until: Timestamp,
    },
    Holding,
    Finished {
        exit: ExitReason,
    },
}

/// The counters of the run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Tally {
    sessions: u32,
    iterations: u32,
    consecutive_errors: u32,
    stalled_sessions: u32,
    quota_stops_in_a_row: u32,
    last_error: Option<Failure>,
    planned: bool,
    budget_spent: Option<BudgetKind>,
    cost: CostTotal,
    tokens: TokenUsage,
}

/// The wait before the next session.
struct PendingWait {
    reason: WaitReason,
    until: Timestamp,
    /// The time of the quota's reset, if the quota is exceeded and the time is known. Earlier than
    /// `until` if the pause between sessions is longer.
    quota_resets_at: Option<Timestamp>,
}

impl PendingWait {
    fn new(reason: WaitReason, until: Timestamp) -> Self {
        Self {
            reason,
            until,
            quota_resets_at: None,
        }
    }
}

impl RunMachine {
    /// Creates the machine of a run that has not started.
    pub fn new(limits: RunLimits) -> Self {
        Self {
            limits,
            state: MachineState::Nothing,
            started_at: None,
            time_budget_start: None,
            ledger: LedgerView::default(),
            tally: Tally::default(),
            messages: Vec::new(),
            pause_requested: false,
            cancelled: false,
        }
    }

    /// Returns the current state as the action that led to it.
    pub fn action(&self) -> RunAction {
        match &self.state {
            MachineState::Nothing => RunAction::Continue,
            MachineState::Session(_) if self.cancelled => RunAction::StopSession,
            MachineState::Session(plan) => RunAction::StartSession(plan.clone()),
            MachineState::Waiting { reason, until } => RunAction::Wait {
                reason: *reason,
                until: *until,
            },
            MachineState::Holding => RunAction::Hold,
            MachineState::Finished { exit } => RunAction::Finish { exit: exit.clone() },
        }
    }

    /// Applies `fact` and returns the next action.
    #[must_use = "the run waits until the action is performed"]
    pub fn apply(&mut self, fact: RunFact) -> RunAction {
        if matches!(self.state, MachineState::Finished { .. }) {
            return self.action();
        }
        match fact {
            RunFact::Started { at, ledger } if self.started_at.is_none() => {
                self.started_at = Some(at);
                self.ledger = ledger;
                self.decide_now(at)
            }
            RunFact::SessionEnded {
                at,
                number,
                result,
                ledger,
            } => self.session_ended(at, number, &result, ledger),
            RunFact::WaitOver { at, ledger } => match self.state {
                MachineState::Waiting { until, .. } if at < until => self.action(),
                MachineState::Waiting { .. } => self.continue_with_ledger(at, ledger),
                MachineState::Nothing
                | MachineState::Session(_)
                | MachineState::Holding
                | MachineState::Finished { .. } => RunAction::Continue,
            },
            RunFact::Cancelled => {
                self.cancelled = true;
                match self.state {
                    MachineState::Session(_) => RunAction::StopSession,
                    MachineState::Nothing
                    | MachineState::Waiting { .. }
                    | MachineState::Holding
                    | MachineState::Finished { .. } => self.finish(ExitReason::Interrupted),
                }
            }
            RunFact::PauseRequested => {
                self.pause_requested = true;
                RunAction::Continue
            }
            RunFact::ResumeRequested { at, ledger } => {
                self.pause_requested = false;
                match self.state {
                    MachineState::Holding => self.continue_with_ledger(at, ledger),
                    MachineState::Nothing
                    | MachineState::Session(_)
                    | MachineState::Waiting { .. }
                    | MachineState::Finished { .. } => RunAction::Continue,
                }
            }
            RunFact::MessageQueued { text } => {
                self.messages.push(text);
                RunAction::Continue
            }
            RunFact::MessageSteered { text } => {
                if let MachineState::Session(plan) = &mut self.state {
                    plan.messages.push(text);
                }
                RunAction::Continue
            }
            RunFact::InstructionSelected {
                number,
                instruction,
            } => {
                if let MachineState::Session(plan) = &mut self.state
                    && plan.number == number
                {
                    plan.instruction = instruction;
                }
                RunAction::Continue
            }
            RunFact::SessionLost { number } => match &self.state {
                MachineState::Session(plan) if plan.number == number => {
                    self.count_lost_session();
                    self.action()
                }
                _ => RunAction::Continue,
            },
            RunFact::LimitsChanged { at, limits, ledger } => {
                self.change_limits(at, &limits, ledger)
            }
            RunFact::Failed { error } => self.finish(ExitReason::Failed { error }),
            RunFact::Started { .. } => RunAction::Continue,
        }
    }

    /// Returns the number of the running session, also if it is being stopped.
    pub(super) fn running_session(&self) -> Option<u32> {
        match &self.state {
            MachineState::Session(plan) => Some(plan.number),
            _ => None,
        }
    }

    /// Returns the context that an instruction selector needs for session `number`.
    pub(super) fn selection_context(&self, number: u32) -> SelectionContext {
        SelectionContext {
            mode: self.limits.mode,
            session: number,
            iterations: self.tally.iterations,
            ledger: self.ledger,
            planned: self.tally.planned,
        }
    }

    /// Returns the limits of the run.
    pub fn limits(&self) -> &RunLimits {
        &self.limits
    }

    /// Returns the counts of the ledger as of the last fact.
    pub fn ledger(&self) -> LedgerView {
        self.ledger
    }

    /// Returns the report of a run that ends at `at` because of `exit`.
    pub fn report(&self, run: &RunId, exit: ExitReason, at: Timestamp) -> RunReport {
        let counts = || ReportedCounts::new(&self.ledger, self.limits.mode);
        RunReport {
            run: run.clone(),
            exit,
            iterations: self.tally.iterations,
            sessions: self.tally.sessions,
            // The ledger is not read before the start.
            deliverables: self.started_at.map(|_| counts()),
            elapsed: self.elapsed(at),
            cost: self.tally.cost,
            tokens: self.tally.tokens,
            undelivered_messages: self.messages.clone(),
        }
    }

    fn session_ended(
        &mut self,
        at: Timestamp,
        number: u32,
        result: &SessionReport,
        ledger: Result<LedgerView, Failure>,
    ) -> RunAction {
        let Some(meaning) = self.session_impact(number, result, &ledger) else {
            return RunAction::Continue;
        };
        let MachineState::Session(mut plan) =
            std::mem::replace(&mut self.state, MachineState::Nothing)
        else {
            return RunAction::Continue;
        };
        let messages = std::mem::take(&mut plan.messages);
        let before = self.ledger;
        self.ledger = ledger.unwrap_or(before);
        if !meaning.prompt_was_read(result) {
            let mut later_ones = std::mem::replace(&mut self.messages, messages);
            // Messages that the session returned as unread are in both lists.
            later_ones.retain(|later| !self.messages.contains(later));
            self.messages.extend(later_ones);
        }
        self.tally.stalled_sessions = if before == self.ledger {
            stalled_sessions(self.tally.stalled_sessions, &meaning, result, &plan)
        } else {
            0
        };
        self.count(&meaning, result, &plan.instruction);
        let due = self.due(at, &meaning);
        let on_quota =
            matches!(meaning, SessionImpact::Quota { .. }).then_some(self.limits.on_quota);
        self.next(at, on_quota, &due)
    }

    /// Returns the impact of the end of session `number`; `None` if that session is not running.
    fn session_impact(
        &self,
        number: u32,
        result: &SessionReport,
        ledger: &Result<LedgerView, Failure>,
    ) -> Option<SessionImpact> {
        let MachineState::Session(plan) = &self.state else {
            return None;
        };
        if plan.number != number {
            return None;
        }
        let before = &self.ledger;
        let after = ledger.as_ref().unwrap_or(before);
        Some(match (impact(result, plan, before, after), ledger) {
            (quota @ SessionImpact::Quota { .. }, Err(error))
                if error.retry == Retry::Retryable =>
            {
                quota
            }
            (_, Err(error)) => SessionImpact::Error(error.clone()),
            (meaning, Ok(_)) => meaning,
        })
    }

    /// Returns the reason why the running session `number` counts as failed although it ended
    /// normally.
    pub(super) fn normal_end_failure(
        &self,
        number: u32,
        result: &SessionReport,
        ledger: &Result<LedgerView, Failure>,
    ) -> Option<Failure> {
        let ended_normally = matches!(
            result.end,
            SessionEnd::Outcome(
                SessionOutcome::Completed | SessionOutcome::MaxTurns | SessionOutcome::Interrupted
            )
        );
        match self.session_impact(number, result, ledger)? {
            SessionImpact::Error(error) => ended_normally.then_some(error),
            SessionImpact::Completed
            | SessionImpact::Neutral
            | SessionImpact::Quota { .. }
            | SessionImpact::BudgetSpent(_) => None,
        }
    }

    fn count(
        &mut self,
        meaning: &SessionImpact,
        result: &SessionReport,
        instruction: &InstructionName,
    ) {
        let tally = &mut self.tally;
        tally.cost.merge(result.cost);
        tally.tokens += result.tokens;
        match meaning {
            SessionImpact::Quota { .. } => {
                tally.quota_stops_in_a_row = tally.quota_stops_in_a_row.saturating_add(1);
                return;
            }
            SessionImpact::Completed => {
                tally.consecutive_errors = 0;
                tally.last_error = None;
                // Only a complete plan may be verified.
                tally.planned |= *instruction == InstructionName::Sync;
            }
            SessionImpact::Neutral => tally.last_error = None,
            SessionImpact::BudgetSpent(budget) => {
                tally.last_error = None;
                tally.budget_spent = Some(*budget);
            }
            SessionImpact::Error(error) => {
                tally.consecutive_errors = tally.consecutive_errors.saturating_add(1);
                tally.last_error = Some(error.clone());
            }
        }
        tally.iterations = tally.iterations.saturating_add(1);
        tally.quota_stops_in_a_row = 0;
    }

    /// Returns the wait that is due after a session.
    fn due(&self, at: Timestamp, meaning: &SessionImpact) -> PendingWait {
        let pause = self.limits.pause;
        match meaning {
            SessionImpact::Quota { resets_at } => {
                let stops = self.tally.quota_stops_in_a_row;
                let next_try = self.limits.quota_backoff.next_try(at, *resets_at, stops);
                let until = next_try.max(saturating_add(at, pause));
                let reason = match resets_at {
                    Some(reset) if *reset == until => WaitReason::Quota,
                    _ => WaitReason::QuotaBackoff,
                };
                PendingWait {
                    reason,
                    until,
                    quota_resets_at: resets_at.filter(|reset| *reset > at),
                }
            }
            SessionImpact::Error(Failure {
                retry_after: Some(delay),
                ..
            }) if *delay > pause => {
                PendingWait::new(WaitReason::RetryAfter, saturating_add(at, *delay))
            }
            SessionImpact::Completed
            | SessionImpact::Neutral
            | SessionImpact::BudgetSpent(_)
            | SessionImpact::Error(_) => {
                PendingWait::new(WaitReason::Pause, saturating_add(at, pause))
            }
        }
    }

    /// Continues after a wait or a hold, with the ledger as it is then.
    fn continue_with_ledger(
        &mut self,
        at: Timestamp,
        ledger: Result<LedgerView, Failure>,
    ) -> RunAction {
        match ledger {
            Ok(ledger) => {
                if ledger != self.ledger {
                    // Another writer changed it, which gives the agent new work.
                    self.tally.stalled_sessions = 0;
                }
                self.ledger = ledger;
            }
            Err(error) if error.retry == Retry::Permanent => {
                return self.finish(ExitReason::Failed { error });
            }
            // The next session shows whether the ledger is readable again.
            Err(_) => {}
        }
        self.decide_now(at)
    }

    fn decide_now(&mut self, at: Timestamp) -> RunAction {
        let due = PendingWait::new(WaitReason::Pause, at);
        self.next(at, None, &due)
    }

    /// Looks up the next step in the decision table.
    fn decision(&self, at: Timestamp, quota: Option<OnQuota>, due: &PendingWait) -> Decision {
        let decision_inputs = DecisionInputs {
            interrupted: self.cancelled,
            completion: self.workflow().completion(&self.ledger, self.tally.planned),
            quota,
            quota_resets_at: due.quota_resets_at,
            next_start: due.until,
            deadline: self.deadline(),
            spent: self.budget_spent(at),
            iterations: self.tally.iterations,
            max_iterations: self.limits.max_iterations,
            last_error: self.tally.last_error.as_ref(),
            consecutive_errors: self.tally.consecutive_errors,
            max_retries: self.limits.max_retries,
            mode: self.limits.mode,
            stalled_sessions: self.tally.stalled_sessions,
            max_stalled_sessions: self.limits.max_stalled_sessions,
        };
        decide(&decision_inputs)
    }

    /// Performs the next step.
    fn next(&mut self, at: Timestamp, quota: Option<OnQuota>, due: &PendingWait) -> RunAction {
        match self.decision(at, quota, due) {
            Decision::Exit(exit) => self.finish(exit),
            Decision::NextSession if due.until <= at && self.pause_requested => {
                self.state = MachineState::Holding;
                self.action()
            }
            Decision::NextSession if due.until <= at => self.start_session(at),
            Decision::NextSession | Decision::WaitForQuota => {
                self.state = MachineState::Waiting {
                    reason: due.reason,
                    until: due.until,
                };
                self.action()
            }
        }
    }

    fn start_session(&mut self, at: Timestamp) -> RunAction {
        self.tally.sessions = self.tally.sessions.saturating_add(1);
        self.state = MachineState::Session(SessionPlan {
            number: self.tally.sessions,
            mode: self.limits.mode,
            instruction: self
                .workflow()
                .instruction(&self.ledger, self.tally.planned),
            messages: std::mem::take(&mut self.messages),
            budget: self.budget_left(at),
            deadline: self.deadline(),
        });
        self.action()
    }

    fn finish(&mut self, exit: ExitReason) -> RunAction {
        self.state = MachineState::Finished { exit };
        self.action()
    }

    /// Returns the part of the budget that is spent or can no longer be enforced.
    fn budget_spent(&self, at: Timestamp) -> Option<BudgetKind> {
        let unknown = self.tally.cost.unknown_parts;
        let cost_is_a_guess =
            self.limits.budget.cost_usd.is_some() && unknown > self.limits.max_retries;
        self.tally
            .budget_spent
            .or_else(|| self.limits.budget.exhausted(&self.spent(at)))
            .or(cost_is_a_guess.then_some(BudgetKind::Cost))
    }

    fn workflow(&self) -> Workflow {
        Workflow::new(self.limits.mode)
    }

    fn elapsed(&self, at: Timestamp) -> Duration {
        self.started_at
            .map_or(Duration::ZERO, |started| between(started, at))
    }

    fn deadline(&self) -> Option<Timestamp> {
        let from = self.time_budget_start.or(self.started_at)?;
        Some(saturating_add(from, self.limits.budget.time?))
    }

    fn budget_left(&self, at: Timestamp) -> Budget {
        self.limits.budget.remaining(&self.spent(at))
    }

    /// Returns the usage that counts against the budget.
    pub(crate) fn spent(&self, at: Timestamp) -> BudgetUsage {
        BudgetUsage {
            cost: self.tally.cost,
            tokens: self.tally.tokens,
            time: self
                .time_budget_start
                .map_or_else(|| self.elapsed(at), |from| between(from, at)),
        }
    }
}
