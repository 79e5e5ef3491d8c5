//! Takes what persons ask of a run under way.

use super::drive::Drive;
use super::inbox::Inbox;
use super::{RunFact, RunMessage, RunRequest};
use crate::port::{Delivery, RunEventKind};

impl Drive {
    /// Tells the machine what persons have asked for since it was last told.
    pub(super) fn catch_up(&mut self) {
        while let Some(request) = self.setting.control.waiting_request() {
            self.take(request);
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
    fn take(&mut self, request: RunRequest) {
        let fact = match request {
            RunRequest::Pause => RunFact::PauseRequested,
            // Only a hold waits for this, and it looks at the ledger itself.
            RunRequest::Resume => RunFact::ResumeRequested {
                at: self.now(),
                ledger: Ok(self.machine.ledger()),
            },
            RunRequest::Say(message) => {
                self.unheard(message.text().to_owned());
                // The journal has it: it is told by this run, also after a restart.
                message.settle();
                return;
            }
        };
        // Meanwhile the machine asks for nothing but to go on.
        let _ = self.apply(fact);
    }

    fn steered(&mut self, message: RunMessage) {
        let text = message.text().to_owned();
        self.instructed(&text, Delivery::Steered);
        let _ = self.apply(RunFact::Steered { text });
        message.settle();
    }

    fn unheard(&mut self, text: String) {
        self.instructed(&text, Delivery::Queued);
        let _ = self.apply(RunFact::Instructed { text });
    }
}
