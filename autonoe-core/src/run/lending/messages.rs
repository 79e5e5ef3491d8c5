//! What persons asked of sessions that somebody else decides about.

use crate::domain::{Activity, SessionEnd, SessionOutcome, SessionResult};
use crate::port::{Delivery, Events, RunEventKind};
use crate::run::inbox::Inbox;
use crate::run::{RunControl, RunMessage, RunRequest};

/// What persons asked for and has not come to pass.
#[derive(Debug)]
pub(super) struct Messages {
    events: Events,
    /// Whether the next session has to wait.
    pub(super) is_paused: bool,
    /// What no agent has been told.
    waiting: Vec<RunMessage>,
    /// What the session under way was told.
    told: Vec<RunMessage>,
}

impl Messages {
    pub(super) fn new(events: Events) -> Self {
        Self {
            events,
            is_paused: false,
            waiting: Vec::new(),
            told: Vec::new(),
        }
    }

    /// Returns what the next session is to be told.
    pub(super) fn hand_out(&mut self) -> Vec<String> {
        // What was told to a session whose end nobody waited for comes again.
        self.told.append(&mut self.waiting);
        let texts = self.told.iter().map(RunMessage::text);
        texts.map(str::to_owned).collect()
    }

    /// Takes note of the end of the session that was told.
    pub(super) fn session_over(&mut self, result: &SessionResult) {
        let mut told = std::mem::take(&mut self.told);
        if shows_a_reader(result) {
            told.into_iter().for_each(RunMessage::settle);
        } else {
            told.append(&mut self.waiting);
            self.waiting = told;
        }
    }

    /// Returns what no agent has read.
    pub(super) fn undelivered(&self) -> Vec<String> {
        let texts = self.waiting.iter().map(RunMessage::text);
        texts.map(str::to_owned).collect()
    }

    /// Puts back what has not come to pass, for whoever is next under that control.
    pub(super) fn put_back(self, control: &RunControl) {
        // The last first: each is put before the others.
        for message in self.waiting.into_iter().rev() {
            control.put_back(RunRequest::Say(message));
        }
        if self.is_paused {
            control.put_back(RunRequest::Pause);
        }
    }

    fn instructed(&self, text: &str, delivery: Delivery) {
        let event = RunEventKind::Instructed { text, delivery };
        self.events.emit(event);
    }
}

impl Inbox for Messages {
    fn take(&mut self, request: RunRequest) {
        match request {
            RunRequest::Pause => self.is_paused = true,
            RunRequest::Resume => self.is_paused = false,
            RunRequest::Say(message) => {
                self.instructed(message.text(), Delivery::Queued);
                self.waiting.push(message);
            }
        }
    }

    fn steered(&mut self, message: RunMessage) {
        self.instructed(message.text(), Delivery::Steered);
        self.told.push(message);
    }

    fn unheard(&mut self, text: String) {
        // The session took it, so it is among what was told.
        let place = self.told.iter().rposition(|told| told.text() == text);
        let message = match place {
            Some(place) => self.told.remove(place),
            None => RunMessage::new(text),
        };
        self.take(RunRequest::Say(message));
    }
}

/// Tells whether the agent can be taken to have read its prompt.
fn shows_a_reader(result: &SessionResult) -> bool {
    let SessionResult { end, activity, .. } = result;
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
