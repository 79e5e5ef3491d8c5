//! Waits for quota, between sessions, and while the run is held.

use std::time::Duration;

use jiff::Timestamp;

use super::drive::Drive;
use super::inbox::Inbox;
use super::prepare::Ground;
use super::setting::Setting;
use super::{RunAction, RunFact, RunRequest};
use crate::domain::quota::between;
use crate::port::{RunEventKind, WaitReason};

/// How often observers are told how long a wait for quota still takes.
const TICK: Duration = Duration::from_secs(1);

/// How a wait or a pause ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waited {
    Over,
    Cancelled,
}

impl Setting {
    /// Waits until `until`, serving requests meanwhile. The end of the wait is for the caller to
    /// tell.
    pub(super) async fn wait(
        &self,
        reason: WaitReason,
        until: Timestamp,
        inbox: &mut dyn Inbox,
    ) -> Waited {
        self.events
            .emit(RunEventKind::WaitStarted { reason, until });
        let ticks = matches!(reason, WaitReason::Quota | WaitReason::QuotaBackoff);
        loop {
            let remaining = between(self.now(), until);
            if remaining.is_zero() {
                return Waited::Over;
            }
            if ticks {
                self.events.emit(RunEventKind::WaitTick {
                    reason,
                    until,
                    remaining,
                });
            }
            // The wall clock is read again after each nap: who slept through
            // the wait does not wait twice.
            let nap = self.parts.clock.sleep(remaining.min(TICK));
            let serve = async {
                loop {
                    inbox.take(self.control.next_request().await);
                }
            };
            tokio::select! {
                biased;
                () = self.control.cancelled() => return Waited::Cancelled,
                () = serve => {}
                () = nap => {}
            }
        }
    }

    /// Waits for somebody to let the run go on, serving other requests meanwhile.
    pub(super) async fn hold(&self, inbox: &mut dyn Inbox) -> Waited {
        self.events.emit(RunEventKind::Paused);
        loop {
            let request = tokio::select! {
                biased;
                () = self.control.cancelled() => return Waited::Cancelled,
                request = self.control.next_request() => request,
            };
            if matches!(request, RunRequest::Resume) {
                self.events.emit(RunEventKind::Resumed);
                return Waited::Over;
            }
            inbox.take(request);
        }
    }
}

impl Drive {
    /// Waits until `until`, serving requests meanwhile.
    pub(super) async fn wait(
        &mut self,
        ground: &Ground,
        reason: WaitReason,
        until: Timestamp,
    ) -> RunAction {
        let setting = self.setting.clone();
        let action = match setting.wait(reason, until, self).await {
            Waited::Cancelled => self.apply(RunFact::Cancelled),
            Waited::Over => {
                let ledger = self.look_at_ledger(ground).await;
                self.catch_up();
                let at = self.now();
                self.apply(RunFact::WaitOver { at, ledger })
            }
        };
        setting.events.emit(RunEventKind::WaitEnded { reason });
        action
    }

    /// Waits for somebody to let the run go on.
    pub(super) async fn hold(&mut self, ground: &Ground) -> RunAction {
        let setting = self.setting.clone();
        match setting.hold(self).await {
            Waited::Cancelled => self.apply(RunFact::Cancelled),
            Waited::Over => {
                let ledger = self.look_at_ledger(ground).await;
                self.catch_up();
                let at = self.now();
                self.apply(RunFact::ResumeRequested { at, ledger })
            }
        }
    }
}
