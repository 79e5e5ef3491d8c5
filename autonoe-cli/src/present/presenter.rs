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
    /// Errors, and warnings of the command itself, such as a sandbox that is switched off.
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

    /// Warns of something that the run itself does not know of, with every [`Detail`].
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
        match transient_change(&event.kind, &mut activity) {
            Change::Keep => {}
            Change::Show(about, text) => self.screen.show(about, &text),
            Change::Clear => self.screen.clear(),
        }
    }
}

/// What an event does to the transient line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Change {
    Keep,
    Show(Transient, String),
    Clear,
}

/// Updates the activity and returns what to do with the transient line.
pub(super) fn transient_change(event: &RunEventKind<'_>, activity: &mut Activity) -> Change {
    match event {
        RunEventKind::Agent { stream } => activity.observe(stream),
        // The agent continues what it did before.
        RunEventKind::ProgressHidden => {}
        RunEventKind::ProgressShown { message } => {
            return Change::Show(Transient::Work, (*message).to_owned());
        }
        RunEventKind::WaitTick {
            reason,
            until,
            remaining,
        } => {
            return match waiting::countdown(*reason, *until, *remaining) {
                Some(text) => Change::Show(Transient::Wait, text),
                None => Change::Keep,
            };
        }
        _ => return Change::Keep,
    }
    match activity.text() {
        Some(text) => Change::Show(Transient::Work, text),
        None => Change::Clear,
    }
}

#[cfg(test)]
mod tests {
    use autonoe_core::{SessionOutcome, StreamEvent};

    use super::*;

    #[test]
    fn hidden_progress_makes_room_for_the_activity() {
        let work = |text: &str| Change::Show(Transient::Work, text.to_owned());
        let compacting = RunEventKind::ProgressShown {
            message: "compacting",
        };
        let (thinks, ends) = (
            StreamEvent::thinking("hm"),
            StreamEvent::end(SessionOutcome::Completed, None),
        );
        let mut activity = Activity::default();
        for (event, change) in [
            (compacting.clone(), work("compacting")),
            (RunEventKind::ProgressHidden, Change::Clear),
            (RunEventKind::Agent { stream: &thinks }, work("Thinking...")),
            (compacting, work("compacting")),
            (RunEventKind::ProgressHidden, work("Thinking...")),
            (RunEventKind::Paused, Change::Keep),
            (RunEventKind::Agent { stream: &ends }, Change::Clear),
        ] {
            assert_eq!(transient_change(&event, &mut activity), change, "{event:?}");
        }
    }
}
