//! What a run does next, as a value without a server, a clock or I/O.

mod coming;
mod ending;
mod step;
#[cfg(test)]
mod tests;

use std::ops::ControlFlow;
use std::time::Duration;

use autonoe_core::{
    ExitReason, Failure, HostedSession, LedgerView, Retry, RunAction, RunFact, RunInstruction,
    RunReport, RunSpec, RunWait, SESSIONS_JOB, SessionEnd, SessionPlan, SessionResult,
};
use jiff::Timestamp;

use super::begin::{Carried, SessionsBegin};
use super::calls::{SessionCall, Whose};
use super::ending::progress;
use crate::wire::Look;

use ending::Ending;
pub(super) use step::{Came, Lost, OnHost, Step};

/// How long to wait before something is tried again that did not begin.
const TRY_AGAIN: Duration = Duration::from_secs(5);

/// The course of a run that is driven session by session.
///
/// It is asked for the [`next`](Self::next) step and told what [`came`](Self::came) of it. The same
/// things told in the same order give the same steps, which is what a replay needs; the workflow
/// only carries them out.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SessionsCourse {
    begin: SessionsBegin,
    known: Carried,
    /// The sessions in this history.
    sessions: u32,
    /// The ledger that was asked for, until it is made use of.
    looked: Option<Result<LedgerView, Failure>>,
    /// Whether to wait before the next try.
    rests: bool,
    /// Why the run was cancelled, if it was.
    cancelled: Option<String>,
    is_long: bool,
    /// The end, once it is clear and the host is to be told. It is that whatever comes.
    ending: Option<Ending>,
}

impl SessionsCourse {
    /// Begins a run, or goes on with one whose history is begun anew.
    pub(super) fn of(mut begin: SessionsBegin) -> Self {
        let known = begin.carried.take();
        let known = known.unwrap_or_else(|| Carried::nothing(&begin.what));
        Self {
            begin,
            known,
            sessions: 0,
            looked: None,
            rests: false,
            cancelled: None,
            is_long: false,
            ending: None,
        }
    }

    /// Returns the run as one that is no member of a fleet would be submitted.
    pub(super) fn as_submitted(&self) -> RunSpec {
        let SessionsBegin { run, what, .. } = &self.begin;
        let run = run.id.clone();
        // What came as JSON is JSON.
        let input = serde_json::to_value(what).unwrap_or_default();
        RunSpec::new(run, SESSIONS_JOB, input)
    }

    /// Returns what the next history begins with.
    pub(super) fn anew(&self) -> SessionsBegin {
        SessionsBegin {
            carried: Some(self.known.clone()),
            ..self.begin.clone()
        }
    }

    /// Tells whether there is something that the run was told and has not taken notice of.
    pub(super) fn has_news(&self) -> bool {
        !self.known.inbox.is_empty()
    }

    /// Returns when something happened last.
    pub(super) fn at(&self) -> Timestamp {
        self.known.at
    }

    /// Returns what the steps are for.
    pub(super) fn whose(&self) -> Whose {
        Whose {
            run: self.begin.run.id.clone(),
            what: self.begin.what.clone(),
        }
    }

    /// Returns how the run stands, for who asks.
    pub(super) fn look(&self) -> Look {
        let report = self.report(ExitReason::Interrupted, self.known.at);
        let said = self.known.inbox.iter().map(|told| match told {
            RunInstruction::Say(text) => text.len(),
            RunInstruction::Pause | RunInstruction::Resume => 0,
        });
        let heeded = report.undelivered_messages.iter().map(String::len);
        Look {
            is_paused: self.known.is_paused,
            at: Some(progress(&report)),
            wait: match self.known.machine.action() {
                RunAction::Wait { reason, until } => Some(RunWait::new(reason, until)),
                _ => None,
            },
            unheard: said.chain(heeded).sum(),
        }
    }

    /// Says what is to be done now.
    pub(super) fn next(&mut self, now: Timestamp) -> Step {
        if let Some(ending) = &self.ending {
            return self.ended_with(ending);
        }
        loop {
            if self.heed(now).is_break() {
                return self.ask_for_ledger();
            }
            match self.known.machine.action() {
                RunAction::Finish { exit } => return self.end(self.report(exit, now)),
                RunAction::StopSession => self.stopped(now),
                _ if self.is_full() => return Step::BeginAnew,
                _ if self.rests => return Step::Timer(TRY_AGAIN),
                RunAction::Continue => match self.looked.take() {
                    None => return self.ask_for_ledger(),
                    Some(Ok(ledger)) => self.apply(now, RunFact::Started { at: now, ledger }),
                    Some(Err(error)) if error.retry == Retry::MayHelp => self.rests = true,
                    Some(Err(error)) => self.apply(now, RunFact::Failed { error }),
                },
                RunAction::StartSession(plan) => return self.session(&plan, now),
                RunAction::Wait { until, .. } if now < until => {
                    let left = until.duration_since(now);
                    return Step::Timer(Duration::try_from(left).unwrap_or_default());
                }
                RunAction::Wait { .. } => match self.looked.take() {
                    None => return self.ask_for_ledger(),
                    Some(ledger) => self.apply(now, RunFact::WaitOver { at: now, ledger }),
                },
                RunAction::Hold => return Step::AwaitInstruction,
            }
        }
    }

    /// Applies the instructions to the run, until one for which the ledger must be read first.
    fn heed(&mut self, now: Timestamp) -> ControlFlow<()> {
        while let Some(told) = self.known.inbox.first().cloned() {
            let fact = match told {
                RunInstruction::Say(text) => Some(RunFact::Instructed { text }),
                _ if self.cancelled.is_some() => None,
                RunInstruction::Pause => Some(RunFact::PauseRequested),
                RunInstruction::Resume => {
                    let ledger = match self.known.machine.action() {
                        RunAction::Hold => self.looked.take(),
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

    /// Tells the machine that the session that was to be stopped is over.
    fn stopped(&mut self, now: Timestamp) {
        // The last that was started is the one under way.
        let number = self.report(ExitReason::Interrupted, now).sessions;
        let losses = std::mem::take(&mut self.known.losses);
        self.lose(now, number, losses.unanswered());
        // A session that is lost counts as stopped for the machine; the run is still to end.
        self.apply(now, RunFact::Cancelled);
        let ended = RunFact::SessionEnded {
            at: now,
            number,
            result: SessionResult::new(SessionEnd::Cancelled),
            ledger: Ok(self.known.machine.ledger()),
        };
        self.apply(now, ended);
    }

    /// Tells the machine of sessions of which nobody knows what they cost.
    fn lose(&mut self, now: Timestamp, number: u32, count: u32) {
        for _ in 0..count {
            self.apply(now, RunFact::SessionLost { number });
        }
    }

    fn is_full(&self) -> bool {
        let most = self.begin.pace.sessions_in_history.max(1);
        self.is_long || self.sessions >= most
    }

    fn session(&self, plan: &SessionPlan, now: Timestamp) -> Step {
        let Some(claim) = &self.known.claim else {
            return self.claim();
        };
        let call = SessionCall {
            whose: self.whose(),
            number: plan.number,
            epoch: claim.epoch,
            session: HostedSession::from(plan).budget(plan.budget_at(now)),
        };
        Step::Session(self.on_host(&claim.queue), Box::new(call))
    }

    fn ask_for_ledger(&self) -> Step {
        match &self.known.claim {
            Some(claim) => Step::Look(self.on_host(&claim.queue)),
            None => self.claim(),
        }
    }

    fn claim(&self) -> Step {
        let queue = self.begin.host_queue.clone();
        Step::Claim { queue }
    }

    /// A run that is bound to its host waits for it.
    fn on_host(&self, queue: &str) -> OnHost {
        OnHost {
            queue: queue.to_owned(),
            patience: match self.begin.host_queue {
                Some(_) => None,
                None => Some(self.begin.pace.host),
            },
        }
    }

    fn apply(&mut self, now: Timestamp, fact: RunFact) {
        self.known.at = now;
        // What is to be done is read from the machine.
        let _ = self.known.machine.apply(fact);
    }

    fn report(&self, exit: ExitReason, at: Timestamp) -> RunReport {
        self.known.machine.report(&self.begin.run.id, exit, at)
    }
}
