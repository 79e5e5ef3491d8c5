//! What a fleet is asked for while it works.

use autonoe_core::{RunId, RunInstruction, RunRequest};

use super::Driving;
use crate::coordinate::coordinator::Coordinator;

impl Driving<'_> {
    /// Does what was asked for. What members are told goes to those at work.
    pub(super) async fn take_request(&mut self, request: RunRequest) {
        match request {
            RunRequest::Pause => self.instruct(RunInstruction::Pause).await,
            RunRequest::Resume => self.instruct(RunInstruction::Resume).await,
            RunRequest::Say(message) => {
                let say = RunInstruction::Say(message.text().to_owned());
                self.instruct(say).await;
                message.settle();
            }
        }
    }

    async fn instruct(&mut self, instruction: RunInstruction) {
        let runs = self.course.told(self.now(), &instruction);
        self.tell();
        for run in runs {
            self.plan.tell_run(&run, instruction.clone()).await;
        }
    }
}

impl Coordinator {
    /// Tells a run something.
    pub(super) async fn tell_run(&self, run: &RunId, instruction: RunInstruction) {
        if let Err(error) = self.engine.instruct(run, instruction).await {
            // It may just have ended.
            tracing::warn!(%run, %error, "a run could not be told something");
        }
    }
}
