//! Takes what persons ask of a run under way.

use super::control::Command;
use super::drive::Drive;
use super::{RunAction, RunFact};
use crate::port::{Delivery, RunEventKind};

impl Drive {
    /// Takes commands as they come, without an end.
    pub(super) async fn serve_commands(&mut self) {
        loop {
            let command = self.control.next_command().await;
            // While waiting, no command asks for anything but to go on waiting.
            let _ = self.take(command);
        }
    }

    /// Tells the machine what persons have asked for since it was last told.
    pub(super) fn catch_up(&mut self) {
        while let Some(command) = self.control.waiting_command() {
            let _ = self.take(command);
        }
        if self.control.is_cancelled() {
            let _ = self.apply(RunFact::Cancelled);
        }
    }

    /// Takes notice of a command, and returns what the machine makes of it.
    pub(super) fn take(&mut self, command: Command) -> RunAction {
        let fact = match command {
            Command::Pause => RunFact::PauseRequested,
            // Only a hold waits for this, and it looks at the ledger itself.
            Command::Resume => RunFact::ResumeRequested {
                at: self.now(),
                ledger: Ok(self.machine.ledger()),
            },
            Command::Instruct(text) => {
                let delivery = Delivery::Queued;
                self.events.emit(RunEventKind::Instructed {
                    text: &text,
                    delivery,
                });
                RunFact::Instructed { text }
            }
        };
        self.apply(fact)
    }

    /// Keeps a message for the next session.
    pub(super) fn queue(&mut self, text: String) {
        let _ = self.take(Command::Instruct(text));
    }

    /// Takes notice of a message that the running session took.
    pub(super) fn steered(&mut self, text: String) {
        let delivery = Delivery::Steered;
        self.events.emit(RunEventKind::Instructed {
            text: &text,
            delivery,
        });
        let _ = self.apply(RunFact::Steered { text });
    }
}
