//! Waits for quota, between sessions, and while the run is paused.

use std::time::Duration;

use jiff::Timestamp;

use super::control::Inbox;
use super::driver::RunDriver;
use super::prepare::PreparedRun;
use super::run_context::RunContext;
use super::{RunAction, RunFact, RunRequest};
use crate::event::{RunEventKind, WaitReason};
use crate::time::timestamp::between;

/// The interval of the progress events of a wait for quota.
const TICK: Duration = Duration::from_secs(1);

/// The end of a wait or a pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WaitOutcome {
    Over,
    Cancelled,
}

impl RunContext {
    /// Waits until `until` and handles requests meanwhile. The caller emits the end of the wait.
    pub(crate) async fn wait(
        &self,
        reason: WaitReason,
        until: Timestamp,
        inbox: &mut dyn Inbox,
    ) -> WaitOutcome {
        self.events
            .emit(RunEventKind::WaitStarted { reason, until });
        let ticks = matches!(reason, WaitReason::Quota | WaitReason::QuotaBackoff);
        loop {
            let remaining = between(self.now(), until);
            if remaining.is_zero() {
                return WaitOutcome::Over;
            }
            if ticks {
                self.events.emit(RunEventKind::WaitTick {
                    reason,
                    until,
                    remaining,
                });
            }
            // The wall clock is read again after each nap: a machine that was suspended during the
            // wait does not wait twice.
            let nap = self.parts.settings.clock.sleep(remaining.min(TICK));
            let serve = async {
                loop {
                    inbox.receive(self.control.next_request().await);
                }
            };
            tokio::select! {
                biased;
                () = self.control.cancelled() => return WaitOutcome::Cancelled,
                () = serve => {}
                () = nap => {}
            }
        }
    }

    /// Waits until the operator resumes the run, and handles other requests meanwhile.
    pub(crate) async fn hold(&self, inbox: &mut dyn Inbox) -> WaitOutcome {
        self.events.emit(RunEventKind::Paused);
        loop {
            let request = tokio::select! {
                biased;
                () = self.control.cancelled() => return WaitOutcome::Cancelled,
                request = self.control.next_request() => request,
            };
            if matches!(request, RunRequest::Resume) {
                self.events.emit(RunEventKind::Resumed);
                return WaitOutcome::Over;
            }
            inbox.receive(request);
        }
    }
}

impl RunDriver {
    /// Waits until `until` and handles requests meanwhile.
    pub(crate) async fn wait(
        &mut self,
        prepared_run: &PreparedRun,
        reason: WaitReason,
        until: Timestamp,
    ) -> RunAction {
        let context = self.context.clone();
        let action = match context.wait(reason, until, self).await {
            WaitOutcome::Cancelled => self.apply(RunFact::Cancelled),
            WaitOutcome::Over => {
                let ledger = self.read_ledger_view(prepared_run).await;
                self.apply_requests();
                let at = self.now();
                self.apply(RunFact::WaitOver { at, ledger })
            }
        };
        context.events.emit(RunEventKind::WaitEnded { reason });
        self.check_budget(&action);
        action
    }

    /// Waits until the operator resumes the run.
    pub(crate) async fn hold(&mut self, prepared_run: &PreparedRun) -> RunAction {
        let context = self.context.clone();
        match context.hold(self).await {
            WaitOutcome::Cancelled => self.apply(RunFact::Cancelled),
            WaitOutcome::Over => {
                let ledger = self.read_ledger_view(prepared_run).await;
                self.apply_requests();
                let at = self.now();
                self.apply(RunFact::ResumeRequested { at, ledger })
            }
        }
    }
}
