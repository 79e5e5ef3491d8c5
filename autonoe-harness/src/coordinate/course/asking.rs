//! What a fleet is asked for while it works.

use std::time::Duration;

use autonoe_core::{RunInstruction, RunRequest};

use super::{Course, after};
use crate::HarnessId;
use crate::coordinate::FleetEventKind;

impl Course<'_> {
    /// Does what was asked for. What members are told goes to those at work.
    pub(super) async fn take_request(&mut self, request: RunRequest) {
        match request {
            RunRequest::Pause if self.paused_since.is_none() => {
                self.paused_since = Some(self.plan.clock.now());
                self.tell(FleetEventKind::Paused);
                self.instruct_all(&RunInstruction::Pause).await;
            }
            RunRequest::Resume if self.paused_since.is_some() => {
                self.resume();
                self.tell(FleetEventKind::Resumed);
                self.instruct_all(&RunInstruction::Resume).await;
            }
            RunRequest::Pause | RunRequest::Resume => {}
            RunRequest::Say(message) => {
                let say = RunInstruction::Say(message.text().to_owned());
                self.instruct_all(&say).await;
                message.settle();
            }
        }
    }

    /// Gives the fleet and its members back the time in which they were held.
    fn resume(&mut self) {
        let Some(since) = self.paused_since.take() else {
            return;
        };
        let held = self.plan.clock.now().duration_since(since);
        let held = Duration::try_from(held).unwrap_or_default();
        self.deadline = after(self.deadline, held);
        for member in self.at_work() {
            self.watch.give_time(&member, held);
        }
    }

    async fn instruct_all(&self, instruction: &RunInstruction) {
        for member in self.at_work() {
            let run = self.plan.run_of(&member);
            let told = self.plan.engine.instruct(&run, instruction.clone()).await;
            if let Err(error) = told {
                // It may just have ended.
                tracing::warn!(%run, %error, "a run could not be told something");
            }
        }
    }

    fn at_work(&self) -> Vec<HarnessId> {
        self.fleet.running().cloned().collect()
    }
}
