//! Waits and pauses of a flow.

use futures::future;
use jiff::Timestamp;

use super::OpenSessions;
use super::open::least;
use crate::domain::SessionEnd;
use crate::domain::quota::between;
use crate::port::{RunEventKind, WaitReason};
use crate::run::inbox::Inbox;
use crate::run::waiting::Waited;

/// How a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "a wait may have been cut short"]
pub enum SessionWait {
    /// The time came.
    Over,
    /// The flow was cancelled.
    Cancelled,
    /// The time of the whole flow was up before.
    TimeIsUp,
}

impl OpenSessions {
    /// Waits until `until` and tells observers why; commands are served meanwhile.
    pub async fn wait(&mut self, reason: WaitReason, until: Timestamp) -> SessionWait {
        let end = least(self.deadline, Some(until)).unwrap_or(until);
        let waited = self.setting.wait(reason, end, &mut self.messages).await;
        let waited = match waited {
            Waited::Cancelled => SessionWait::Cancelled,
            Waited::Over if end < until => SessionWait::TimeIsUp,
            Waited::Over => SessionWait::Over,
        };
        self.setting.events.emit(RunEventKind::WaitEnded { reason });
        waited
    }

    /// Waits until a session may begin; or says why none may.
    pub(super) async fn may_begin(&mut self) -> Result<(), SessionEnd> {
        while let Some(request) = self.setting.control.waiting_request() {
            self.messages.take(request);
        }
        if self.messages.is_paused && !self.setting.control.is_cancelled() {
            self.hold().await;
        }
        if self.setting.control.is_cancelled() {
            return Err(SessionEnd::Cancelled);
        }
        let budget = self.setting.parts.limits.budget;
        match budget.exhausted(&self.spent()) {
            Some(budget) => Err(SessionEnd::BudgetSpent { budget }),
            None => Ok(()),
        }
    }

    /// Waits for somebody to let the flow go on, as long as it has time.
    async fn hold(&mut self) {
        let left = self
            .deadline
            .map(|deadline| between(self.setting.now(), deadline));
        let clock = self.setting.parts.clock.clone();
        let time_is_up = async {
            match left {
                Some(left) => clock.sleep(left).await,
                None => future::pending().await,
            }
        };
        let waited = tokio::select! {
            biased;
            waited = self.setting.hold(&mut self.messages) => waited,
            () = time_is_up => return,
        };
        if waited == Waited::Over {
            self.messages.is_paused = false;
        }
    }
}
