//! Waits for quota, between sessions, and while the run is held.

use std::time::Duration;

use jiff::Timestamp;

use super::control::Command;
use super::drive::Drive;
use super::prepare::Ground;
use super::{RunAction, RunFact};
use crate::domain::quota::between;
use crate::port::{RunEventKind, WaitReason};

/// How often observers are told how long a wait for quota still takes.
const TICK: Duration = Duration::from_secs(1);

impl Drive {
    /// Waits until `until`, serving commands meanwhile.
    pub(super) async fn wait(
        &mut self,
        ground: &Ground,
        reason: WaitReason,
        until: Timestamp,
    ) -> RunAction {
        self.events
            .emit(RunEventKind::WaitStarted { reason, until });
        let ticks = matches!(reason, WaitReason::Quota | WaitReason::QuotaBackoff);
        let action = loop {
            let remaining = between(self.now(), until);
            if remaining.is_zero() {
                let ledger = self.look_at_ledger(ground).await;
                self.catch_up();
                let at = self.now();
                break self.apply(RunFact::WaitOver { at, ledger });
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
            let control = self.control.clone();
            tokio::select! {
                biased;
                () = control.cancelled() => break self.apply(RunFact::Cancelled),
                () = self.serve_commands() => {}
                () = nap => {}
            }
        };
        self.events.emit(RunEventKind::WaitEnded { reason });
        action
    }

    /// Waits for somebody to let the run go on.
    pub(super) async fn hold(&mut self, ground: &Ground) -> RunAction {
        self.events.emit(RunEventKind::Paused);
        let control = self.control.clone();
        loop {
            let command = tokio::select! {
                biased;
                () = control.cancelled() => return self.apply(RunFact::Cancelled),
                command = control.next_command() => command,
            };
            if command == Command::Resume {
                self.events.emit(RunEventKind::Resumed);
                let ledger = self.look_at_ledger(ground).await;
                self.catch_up();
                let at = self.now();
                return self.apply(RunFact::ResumeRequested { at, ledger });
            }
            let _ = self.take(command);
        }
    }
}
