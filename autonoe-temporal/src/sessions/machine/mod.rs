//! [`SessionsMachine`]: state machine of a run that is driven session by session, without a server,
//! clock or I/O.

mod on_event;
#[cfg(test)]
mod tests;

use std::ops::ControlFlow;
use std::time::Duration;

use autonoe_core::agent::{SessionEnd, SessionReport};
use autonoe_core::engine::{HostedSession, RunInstruction, RunSpec, RunWait, SESSIONS_JOB};
use autonoe_core::event::{Failure, Retry};
use autonoe_core::ledger::LedgerView;
use autonoe_core::run::{RunAction, RunFact, SessionPlan};
use autonoe_core::{ExitReason, RunReport};
use jiff::Timestamp;
use on_event::Ending;

use super::activities::{Claim, EndCall, RunRef, SessionAnswer, SessionCall};
use super::input::{CarriedState, SessionsInput};
use super::workflow::progress;
use crate::wire::WorkflowState;

/// Wait before a retry of something that did not start.
const RETRY_WAIT: Duration = Duration::from_secs(5);

/// The state machine of a run that is driven session by session.
///
/// The workflow requests the [`next`](Self::next) step, performs it, and reports the result with
/// [`on_event`](Self::on_event). The same events in the same order produce the same steps, as replay
/// requires.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SessionsMachine {
    begin: SessionsInput,
    known: CarriedState,
    /// The number of sessions in this history.
    sessions: u32,
    /// The requested ledger, until it is used.
    ledger_read: Option<Result<LedgerView, Failure>>,
    /// Whether to wait before the next attempt.
    waits_before_retry: bool,
    /// Reason for the cancellation, if the run was cancelled.
    cancelled: Option<String>,
    is_long: bool,
    /// The end, once it is decided. Later events do not change it.
    ending: Option<Ending>,
}

impl SessionsMachine {
    /// Creates the state machine of a new run, or of one that continues with a new history.
    pub(super) fn new(mut begin: SessionsInput) -> Self {
        let known = begin.carried.take();
        let known = known.unwrap_or_else(|| CarriedState::initial(&begin.sessions));
        Self {
            begin,
            known,
            sessions: 0,
            ledger_read: None,
            waits_before_retry: false,
            cancelled: None,
            is_long: false,
            ending: None,
        }
    }

    /// Returns the run as it would be submitted outside of a fleet.
    pub(super) fn as_submitted(&self) -> RunSpec {
        let SessionsInput { run, sessions, .. } = &self.begin;
        let run = run.id.clone();
        // The value was parsed from JSON, so it serializes.
        let input = serde_json::to_value(sessions).unwrap_or_default();
        RunSpec::new(run, SESSIONS_JOB, input)
    }

    /// Returns the input of the next history.
    pub(super) fn next_input(&self) -> SessionsInput {
        SessionsInput {
            carried: Some(self.known.clone()),
            ..self.begin.clone()
        }
    }

    /// Returns whether there are unprocessed instructions.
    pub(super) fn has_instructions(&self) -> bool {
        !self.known.inbox.is_empty()
    }

    /// Returns the time of the last event.
    pub(super) fn at(&self) -> Timestamp {
        self.known.at
    }

    /// Returns the run that the steps belong to.
    pub(super) fn run_ref(&self) -> RunRef {
        RunRef {
            run: self.begin.run.id.clone(),
            sessions: self.begin.sessions.clone(),
        }
    }

    /// Returns the state of the run, for queries.
    pub(super) fn state(&self) -> WorkflowState {
        let report = self.report(ExitReason::Interrupted, self.known.at);
        let pending = self
            .known
            .inbox
            .iter()
            .map(|instruction| match instruction {
                RunInstruction::Message(text) => text.len(),
                RunInstruction::Pause | RunInstruction::Resume => 0,
            });
        let processed = report.undelivered_messages.iter().map(String::len);
        WorkflowState {
            is_paused: self.known.is_paused,
            at: Some(progress(&report)),
            wait: match self.known.machine.action() {
                RunAction::Wait { reason, until } => Some(RunWait::new(reason, until)),
                _ => None,
            },
            undelivered_bytes: pending.chain(processed).sum(),
        }
    }

    /// Returns the next step.
    pub(super) fn next(&mut self, now: Timestamp) -> SessionsStep {
        if let Some(ending) = &self.ending {
            return self.ended_with(ending);
        }
        loop {
            if self.apply_instructions(now).is_break() {
                return self.request_ledger();
            }
            match self.known.machine.action() {
                RunAction::Finish { exit } => return self.end(self.report(exit, now)),
                RunAction::StopSession => self.stopped(now),
                _ if self.is_full() => return SessionsStep::NewHistory,
                _ if self.waits_before_retry => return SessionsStep::Timer(RETRY_WAIT),
                RunAction::Continue => match self.ledger_read.take() {
                    None => return self.request_ledger(),
                    Some(Ok(ledger)) => self.apply(now, RunFact::Started { at: now, ledger }),
                    Some(Err(error)) if error.retry == Retry::Retryable => {
                        self.waits_before_retry = true;
                    }
                    Some(Err(error)) => self.apply(now, RunFact::Failed { error }),
                },
                RunAction::StartSession(plan) => return self.session(&plan, now),
                RunAction::Wait { until, .. } if now < until => {
                    let left = until.duration_since(now);
                    return SessionsStep::Timer(Duration::try_from(left).unwrap_or_default());
                }
                RunAction::Wait { .. } => match self.ledger_read.take() {
                    None => return self.request_ledger(),
                    Some(ledger) => self.apply(now, RunFact::WaitOver { at: now, ledger }),
                },
                RunAction::Hold => return SessionsStep::AwaitInstruction,
            }
        }
    }

    /// Applies the instructions to the run, up to one that requires the ledger first.
    fn apply_instructions(&mut self, now: Timestamp) -> ControlFlow<()> {
        while let Some(instruction) = self.known.inbox.first().cloned() {
            let fact = match instruction {
                RunInstruction::Message(text) => Some(RunFact::MessageQueued { text }),
                _ if self.cancelled.is_some() => None,
                RunInstruction::Pause => Some(RunFact::PauseRequested),
                RunInstruction::Resume => {
                    let ledger = match self.known.machine.action() {
                        RunAction::Hold => self.ledger_read.take(),
                        _ => Some(Ok(self.known.machine.ledger())),
                    };
                    let Some(ledger) = ledger else {
                        return ControlFlow::Break(());
                    };
                    Some(RunFact::ResumeRequested { at: now, ledger })
                }
            };
            self.known.inbox.remove(0);
            if let Some(fact) = fact {
                self.apply(now, fact);
            }
        }
        if self.cancelled.is_some() {
            self.apply(now, RunFact::Cancelled);
        }
        ControlFlow::Continue(())
    }

    /// Applies the end of the stopped session to the machine.
    fn stopped(&mut self, now: Timestamp) {
        // The last started session is the one in progress.
        let number = self.report(ExitReason::Interrupted, now).sessions;
        let losses = std::mem::take(&mut self.known.losses);
        self.apply_lost_sessions(now, number, losses.unanswered());
        // A lost session counts as stopped for the machine. The run still has to end.
        self.apply(now, RunFact::Cancelled);
        let ended = RunFact::SessionEnded {
            at: now,
            number,
            result: SessionReport::new(SessionEnd::Cancelled),
            ledger: Ok(self.known.machine.ledger()),
        };
        self.apply(now, ended);
    }

    /// Applies lost sessions, whose cost is unknown, to the machine.
    fn apply_lost_sessions(&mut self, now: Timestamp, number: u32, count: u32) {
        for _ in 0..count {
            self.apply(now, RunFact::SessionLost { number });
        }
    }

    fn is_full(&self) -> bool {
        let most = self.begin.timeouts.sessions_in_history.max(1);
        self.is_long || self.sessions >= most
    }

    fn session(&self, plan: &SessionPlan, now: Timestamp) -> SessionsStep {
        let Some(claim) = &self.known.claim else {
            return self.claim();
        };
        let call = SessionCall {
            run_ref: self.run_ref(),
            number: plan.number,
            epoch: claim.epoch,
            session: HostedSession::from(plan).budget(plan.budget_at(now)),
        };
        SessionsStep::Session(self.on_host(&claim.queue), Box::new(call))
    }

    fn request_ledger(&self) -> SessionsStep {
        match &self.known.claim {
            Some(claim) => SessionsStep::ReadLedger(self.on_host(&claim.queue)),
            None => self.claim(),
        }
    }

    fn claim(&self) -> SessionsStep {
        let queue = self.begin.host_queue.clone();
        SessionsStep::Claim { queue }
    }

    /// Returns the target host of a step. A run that is bound to its host waits for it.
    fn on_host(&self, queue: &str) -> TargetHost {
        TargetHost {
            queue: queue.to_owned(),
            timeout: match self.begin.host_queue {
                Some(_) => None,
                None => Some(self.begin.timeouts.host),
            },
        }
    }

    fn apply(&mut self, now: Timestamp, fact: RunFact) {
        self.known.at = now;
        // The next action is read from the machine later.
        let _ = self.known.machine.apply(fact);
    }

    fn report(&self, exit: ExitReason, at: Timestamp) -> RunReport {
        self.known.machine.report(&self.begin.run.id, exit, at)
    }
}

/// The next step of a run.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::sessions) enum SessionsStep {
    /// Let a host claim the run; answer with [`SessionsEvent::Claimed`].
    Claim {
        /// The queue of the required host, or `None` for any host.
        queue: Option<String>,
    },
    /// Let the host of the run read the ledger; answer with [`SessionsEvent::LedgerRead`].
    ReadLedger(TargetHost),
    /// Let the host of the run execute a session; answer with [`SessionsEvent::Answered`].
    Session(TargetHost, Box<SessionCall>),
    /// Wait for this duration; answer with [`SessionsEvent::TimedOut`].
    Timer(Duration),
    /// Wait for [`SessionsEvent::Instructed`] or [`SessionsEvent::Cancelled`].
    AwaitInstruction,
    /// Continue with a new history and the current state.
    NewHistory,
    /// Let the host with this queue record the end of the run, if it can, within
    /// [`Timeouts::end`](crate::Timeouts::end). Answer with [`SessionsEvent::Concluded`].
    Conclude {
        /// The queue of the host.
        queue: String,
        /// The end.
        end: Box<EndCall>,
    },
    /// The run is over.
    Finish(Box<RunReport>),
}

/// The target host of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::sessions) struct TargetHost {
    pub(in crate::sessions) queue: String,
    /// Time that the host has to accept the request, before it counts as gone; unlimited if `None`.
    pub(in crate::sessions) timeout: Option<Duration>,
}

/// An event of a run. All events except [`Instructed`](Self::Instructed),
/// [`Cancelled`](Self::Cancelled) and [`HistoryIsLong`](Self::HistoryIsLong) answer the last step.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::sessions) enum SessionsEvent {
    /// A host has claimed the run, or none could.
    Claimed(Result<Claim, Failure>),
    /// The ledger was read.
    LedgerRead(Result<Result<LedgerView, Failure>, NoAnswer>),
    /// The answer to a session request.
    Answered(Result<SessionAnswer, NoAnswer>),
    /// The end of the run was recorded, or cannot be.
    Concluded,
    /// A timer has fired, or was cancelled with the run.
    TimedOut,
    /// An operator has sent an instruction.
    Instructed(RunInstruction),
    /// An operator has cancelled the run, with a reason.
    Cancelled(String),
    /// The server requests a new history.
    HistoryIsLong,
}

/// Reason why a host did not answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::sessions) enum NoAnswer {
    /// The run was cancelled.
    Cancelled,
    /// No worker of the host accepted the request.
    HostUnreachable,
    /// The worker that accepted it has died or abandoned it.
    Worker(String),
}
