//! What persons asked of sessions that somebody else decides about.

use crate::domain::{Activity, SessionEnd, SessionOutcome, SessionResult};
use crate::port::{Delivery, Events, RunEventKind};
use crate::run::control::Command;
use crate::run::inbox::Inbox;

/// What persons asked for and has not come to pass.
#[derive(Debug)]
pub(super) struct Messages {
    events: Events,
    /// Whether the next session has to wait.
    pub(super) is_paused: bool,
    /// What no agent has been told.
    waiting: Vec<String>,
    /// What the session under way was told.
    told: Vec<String>,
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
        self.told.clone()
    }

    /// Takes note of the end of the session that was told.
    pub(super) fn session_over(&mut self, result: &SessionResult) {
        let mut told = std::mem::take(&mut self.told);
        if !shows_a_reader(result) {
            told.append(&mut self.waiting);
            self.waiting = told;
        }
    }

    /// Returns what no agent has read.
    pub(super) fn undelivered(self) -> Vec<String> {
        self.waiting
    }

    fn instructed(&self, text: &str, delivery: Delivery) {
        let event = RunEventKind::Instructed { text, delivery };
        self.events.emit(event);
    }
}

impl Inbox for Messages {
    fn take(&mut self, command: Command) {
        match command {
            Command::Pause => self.is_paused = true,
            Command::Resume => self.is_paused = false,
            Command::Instruct(text) => {
                self.instructed(&text, Delivery::Queued);
                self.waiting.push(text);
            }
        }
    }

    fn steered(&mut self, text: String) {
        self.instructed(&text, Delivery::Steered);
        self.told.push(text);
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
