//! What a run makes of what comes to it.

use autonoe_core::{
    Epoch, Failure, HostedOutcome, LedgerView, Retry, RunAction, RunFact, RunInstruction,
    SessionPlan,
};
use jiff::Timestamp;

use super::super::calls::{Claim, SessionAnswer};
use super::{Came, Lost, SessionsCourse};

impl SessionsCourse {
    /// Takes in what has come. What fits nothing that is under way changes nothing.
    pub(in crate::sessions) fn came(&mut self, now: Timestamp, came: Came) {
        match came {
            Came::Claimed(claimed) => self.claimed(now, claimed),
            Came::Looked(looked) => self.looked(looked),
            Came::Answered(answer) => {
                if let RunAction::StartSession(plan) = self.known.machine.action() {
                    self.answered(now, &plan, answer);
                }
            }
            Came::Concluded => self.concluded(),
            Came::TimeIsUp => self.rests = false,
            Came::Told(told) => self.told(told),
            Came::Cancelled(why) => {
                self.cancelled.get_or_insert(why);
            }
            Came::HistoryIsLong => self.is_long = true,
        }
    }

    fn told(&mut self, told: RunInstruction) {
        match told {
            RunInstruction::Pause => self.known.is_paused = true,
            RunInstruction::Resume => self.known.is_paused = false,
            RunInstruction::Say(_) => {}
        }
        self.known.inbox.push(told);
    }

    fn claimed(&mut self, now: Timestamp, claimed: Result<Claim, Failure>) {
        let session = match self.known.machine.action() {
            RunAction::StartSession(plan) => Some(plan),
            _ => None,
        };
        match claimed {
            Ok(mut claim) => {
                // Higher than that of any host before, also where nothing is known of them.
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

    fn looked(&mut self, looked: Result<Result<LedgerView, Failure>, Lost>) {
        let cancelled = || Failure::retryable("cancelled", "the run was cancelled");
        self.looked = match looked {
            Ok(ledger) => Some(ledger),
            Err(Lost::Cancelled) => Some(Err(cancelled())),
            Err(Lost::Worker(why)) => Some(Err(Failure::retryable("worker_lost", why))),
            Err(Lost::HostIsGone) => {
                self.known.claim = None;
                None
            }
        };
    }

    fn answered(
        &mut self,
        now: Timestamp,
        plan: &SessionPlan,
        answer: Result<SessionAnswer, Lost>,
    ) {
        match answer {
            Ok(SessionAnswer::Ended(outcome)) => self.ended(now, plan, *outcome),
            Ok(SessionAnswer::Fenced { latest }) => {
                let epoch = latest.0;
                let why = format!("somebody has taken over the project with epoch {epoch}");
                self.fail(now, plan, Failure::permanent("overtaken", why));
            }
            Ok(SessionAnswer::Failed(error)) if error.retry == Retry::Useless => {
                self.fail(now, plan, error);
            }
            Ok(SessionAnswer::Failed(error)) => {
                self.rests = true;
                self.tried(now, plan, error);
            }
            Ok(SessionAnswer::Cancelled) | Err(Lost::Cancelled) => {
                self.rests = true;
                let why = "the session is cancelled again and again, and nobody cancels the run";
                self.tried(now, plan, Failure::permanent("cancelled_by_nobody", why));
            }
            Err(Lost::HostIsGone) => {
                self.known.losses.host_is_gone();
                self.known.claim = None;
            }
            Err(Lost::Worker(why)) => {
                self.known.losses.worker_is_gone();
                self.tried(now, plan, Failure::permanent("worker_lost", why));
            }
        }
    }

    fn ended(&mut self, now: Timestamp, plan: &SessionPlan, outcome: HostedOutcome) {
        let losses = std::mem::take(&mut self.known.losses);
        self.lose(now, plan.number, losses.answered(outcome.lost));
        // What was told meanwhile comes first: a pause holds the next session. No ledger has to be
        // looked at for that while there is a session.
        let _ = self.heed(now);
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

    /// Counts a try in vain. After the last of them the run has failed.
    fn tried(&mut self, now: Timestamp, plan: &SessionPlan, error: Failure) {
        self.known.tries += 1;
        if self.known.tries >= self.begin.pace.attempts {
            self.fail(now, plan, error);
        }
    }

    /// Tells the machine that the run cannot go on, unless it is to end anyway.
    fn fail(&mut self, now: Timestamp, plan: &SessionPlan, error: Failure) {
        if self.cancelled.is_some() {
            return;
        }
        self.lose(now, plan.number, self.known.losses.unanswered());
        self.apply(now, RunFact::Failed { error });
    }
}
