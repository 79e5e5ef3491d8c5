//! The loop as a state machine without I/O.

mod accounting;
mod decide;
mod fact;
mod limits;
#[cfg(test)]
mod tests;

use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use self::accounting::{Meaning, meaning};
use self::decide::{Decision, Situation, decide};
pub use self::fact::{RunAction, RunFact, SessionPlan};
pub use self::limits::RunLimits;
use crate::domain::quota::{between, later};
use crate::domain::{
    Activity, BudgetKind, CostTotal, ExitReason, Failure, InstructionName, LedgerView, Mode, RunId,
    RunReport, SessionEnd, SessionResult, Spent, TokenUsage, Workflow,
};
use crate::port::WaitReason;

/// The loop as a state machine: facts in, actions out.
///
/// It has no clock, does no I/O and draws no random numbers; the same facts
/// give the same actions. It can be serialised at any point and goes on from
/// there, in another process or on another host.
/// [`SessionRunner`](crate::SessionRunner) drives it in-process.
///
/// A fact that does not fit (a session that was not asked for, a wait that
/// nobody waits for) changes nothing. After `Finish` every fact gives the same
/// `Finish` again.
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
    started_at: Option<Timestamp>,
    ledger: LedgerView,
    tally: Tally,
    messages: Vec<String>,
    pause_requested: bool,
    cancelled: bool,
}

/// What is under way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "doing", rename_all = "snake_case")]
enum Doing {
    Nothing,
    Session {
        number: u32,
        instruction: InstructionName,
        messages: Vec<String>,
    },
    Waiting,
    Holding,
    Finished {
        exit: ExitReason,
    },
}

/// What has been counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Tally {
    sessions: u32,
    iterations: u32,
    consecutive_errors: u32,
    quota_stops_in_a_row: u32,
    last_error: Option<Failure>,
    planned: bool,
    budget_spent: Option<BudgetKind>,
    cost: CostTotal,
    tokens: TokenUsage,
}

impl RunMachine {
    /// Makes the machine of a run that has not begun.
    pub fn new(limits: RunLimits) -> Self {
        Self {
            limits,
            doing: Doing::Nothing,
            started_at: None,
            ledger: LedgerView::default(),
            tally: Tally::default(),
            messages: Vec::new(),
            pause_requested: false,
            cancelled: false,
        }
    }

    /// Takes notice of `fact` and says what is to be done.
    #[must_use = "the run stands still until the action is carried out"]
    pub fn apply(&mut self, fact: RunFact) -> RunAction {
        if let Doing::Finished { exit } = &self.doing {
            return RunAction::Finish { exit: exit.clone() };
        }
        match fact {
            RunFact::Started { at, ledger } if self.started_at.is_none() => {
                self.started_at = Some(at);
                self.ledger = ledger;
                self.next(at, None, Duration::ZERO)
            }
            RunFact::SessionEnded {
                at,
                number,
                result,
                ledger,
            } => self.session_ended(at, number, &result, ledger),
            RunFact::WaitOver { at } if self.doing == Doing::Waiting => {
                self.next(at, None, Duration::ZERO)
            }
            RunFact::Cancelled => {
                self.cancelled = true;
                match self.doing {
                    Doing::Session { .. } => RunAction::StopSession,
                    _ => self.finish(ExitReason::Interrupted),
                }
            }
            RunFact::PauseRequested => {
                self.pause_requested = true;
                RunAction::Continue
            }
            RunFact::ResumeRequested { at } => {
                self.pause_requested = false;
                match self.doing {
                    Doing::Holding => self.next(at, None, Duration::ZERO),
                    _ => RunAction::Continue,
                }
            }
            RunFact::Instructed { text } => {
                self.messages.push(text);
                RunAction::Continue
            }
            RunFact::Failed { error } => self.finish(ExitReason::Failed { error }),
            RunFact::Started { .. } | RunFact::WaitOver { .. } => RunAction::Continue,
        }
    }

    /// Returns the numbers of the ledger as the machine knows them.
    pub fn ledger(&self) -> LedgerView {
        self.ledger
    }

    /// Returns what the run comes to when it ends at `at` because of `exit`.
    pub fn report(&self, run: &RunId, exit: ExitReason, at: Timestamp) -> RunReport {
        let counts = self.ledger.counts;
        let (verified, verified_total) = match self.limits.mode {
            Mode::Run => (0, 0),
            Mode::Sync => (self.ledger.verified, counts.total),
        };
        RunReport {
            run: run.clone(),
            exit,
            iterations: self.tally.iterations,
            sessions: self.tally.sessions,
            passed: counts.passed,
            total: counts.total,
            blocked: counts.blocked,
            verified,
            verified_total,
            elapsed: self.elapsed(at),
            cost: self.tally.cost,
            tokens: self.tally.tokens,
        }
    }

    fn session_ended(
        &mut self,
        at: Timestamp,
        number: u32,
        result: &SessionResult,
        ledger: Result<LedgerView, Failure>,
    ) -> RunAction {
        if !matches!(self.doing, Doing::Session { number: ours, .. } if ours == number) {
            return RunAction::Continue;
        }
        let Doing::Session {
            instruction,
            mut messages,
            ..
        } = std::mem::replace(&mut self.doing, Doing::Nothing)
        else {
            return RunAction::Continue;
        };
        if result.activity == Activity::None {
            // The agent showed no sign of having read them: they are told again.
            messages.append(&mut self.messages);
            self.messages = messages;
        }
        if let SessionEnd::BudgetSpent { budget } = result.end {
            self.tally.budget_spent = Some(budget);
        }
        self.tally.cost.add(result.cost_usd);
        self.tally.tokens += result.tokens;
        if let Ok(ledger) = &ledger {
            self.ledger = *ledger;
        }
        let meaning = match ledger {
            Ok(ledger) => meaning(result, &instruction, &ledger),
            Err(error) => Meaning::Error(error),
        };
        let wait_for_retry = match &meaning {
            Meaning::Error(error) => error.retry_after.unwrap_or_default(),
            _ => Duration::ZERO,
        };
        self.count(&meaning, result, &instruction);
        let quota = match meaning {
            Meaning::Quota { resets_at } => Some(resets_at),
            _ => None,
        };
        self.next(at, quota, self.limits.pause.max(wait_for_retry))
    }

    fn count(&mut self, meaning: &Meaning, result: &SessionResult, instruction: &InstructionName) {
        let tally = &mut self.tally;
        match meaning {
            Meaning::Quota { .. } => {
                tally.quota_stops_in_a_row = tally.quota_stops_in_a_row.saturating_add(1);
                return;
            }
            Meaning::Completed => {
                tally.consecutive_errors = 0;
                tally.last_error = None;
            }
            Meaning::Neutral => tally.last_error = None,
            Meaning::Error(error) => {
                tally.consecutive_errors = tally.consecutive_errors.saturating_add(1);
                tally.last_error = Some(error.clone());
            }
        }
        tally.iterations = tally.iterations.saturating_add(1);
        tally.quota_stops_in_a_row = 0;
        let ended_in_order = matches!(
            (meaning, &result.end),
            (
                Meaning::Completed | Meaning::Neutral,
                SessionEnd::Outcome(_)
            )
        );
        if *instruction == InstructionName::Sync && ended_in_order {
            tally.planned = true;
        }
    }

    /// Decides what comes next. `quota`: the quota is spent, with its reset time if known.
    fn next(
        &mut self,
        at: Timestamp,
        quota: Option<Option<Timestamp>>,
        pause: Duration,
    ) -> RunAction {
        let backoff = &self.limits.quota_backoff;
        let next_try =
            quota.map(|resets_at| backoff.next_try(at, resets_at, self.tally.quota_stops_in_a_row));
        let situation = Situation {
            interrupted: self.cancelled,
            completion: self.workflow().completion(&self.ledger, self.tally.planned),
            quota: next_try.map(|until| (self.limits.on_quota, until)),
            deadline: self.deadline(),
            spent: self
                .tally
                .budget_spent
                .or_else(|| self.limits.budget.exhausted(&self.spent(at))),
            iterations: self.tally.iterations,
            max_iterations: self.limits.max_iterations,
            last_error: self.tally.last_error.as_ref(),
            consecutive_errors: self.tally.consecutive_errors,
            max_retries: self.limits.max_retries,
        };
        match decide(&situation) {
            Decision::Exit(exit) => self.finish(exit),
            Decision::WaitForQuota { until } => {
                let reason = match quota.flatten() {
                    Some(reset) if reset == until => WaitReason::Quota,
                    _ => WaitReason::QuotaBackoff,
                };
                self.wait(reason, until)
            }
            Decision::NextSession if pause > self.limits.pause => {
                self.wait(WaitReason::RetryAfter, later(at, pause))
            }
            Decision::NextSession if !pause.is_zero() => {
                self.wait(WaitReason::Pause, later(at, pause))
            }
            Decision::NextSession if self.pause_requested => {
                self.doing = Doing::Holding;
                RunAction::Hold
            }
            Decision::NextSession => self.start_session(at),
        }
    }

    fn start_session(&mut self, at: Timestamp) -> RunAction {
        self.tally.sessions = self.tally.sessions.saturating_add(1);
        let plan = SessionPlan {
            number: self.tally.sessions,
            instruction: self
                .workflow()
                .instruction(&self.ledger, self.tally.planned),
            messages: std::mem::take(&mut self.messages),
            budget: self.limits.budget.remaining(&self.spent(at)),
        };
        self.doing = Doing::Session {
            number: plan.number,
            instruction: plan.instruction.clone(),
            messages: plan.messages.clone(),
        };
        RunAction::StartSession(plan)
    }

    fn wait(&mut self, reason: WaitReason, until: Timestamp) -> RunAction {
        self.doing = Doing::Waiting;
        RunAction::Wait { reason, until }
    }

    fn finish(&mut self, exit: ExitReason) -> RunAction {
        self.doing = Doing::Finished { exit: exit.clone() };
        RunAction::Finish { exit }
    }

    fn workflow(&self) -> Workflow {
        Workflow::new(self.limits.mode)
    }

    fn elapsed(&self, at: Timestamp) -> Duration {
        self.started_at
            .map_or(Duration::ZERO, |started| between(started, at))
    }

    fn deadline(&self) -> Option<Timestamp> {
        Some(later(self.started_at?, self.limits.budget.time?))
    }

    fn spent(&self, at: Timestamp) -> Spent {
        Spent {
            cost: self.tally.cost,
            tokens: self.tally.tokens,
            time: self.elapsed(at),
        }
    }
}
