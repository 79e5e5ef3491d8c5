//! Effect of changed limits on a resumed run.

use jiff::Timestamp;

use super::{Decision, LimitOverrides, MachineState, PendingWait, RunAction, RunMachine};
use crate::event::WaitReason;
use crate::ledger::LedgerView;

impl RunMachine {
    /// Applies the changed limits, and ends the run if it has reached one of them.
    pub(super) fn change_limits(
        &mut self,
        at: Timestamp,
        given: &LimitOverrides,
        ledger: LedgerView,
    ) -> RunAction {
        self.limits = given.over(&self.limits);
        if given.budget.time.is_some() && self.started_at.is_some() {
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
