//! Applies the operator's requests to the run machine.

use super::control::Inbox;
use super::driver::RunDriver;
use super::{RunFact, RunMessage, RunRequest};
use crate::event::{Delivery, RunEventKind};

impl RunDriver {
    /// Applies the requests that arrived since the last call, and a cancellation.
    pub(super) fn apply_requests(&mut self) {
        while let Some(request) = self.context.control.try_next_request() {
            self.receive(request);
        }
        if self.context.control.is_cancelled() {
            let _ = self.apply(RunFact::Cancelled);
        }
    }

    fn instructed(&self, text: &str, delivery: Delivery) {
        let events = &self.context.events;
        events.emit(RunEventKind::Instructed { text, delivery });
    }
}

impl Inbox for RunDriver {
    fn receive(&mut self, request: RunRequest) {
        let fact = match request {
            RunRequest::Pause => RunFact::PauseRequested,
            // Only a hold waits for a resume, and it reads the ledger itself.
            RunRequest::Resume => RunFact::ResumeRequested {
                at: self.now(),
                ledger: Ok(self.machine.ledger()),
            },
            RunRequest::Instruct(message) => {
                self.requeue(message.text().to_owned());
                // The journal has the message: this run delivers it, also after a restart.
                message.acknowledge();
                return;
            }
        };
        // During a session, a wait or a pause the machine only answers `Continue`.
        let _ = self.apply(fact);
    }

    fn record_steered(&mut self, message: RunMessage) {
        let text = message.text().to_owned();
        self.instructed(&text, Delivery::Steered);
        let _ = self.apply(RunFact::MessageSteered { text });
        message.acknowledge();
    }

    fn requeue(&mut self, text: String) {
        self.instructed(&text, Delivery::Queued);
        let _ = self.apply(RunFact::MessageQueued { text });
    }
}
