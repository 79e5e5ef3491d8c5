//! Takes what persons ask of a run under way.

use super::RunFact;
use super::control::Command;
use super::drive::Drive;
use super::inbox::Inbox;
use crate::port::{Delivery, RunEventKind};

impl Drive {
    /// Tells the machine what persons have asked for since it was last told.
    pub(super) fn catch_up(&mut self) {
        while let Some(command) = self.setting.control.waiting_command() {
            self.take(command);
        }
        if self.setting.control.is_cancelled() {
            let _ = self.apply(RunFact::Cancelled);
        }
    }

    fn instructed(&self, text: &str, delivery: Delivery) {
        let events = &self.setting.events;
        events.emit(RunEventKind::Instructed { text, delivery });
    }
}

impl Inbox for Drive {
    fn take(&mut self, command: Command) {
        let fact = match command {
            Command::Pause => RunFact::PauseRequested,
            // Only a hold waits for this, and it looks at the ledger itself.
            Command::Resume => RunFact::ResumeRequested {
                at: self.now(),
                ledger: Ok(self.machine.ledger()),
            },
            Command::Instruct(text) => {
                self.instructed(&text, Delivery::Queued);
                RunFact::Instructed { text }
            }
        };
        // Meanwhile the machine asks for nothing but to go on.
        let _ = self.apply(fact);
    }

    fn steered(&mut self, text: String) {
        self.instructed(&text, Delivery::Steered);
        let _ = self.apply(RunFact::Steered { text });
    }
}
