//! Event handlers of a [`SessionsMachine`].

use autonoe_core::engine::{HostedOutcome, RunInstruction};
use autonoe_core::event::{Failure, Retry};
use autonoe_core::ledger::LedgerView;
use autonoe_core::run::{RunAction, RunFact, SessionPlan};
use autonoe_core::time::Epoch;
use jiff::Timestamp;

use super::super::requests::{Claim, SessionAnswer};
use super::{NoAnswer, SessionsEvent, SessionsMachine};

impl SessionsMachine {
    /// Handles an event. An event that does not fit the current state is ignored.
    pub(in crate::sessions) fn on_event(&mut self, now: Timestamp, came: SessionsEvent) {
        match came {
            SessionsEvent::Claimed(claimed) => self.claimed(now, claimed),
            SessionsEvent::LedgerRead(looked) => self.looked(looked),
            SessionsEvent::Answered(answer) => {
                if let RunAction::StartSession(plan) = self.known.machine.action() {
                    self.answered(now, &plan, answer);
                }
            }
            SessionsEvent::Concluded => self.concluded(),
            SessionsEvent::TimedOut => self.rests = false,
            SessionsEvent::Instructed(instruction) => self.instructed(instruction),
            SessionsEvent::Cancelled(why) => {
                self.cancelled.get_or_insert(why);
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
                    self.looked = Some(claim.ledger.clone());
                }
                self.known.claim = Some(claim);
            }
            Err(error) => match session {
                None => self.looked = Some(Err(error)),
                Some(plan) => self.fail(now, &plan, error),
            },
        }
    }

    fn looked(&mut self, looked: Result<Result<LedgerView, Failure>, NoAnswer>) {
        let cancelled = || Failure::retryable("cancelled", "the run was cancelled");
        self.looked = match looked {
            Ok(ledger) => Some(ledger),
            Err(NoAnswer::Cancelled) => Some(Err(cancelled())),
            Err(NoAnswer::Worker(why)) => Some(Err(Failure::retryable("worker_lost", why))),
            Err(NoAnswer::HostIsGone) => {
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
                let why = format!("another run has taken over the project with epoch {epoch}");
                self.fail(now, plan, Failure::permanent("overtaken", why));
            }
            Ok(SessionAnswer::Failed(error)) if error.retry == Retry::Permanent => {
                self.fail(now, plan, error);
            }
            Ok(SessionAnswer::Failed(error)) => {
                self.rests = true;
                self.attempt_failed(now, plan, error);
            }
            Ok(SessionAnswer::Cancelled) | Err(NoAnswer::Cancelled) => {
                self.rests = true;
                let why = "the session was cancelled repeatedly, although the run is not cancelled";
                self.attempt_failed(now, plan, Failure::permanent("cancelled_by_nobody", why));
            }
            Err(NoAnswer::HostIsGone) => {
                self.known.losses.host_is_gone();
                self.known.claim = None;
            }
            Err(NoAnswer::Worker(why)) => {
                self.known.losses.worker_is_gone();
                self.attempt_failed(now, plan, Failure::permanent("worker_lost", why));
            }
        }
    }

    fn ended(&mut self, now: Timestamp, plan: &SessionPlan, outcome: HostedOutcome) {
        let losses = std::mem::take(&mut self.known.losses);
        self.lose(now, plan.number, losses.answered(outcome.lost));
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
        self.lose(now, plan.number, self.known.losses.unanswered());
        self.apply(now, RunFact::Failed { error });
    }
}
