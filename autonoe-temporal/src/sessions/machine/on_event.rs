//! Event handlers of a [`SessionsMachine`], and the end of a run.

use autonoe_core::RunReport;
use autonoe_core::engine::{HostedOutcome, RunInstruction};
use autonoe_core::event::{Failure, Retry};
use autonoe_core::ledger::LedgerView;
use autonoe_core::run::{RunAction, RunFact, SessionPlan};
use autonoe_core::time::Epoch;
use jiff::Timestamp;

use super::super::activities::{Claim, EndCall, SessionAnswer};
use super::{NoAnswer, SessionsEvent, SessionsMachine, SessionsStep};

impl SessionsMachine {
    /// Handles an event. An event that does not fit the current state is ignored.
    pub(in crate::sessions) fn on_event(&mut self, now: Timestamp, event: SessionsEvent) {
        match event {
            SessionsEvent::Claimed(claimed) => self.claimed(now, claimed),
            SessionsEvent::LedgerRead(ledger_read) => self.ledger_read(ledger_read),
            SessionsEvent::Answered(answer) => {
                if let RunAction::StartSession(plan) = self.known.machine.action() {
                    self.answered(now, &plan, answer);
                }
            }
            SessionsEvent::Concluded => self.concluded(),
            SessionsEvent::TimedOut => self.waits_before_retry = false,
            SessionsEvent::Instructed(instruction) => self.instructed(instruction),
            SessionsEvent::Cancelled(reason) => {
                self.cancelled.get_or_insert(reason);
            }
            SessionsEvent::HistoryIsLong => self.is_long = true,
        }
    }

    fn instructed(&mut self, instruction: RunInstruction) {
        match instruction {
            RunInstruction::Pause => self.known.is_paused = true,
            RunInstruction::Resume => self.known.is_paused = false,
            RunInstruction::Message(_) => {}
        }
        self.known.inbox.push(instruction);
    }

    fn claimed(&mut self, now: Timestamp, claimed: Result<Claim, Failure>) {
        let session = match self.known.machine.action() {
            RunAction::StartSession(plan) => Some(plan),
            _ => None,
        };
        match claimed {
            Ok(mut claim) => {
                // Higher than the epoch of any earlier host, even if a host has lost its own epoch.
                let next = Epoch(self.known.epoch.0.saturating_add(1));
                claim.epoch = claim.epoch.max(next);
                self.known.epoch = claim.epoch;
                if session.is_none() {
                    self.ledger_read = Some(claim.ledger.clone());
                }
                self.known.claim = Some(claim);
            }
            Err(error) => match session {
                None => self.ledger_read = Some(Err(error)),
                Some(plan) => self.fail(now, &plan, error),
            },
        }
    }

    fn ledger_read(&mut self, ledger_read: Result<Result<LedgerView, Failure>, NoAnswer>) {
        let cancelled = || Failure::retryable("cancelled", "the run was cancelled");
        self.ledger_read = match ledger_read {
            Ok(ledger) => Some(ledger),
            Err(NoAnswer::Cancelled) => Some(Err(cancelled())),
            Err(NoAnswer::Worker(reason)) => Some(Err(Failure::retryable("worker_lost", reason))),
            Err(NoAnswer::HostUnreachable) => {
                self.known.claim = None;
                None
            }
        };
    }

    fn answered(
        &mut self,
        now: Timestamp,
        plan: &SessionPlan,
        answer: Result<SessionAnswer, NoAnswer>,
    ) {
        match answer {
            Ok(SessionAnswer::Ended(outcome)) => self.ended(now, plan, *outcome),
            Ok(SessionAnswer::Fenced { latest }) => {
                let epoch = latest.0;
                let reason = format!("another run has taken over the project with epoch {epoch}");
                self.fail(now, plan, Failure::permanent("overtaken", reason));
            }
            Ok(SessionAnswer::Failed(error)) if error.retry == Retry::Permanent => {
                self.fail(now, plan, error);
            }
            Ok(SessionAnswer::Failed(error)) => {
                self.waits_before_retry = true;
                self.attempt_failed(now, plan, error);
            }
            Ok(SessionAnswer::Cancelled) | Err(NoAnswer::Cancelled) => {
                self.waits_before_retry = true;
                let reason =
                    "the session was cancelled repeatedly, although the run is not cancelled";
                self.attempt_failed(
                    now,
                    plan,
                    Failure::permanent("cancelled_unexpectedly", reason),
                );
            }
            Err(NoAnswer::HostUnreachable) => {
                self.known.losses.host_lost();
                self.known.claim = None;
            }
            Err(NoAnswer::Worker(reason)) => {
                self.known.losses.worker_lost();
                self.attempt_failed(now, plan, Failure::permanent("worker_lost", reason));
            }
        }
    }

    fn ended(&mut self, now: Timestamp, plan: &SessionPlan, outcome: HostedOutcome) {
        let losses = std::mem::take(&mut self.known.losses);
        self.apply_lost_sessions(now, plan.number, losses.answered(outcome.lost));
        // Instructions that arrived meanwhile come first, because a pause holds the next session.
        // While there is a session, none of them needs the ledger.
        let _ = self.apply_instructions(now);
        self.sessions += 1;
        self.known.tries = 0;
        let ended = RunFact::SessionEnded {
            at: now,
            number: plan.number,
            result: outcome.result,
            ledger: outcome.ledger,
        };
        self.apply(now, ended);
    }

    /// Counts a failed attempt. After the last one the run has failed.
    fn attempt_failed(&mut self, now: Timestamp, plan: &SessionPlan, error: Failure) {
        self.known.tries += 1;
        if self.known.tries >= self.begin.timeouts.attempts {
            self.fail(now, plan, error);
        }
    }

    /// Fails the run, unless it is being cancelled anyway.
    fn fail(&mut self, now: Timestamp, plan: &SessionPlan, error: Failure) {
        if self.cancelled.is_some() {
            return;
        }
        self.apply_lost_sessions(now, plan.number, self.known.losses.unanswered());
        self.apply(now, RunFact::Failed { error });
    }
}

/// The end of a run. Its report is created once, so that the host's record and the reported end
/// have the same times.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Ending {
    /// The host is to record it.
    Concluding {
        /// The queue of the host.
        queue: String,
        end: Box<EndCall>,
    },
    /// The host has recorded it, or cannot.
    Concluded(Box<RunReport>),
}

impl SessionsMachine {
    /// Ends the run after its host has recorded the end. Without a host the run ends at once.
    pub(super) fn end(&mut self, report: RunReport) -> SessionsStep {
        let ending = match &self.known.claim {
            Some(claim) => Ending::Concluding {
                queue: claim.queue.clone(),
                end: Box::new(EndCall {
                    run_ref: self.run_ref(),
                    epoch: claim.epoch,
                    report,
                }),
            },
            None => Ending::Concluded(Box::new(report)),
        };
        let step = self.ended_with(&ending);
        self.ending = Some(ending);
        step
    }

    /// Returns the next step of the end.
    pub(super) fn ended_with(&self, ending: &Ending) -> SessionsStep {
        match ending.clone() {
            Ending::Concluding { queue, end } => SessionsStep::Conclude { queue, end },
            Ending::Concluded(mut report) => {
                // Messages that arrived while the host recorded the end are undelivered, and
                // reported as such.
                let messages =
                    self.known
                        .inbox
                        .iter()
                        .filter_map(|instruction| match instruction {
                            RunInstruction::Message(text) => Some(text.clone()),
                            RunInstruction::Pause | RunInstruction::Resume => None,
                        });
                report.undelivered_messages.extend(messages);
                SessionsStep::Finish(report)
            }
        }
    }

    /// Handles the answer of the host, whether it has recorded the end or not.
    pub(super) fn concluded(&mut self) {
        if let Some(Ending::Concluding { end, .. }) = &self.ending {
            self.ending = Some(Ending::Concluded(Box::new(end.report.clone())));
        }
    }
}
