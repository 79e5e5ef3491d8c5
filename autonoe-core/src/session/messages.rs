//! [`Messages`], the operator's pending requests to a flow.

use crate::agent::{Activity, SessionEnd, SessionOutcome, SessionReport};
use crate::event::{Delivery, Events, RunEventKind};
use crate::run::control::Inbox;
use crate::run::{RunControl, RunMessage, RunRequest};

/// The operator's requests that are not fulfilled yet.
#[derive(Debug)]
pub(super) struct Messages {
    events: Events,
    /// Whether the next session has to wait.
    pub(super) is_paused: bool,
    /// Messages that were not sent to an agent yet.
    waiting: Vec<RunMessage>,
    /// Messages that were sent to the running session.
    sent: Vec<RunMessage>,
}

impl Messages {
    pub(super) fn new(events: Events) -> Self {
        Self {
            events,
            is_paused: false,
            waiting: Vec::new(),
            sent: Vec::new(),
        }
    }

    /// Returns the messages for the next session.
    pub(super) fn take_for_session(&mut self) -> Vec<String> {
        // Messages of a session whose end was not awaited are sent again.
        self.sent.append(&mut self.waiting);
        let texts = self.sent.iter().map(RunMessage::text);
        texts.map(str::to_owned).collect()
    }

    /// Settles the messages of the ended session, or queues them again if its agent did not read
    /// them.
    pub(super) fn session_ended(&mut self, result: &SessionReport) {
        let mut sent = std::mem::take(&mut self.sent);
        if read_its_prompt(result) {
            sent.into_iter().for_each(RunMessage::acknowledge);
        } else {
            sent.append(&mut self.waiting);
            self.waiting = sent;
        }
    }

    /// Returns the messages that no agent has read.
    pub(super) fn undelivered(&self) -> Vec<String> {
        let texts = self.waiting.iter().map(RunMessage::text);
        texts.map(str::to_owned).collect()
    }

    /// Returns unfulfilled requests to `control`, for the next flow or run that uses it.
    pub(super) fn return_to(self, control: &RunControl) {
        // In reverse order, because each request is put before the others.
        for message in self.waiting.into_iter().rev() {
            control.requeue(RunRequest::Instruct(message));
        }
        if self.is_paused {
            control.requeue(RunRequest::Pause);
        }
    }

    fn instructed(&self, text: &str, delivery: Delivery) {
        let event = RunEventKind::Instructed { text, delivery };
        self.events.emit(event);
    }
}

impl Inbox for Messages {
    fn receive(&mut self, request: RunRequest) {
        match request {
            RunRequest::Pause => self.is_paused = true,
            RunRequest::Resume => self.is_paused = false,
            RunRequest::Instruct(message) => {
                self.instructed(message.text(), Delivery::Queued);
                self.waiting.push(message);
            }
        }
    }

    fn record_steered(&mut self, message: RunMessage) {
        self.instructed(message.text(), Delivery::Steered);
        self.sent.push(message);
    }

    fn requeue(&mut self, text: String) {
        // The session accepted the message, so it is among the sent ones.
        let place = self.sent.iter().rposition(|sent| sent.text() == text);
        let message = match place {
            Some(place) => self.sent.remove(place),
            None => RunMessage::new(text),
        };
        self.receive(RunRequest::Instruct(message));
    }
}

/// Returns whether the agent presumably read its prompt.
fn read_its_prompt(result: &SessionReport) -> bool {
    let SessionReport { end, activity, .. } = result;
    match end {
        SessionEnd::Outcome(SessionOutcome::Completed) => true,
        SessionEnd::Outcome(
            SessionOutcome::ExecutionError { .. } | SessionOutcome::QuotaExceeded { .. },
        )
        | SessionEnd::Failed { .. } => false,
        SessionEnd::Outcome(_) | SessionEnd::BudgetSpent { .. } | SessionEnd::Cancelled => {
            *activity == Activity::Some
        }
    }
}
