//! Shows a run to a person.

use std::sync::{Mutex, PoisonError};

use autonoe_core::{RunEvent, RunEventKind, RunObserver};

use super::activity::Activity;
use super::debug_lines::debug_line;
use super::lines::{Level, Line, lines};
use super::screen::{Screen, Transient};
use super::waiting;

/// How much a person wants to see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Detail {
    /// Warnings and errors.
    Quiet,
    /// What happens, in a few words.
    Normal,
    /// All that happens.
    Debug,
}

/// Shows a run to a person: lines that stay, and, with [`Detail::Normal`], one that says what
/// happens right now.
#[derive(Debug)]
pub(crate) struct Presenter {
    screen: Screen,
    detail: Detail,
    activity: Mutex<Activity>,
}

impl Presenter {
    pub(crate) fn new(screen: Screen, detail: Detail) -> Self {
        Self {
            screen,
            detail,
            activity: Mutex::default(),
        }
    }

    /// Says something that the run itself does not tell.
    pub(crate) fn say(&self, message: &str) {
        self.stays(Some(Line::new(Level::Info, message)));
    }

    /// Warns of something that the run itself does not know of.
    pub(crate) fn warn(&self, message: &str) {
        let text = format!("warning: {message}");
        self.screen.line(&Line::new(Level::Warning, text));
    }

    fn is_wanted(&self, level: Level) -> bool {
        match self.detail {
            Detail::Quiet => level == Level::Error,
            Detail::Normal => level != Level::Debug,
            Detail::Debug => true,
        }
    }

    /// Writes a line that stays, if a person wants to see it.
    pub(super) fn stays(&self, line: Option<Line>) {
        if let Some(line) = line.filter(|line| self.is_wanted(line.level)) {
            self.screen.line(&line);
        }
    }
}

impl RunObserver for Presenter {
    fn on_event(&self, event: &RunEvent<'_>) {
        let mut activity = self.activity.lock().unwrap_or_else(PoisonError::into_inner);
        match &event.kind {
            RunEventKind::SessionStarted { .. } => {
                *activity = Activity::default();
                self.screen.begin();
            }
            RunEventKind::SessionEnded { .. }
            | RunEventKind::WaitEnded { .. }
            | RunEventKind::RunEnded { .. }
            | RunEventKind::FlowEnded { .. } => self.screen.clear(),
            _ => {}
        }
        self.stays(debug_line(&event.kind));
        for line in lines(event, activity.tools()) {
            self.stays(Some(line));
        }
        match &event.kind {
            RunEventKind::Agent { stream } => {
                activity.observe(stream);
                match activity.text() {
                    Some(text) => self.screen.show(Transient::Work, &text),
                    None => self.screen.clear(),
                }
            }
            RunEventKind::ProgressShown { message } => {
                self.screen.show(Transient::Work, message);
            }
            RunEventKind::WaitTick {
                reason,
                until,
                remaining,
            } => {
                if let Some(text) = waiting::countdown(*reason, *until, *remaining) {
                    self.screen.show(Transient::Wait, &text);
                }
            }
            _ => {}
        }
    }
}
