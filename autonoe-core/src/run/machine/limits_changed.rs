//! What other limits mean for a run that goes on.

use jiff::Timestamp;

use super::{Decision, Doing, Due, GivenLimits, RunAction, RunMachine};
use crate::domain::LedgerView;
use crate::port::WaitReason;

impl RunMachine {
    /// Takes notice of other limits, and ends the run if it has reached one of them.
    pub(super) fn limits_changed(
        &mut self,
        at: Timestamp,
        given: &GivenLimits,
        ledger: LedgerView,
    ) -> RunAction {
        self.limits = given.over(&self.limits);
        if given.budget.time.is_some() && self.started_at.is_some() {
            self.time_counts_from = Some(at);
        }
        let now = Due::new(WaitReason::Pause, at);
        let mut ending = self.clone();
        let (quota, due) = match self.doing {
            Doing::Nothing | Doing::Finished { .. } => return RunAction::Continue,
            Doing::Holding => (None, now),
            Doing::Waiting { reason, until } => {
                let is_quota = matches!(reason, WaitReason::Quota | WaitReason::QuotaBackoff);
                let quota = is_quota.then_some(self.limits.on_quota);
                let quota_resets_at = (reason == WaitReason::Quota).then_some(until);
                let due = Due {
                    quota_resets_at,
                    ..Due::new(reason, until)
                };
                (quota, due)
            }
            Doing::Session(_) => {
                // It was lost with its process; who starts the run again wants it to go on.
                ending.lose_session();
                (None, now)
            }
        };
        // What was under way is ended by a limit alone. If one does, what has been done by then may
        // still be all.
        if let Decision::Exit(by_limit) = ending.decision(at, quota, &due) {
            ending.ledger = ledger;
            let exit = match ending.decision(at, quota, &due) {
                Decision::Exit(exit) => exit,
                _ => by_limit,
            };
            *self = ending;
            self.take_messages_back();
            return self.finish(exit);
        }
        let (budget, deadline) = (self.budget_left(at), self.deadline());
        if let Doing::Session(plan) = &mut self.doing {
            plan.budget = budget;
            plan.deadline = deadline;
        }
        RunAction::Continue
    }

    /// Counts a session that was lost with its process.
    pub(super) fn lose_session(&mut self) {
        // It may have cost something; nobody will ever know what.
        self.tally.cost.add(None);
        // Whoever wanted it stopped has got that.
        self.cancelled = false;
    }

    /// Keeps what the session under way was to be told, in front of what came later.
    fn take_messages_back(&mut self) {
        if let Doing::Session(plan) = &mut self.doing {
            let mut messages = std::mem::take(&mut plan.messages);
            messages.append(&mut self.messages);
            self.messages = messages;
        }
    }
}
