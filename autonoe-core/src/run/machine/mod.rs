//! The loop as a state machine without I/O.

mod accounting;
mod decide;
mod fact;
mod given_limits;
mod limits;
mod limits_changed;
#[cfg(test)]
mod tests;

use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use self::accounting::{Meaning, meaning, stalled_sessions};
use self::decide::{Decision, Situation, decide};
pub use self::fact::{RunAction, RunFact, SessionPlan};
pub use self::given_limits::GivenLimits;
pub use self::limits::RunLimits;
use crate::domain::quota::{between, later};
use crate::domain::{
    Budget, BudgetKind, CostTotal, ExitReason, Failure, InstructionName, LedgerView, OnQuota,
    ReportedCounts, Retry, RunId, RunReport, SessionEnd, SessionOutcome, SessionResult, Spent,
    TokenUsage, Workflow,
};
use crate::port::{SelectionContext, WaitReason};

/// The loop as a state machine: facts in, actions out.
///
/// It has no clock, does no I/O and draws no random numbers; the same facts
/// give the same actions. It can be serialised at any point and goes on from
/// there, in another process or on another host: [`action`](Self::action) says
/// what is under way. [`SessionRunner`](crate::SessionRunner) drives it in-process.
///
/// A fact that does not fit (a session that was not asked for, a wait that
/// nobody waits for, one that is over too early) changes nothing. After
/// `Finish` every fact gives the same `Finish` again.
///
/// ```
/// use autonoe_core::{ExitReason, LedgerView, Mode, RunAction, RunFact, RunLimits, RunMachine};
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
    doing: Doing,
    #[serde(default)]
    started_at: Option<Timestamp>,
    /// Since when the budget of time counts, if not since the start.
    #[serde(default)]
    time_counts_from: Option<Timestamp>,
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

/// What is under way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "doing", rename_all = "snake_case")]
enum Doing {
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

/// What has been counted.
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

/// The wait that is due before the next session.
struct Due {
    reason: WaitReason,
    until: Timestamp,
    /// When the quota resets, if it is spent and the time is known. Earlier than `until` if the
    /// pause between sessions is longer.
    quota_resets_at: Option<Timestamp>,
}

impl Due {
    fn new(reason: WaitReason, until: Timestamp) -> Self {
        Self {
            reason,
            until,
            quota_resets_at: None,
        }
    }
}

impl RunMachine {
    /// Makes the machine of a run that has not begun.
    pub fn new(limits: RunLimits) -> Self {
        Self {
            limits,
            doing: Doing::Nothing,
            started_at: None,
            time_counts_from: None,
            ledger: LedgerView::default(),
            tally: Tally::default(),
            messages: Vec::new(),
            pause_requested: false,
            cancelled: false,
        }
    }

    /// Returns what is under way, as the action that began it.
    pub fn action(&self) -> RunAction {
        match &self.doing {
            Doing::Nothing => RunAction::Continue,
            Doing::Session(_) if self.cancelled => RunAction::StopSession,
            Doing::Session(plan) => RunAction::StartSession(plan.clone()),
            Doing::Waiting { reason, until } => RunAction::Wait {
                reason: *reason,
                until: *until,
            },
            Doing::Holding => RunAction::Hold,
            Doing::Finished { exit } => RunAction::Finish { exit: exit.clone() },
        }
    }

    /// Takes notice of `fact` and says what is to be done.
    #[must_use = "the run stands still until the action is carried out"]
    pub fn apply(&mut self, fact: RunFact) -> RunAction {
        if matches!(self.doing, Doing::Finished { .. }) {
            return self.action();
        }
        match fact {
            RunFact::Started { at, ledger } if self.started_at.is_none() => {
                self.started_at = Some(at);
                self.ledger = ledger;
                self.go_on(at)
            }
            RunFact::SessionEnded {
                at,
                number,
                result,
                ledger,
            } => self.session_ended(at, number, &result, ledger),
            RunFact::WaitOver { at, ledger } => match self.doing {
                Doing::Waiting { until, .. } if at < until => self.action(),
                Doing::Waiting { .. } => self.look_again(at, ledger),
                _ => RunAction::Continue,
            },
            RunFact::Cancelled => {
                self.cancelled = true;
                match self.doing {
                    Doing::Session(_) => RunAction::StopSession,
                    _ => self.finish(ExitReason::Interrupted),
                }
            }
            RunFact::PauseRequested => {
                self.pause_requested = true;
                RunAction::Continue
            }
            RunFact::ResumeRequested { at, ledger } => {
                self.pause_requested = false;
                match self.doing {
                    Doing::Holding => self.look_again(at, ledger),
                    _ => RunAction::Continue,
                }
            }
            RunFact::Instructed { text } => {
                self.messages.push(text);
                RunAction::Continue
            }
            RunFact::Steered { text } => {
                if let Doing::Session(plan) = &mut self.doing {
                    plan.messages.push(text);
                }
                RunAction::Continue
            }
            RunFact::InstructionSelected {
                number,
                instruction,
            } => {
                if let Doing::Session(plan) = &mut self.doing
                    && plan.number == number
                {
                    plan.instruction = instruction;
                }
                RunAction::Continue
            }
            RunFact::SessionLost { number } => match &self.doing {
                Doing::Session(plan) if plan.number == number => {
                    self.lose_session();
                    self.action()
                }
                _ => RunAction::Continue,
            },
            RunFact::LimitsChanged { at, limits, ledger } => {
                self.limits_changed(at, &limits, ledger)
            }
            RunFact::Failed { error } => self.finish(ExitReason::Failed { error }),
            RunFact::Started { .. } => RunAction::Continue,
        }
    }

    /// Returns the number of the session that is under way, also when it is to be stopped.
    pub(super) fn session_under_way(&self) -> Option<u32> {
        match &self.doing {
            Doing::Session(plan) => Some(plan.number),
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

    /// Returns the limits that the run keeps to.
    pub fn limits(&self) -> &RunLimits {
        &self.limits
    }

    /// Returns the numbers of the ledger as the machine knows them.
    pub fn ledger(&self) -> LedgerView {
        self.ledger
    }

    /// Returns what the run comes to when it ends at `at` because of `exit`.
    pub fn report(&self, run: &RunId, exit: ExitReason, at: Timestamp) -> RunReport {
        let counts = || ReportedCounts::new(&self.ledger, self.limits.mode);
        RunReport {
            run: run.clone(),
            exit,
            iterations: self.tally.iterations,
            sessions: self.tally.sessions,
            // Before the start, the ledger was not read.
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
        result: &SessionResult,
        ledger: Result<LedgerView, Failure>,
    ) -> RunAction {
        let Some(meaning) = self.meaning_of(number, result, &ledger) else {
            return RunAction::Continue;
        };
        let Doing::Session(mut plan) = std::mem::replace(&mut self.doing, Doing::Nothing) else {
            return RunAction::Continue;
        };
        let messages = std::mem::take(&mut plan.messages);
        let before = self.ledger;
        self.ledger = ledger.unwrap_or(before);
        if !meaning.shows_a_reader(result) {
            let mut later_ones = std::mem::replace(&mut self.messages, messages);
            // What the session gave back as unheard is among both.
            later_ones.retain(|later| !self.messages.contains(later));
            self.messages.extend(later_ones);
        }
        self.tally.stalled_sessions = match before == self.ledger {
            true => stalled_sessions(self.tally.stalled_sessions, &meaning, result, &plan),
            false => 0,
        };
        self.count(&meaning, result, &plan.instruction);
        let due = self.due(at, &meaning);
        let on_quota = matches!(meaning, Meaning::Quota { .. }).then_some(self.limits.on_quota);
        self.next(at, on_quota, &due)
    }

    /// Returns what the end of session `number` means; `None` if that session is not running.
    fn meaning_of(
        &self,
        number: u32,
        result: &SessionResult,
        ledger: &Result<LedgerView, Failure>,
    ) -> Option<Meaning> {
        let Doing::Session(plan) = &self.doing else {
            return None;
        };
        if plan.number != number {
            return None;
        }
        let before = &self.ledger;
        let after = ledger.as_ref().unwrap_or(before);
        Some(match (meaning(result, plan, before, after), ledger) {
            (quota @ Meaning::Quota { .. }, Err(error)) if error.retry == Retry::MayHelp => quota,
            (_, Err(error)) => Meaning::Error(error.clone()),
            (meaning, Ok(_)) => meaning,
        })
    }

    /// Returns why the running session `number` counts as failed although it ended normally.
    pub(super) fn flaw(
        &self,
        number: u32,
        result: &SessionResult,
        ledger: &Result<LedgerView, Failure>,
    ) -> Option<Failure> {
        let ended_normally = matches!(
            result.end,
            SessionEnd::Outcome(
                SessionOutcome::Completed | SessionOutcome::MaxTurns | SessionOutcome::Interrupted
            )
        );
        match self.meaning_of(number, result, ledger)? {
            Meaning::Error(error) if ended_normally => Some(error),
            _ => None,
        }
    }

    fn count(&mut self, meaning: &Meaning, result: &SessionResult, instruction: &InstructionName) {
        let tally = &mut self.tally;
        tally.cost.merge(result.cost);
        tally.tokens += result.tokens;
        match meaning {
            Meaning::Quota { .. } => {
                tally.quota_stops_in_a_row = tally.quota_stops_in_a_row.saturating_add(1);
                return;
            }
            Meaning::Completed => {
                tally.consecutive_errors = 0;
                tally.last_error = None;
                // Only a plan that is whole may be verified.
                tally.planned |= *instruction == InstructionName::Sync;
            }
            Meaning::Neutral => tally.last_error = None,
            Meaning::Spent(budget) => {
                tally.last_error = None;
                tally.budget_spent = Some(*budget);
            }
            Meaning::Error(error) => {
                tally.consecutive_errors = tally.consecutive_errors.saturating_add(1);
                tally.last_error = Some(error.clone());
            }
        }
        tally.iterations = tally.iterations.saturating_add(1);
        tally.quota_stops_in_a_row = 0;
    }

    /// Returns the wait that is due after a session.
    fn due(&self, at: Timestamp, meaning: &Meaning) -> Due {
        let pause = self.limits.pause;
        match meaning {
            Meaning::Quota { resets_at } => {
                let stops = self.tally.quota_stops_in_a_row;
                let next_try = self.limits.quota_backoff.next_try(at, *resets_at, stops);
                let until = next_try.max(later(at, pause));
                let reason = match resets_at {
                    Some(reset) if *reset == until => WaitReason::Quota,
                    _ => WaitReason::QuotaBackoff,
                };
                Due {
                    reason,
                    until,
                    quota_resets_at: resets_at.filter(|reset| *reset > at),
                }
            }
            Meaning::Error(Failure {
                retry_after: Some(delay),
                ..
            }) if *delay > pause => Due::new(WaitReason::RetryAfter, later(at, *delay)),
            _ => Due::new(WaitReason::Pause, later(at, pause)),
        }
    }

    /// Goes on after a wait or a hold, with the ledger as it is then.
    fn look_again(&mut self, at: Timestamp, ledger: Result<LedgerView, Failure>) -> RunAction {
        match ledger {
            Ok(ledger) => {
                if ledger != self.ledger {
                    // Another writer changed it, which gives the agent new work.
                    self.tally.stalled_sessions = 0;
                }
                self.ledger = ledger;
            }
            Err(error) if error.retry == Retry::Useless => {
                return self.finish(ExitReason::Failed { error });
            }
            // The session that follows will tell whether it has got better.
            Err(_) => {}
        }
        self.go_on(at)
    }

    fn go_on(&mut self, at: Timestamp) -> RunAction {
        let due = Due::new(WaitReason::Pause, at);
        self.next(at, None, &due)
    }

    /// Looks up what is to be done in the decision table.
    fn decision(&self, at: Timestamp, quota: Option<OnQuota>, due: &Due) -> Decision {
        let situation = Situation {
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
        decide(&situation)
    }

    /// Decides what comes next.
    fn next(&mut self, at: Timestamp, quota: Option<OnQuota>, due: &Due) -> RunAction {
        match self.decision(at, quota, due) {
            Decision::Exit(exit) => self.finish(exit),
            Decision::NextSession if due.until <= at && self.pause_requested => {
                self.doing = Doing::Holding;
                self.action()
            }
            Decision::NextSession if due.until <= at => self.start_session(at),
            Decision::NextSession | Decision::WaitForQuota => {
                self.doing = Doing::Waiting {
                    reason: due.reason,
                    until: due.until,
                };
                self.action()
            }
        }
    }

    fn start_session(&mut self, at: Timestamp) -> RunAction {
        self.tally.sessions = self.tally.sessions.saturating_add(1);
        self.doing = Doing::Session(SessionPlan {
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
        self.doing = Doing::Finished { exit };
        self.action()
    }

    /// Returns the part of the budget that is spent, or can no longer be kept.
    fn budget_spent(&self, at: Timestamp) -> Option<BudgetKind> {
        let unknown = self.tally.cost.unknown_parts;
        let money_is_a_guess =
            self.limits.budget.cost_usd.is_some() && unknown > self.limits.max_retries;
        self.tally
            .budget_spent
            .or_else(|| self.limits.budget.exhausted(&self.spent(at)))
            .or(money_is_a_guess.then_some(BudgetKind::Cost))
    }

    fn workflow(&self) -> Workflow {
        Workflow::new(self.limits.mode)
    }

    fn elapsed(&self, at: Timestamp) -> Duration {
        self.started_at
            .map_or(Duration::ZERO, |started| between(started, at))
    }

    fn deadline(&self) -> Option<Timestamp> {
        let from = self.time_counts_from.or(self.started_at)?;
        Some(later(from, self.limits.budget.time?))
    }

    fn budget_left(&self, at: Timestamp) -> Budget {
        self.limits.budget.remaining(&self.spent(at))
    }

    fn spent(&self, at: Timestamp) -> Spent {
        Spent {
            cost: self.tally.cost,
            tokens: self.tally.tokens,
            time: self
                .time_counts_from
                .map_or_else(|| self.elapsed(at), |from| between(from, at)),
        }
    }
}
