//! Waits and pauses of a flow.

use futures::future;
use jiff::Timestamp;

use super::OpenSessions;
use super::open_sessions::min_option;
use crate::agent::SessionEnd;
use crate::event::{RunEventKind, WaitReason};
use crate::run::control::Inbox;
use crate::run::wait::WaitOutcome;
use crate::time::timestamp::between;

/// The end of a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "a wait may have been cut short"]
pub enum SessionWait {
    /// The time was reached.
    Over,
    /// The flow was cancelled.
    Cancelled,
    /// The time budget of the flow ended first.
    TimeBudgetSpent,
}

impl OpenSessions {
    /// Waits until `until`, emits the reason to observers, and handles requests meanwhile.
    pub async fn wait(&mut self, reason: WaitReason, until: Timestamp) -> SessionWait {
        let end = min_option(self.deadline, Some(until)).unwrap_or(until);
        let waited = self.context.wait(reason, end, &mut self.messages).await;
        let waited = match waited {
            WaitOutcome::Cancelled => SessionWait::Cancelled,
            WaitOutcome::Over if end < until => SessionWait::TimeBudgetSpent,
            WaitOutcome::Over => SessionWait::Over,
        };
        self.context.events.emit(RunEventKind::WaitEnded { reason });
        self.check_budget();
        waited
    }

    /// Waits until a session may start. Returns the session's end if none may.
    pub(super) async fn wait_until_ready(&mut self) -> Result<(), SessionEnd> {
        while let Some(request) = self.context.control.try_next_request() {
            self.messages.receive(request);
        }
        if self.messages.is_paused && !self.context.control.is_cancelled() {
            self.hold().await;
        }
        if self.context.control.is_cancelled() {
            return Err(SessionEnd::Cancelled);
        }
        let budget = self.context.parts.settings.limits.budget;
        match budget.exhausted(&self.spent()) {
            Some(budget) => Err(SessionEnd::BudgetSpent { budget }),
            None => Ok(()),
        }
    }

    /// Waits until the operator resumes the flow, as long as its time budget lasts.
    async fn hold(&mut self) {
        let left = self
            .deadline
            .map(|deadline| between(self.context.now(), deadline));
        let clock = self.context.parts.settings.clock.clone();
        let timed_out = async {
            match left {
                Some(left) => clock.sleep(left).await,
                None => future::pending().await,
            }
        };
        let waited = tokio::select! {
            biased;
            waited = self.context.hold(&mut self.messages) => waited,
            () = timed_out => return,
        };
        if waited == WaitOutcome::Over {
            self.messages.is_paused = false;
        }
    }
}
