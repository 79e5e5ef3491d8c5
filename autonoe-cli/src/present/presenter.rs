//! `Presenter`, which prints the events of a run for the operator.

use std::sync::{Mutex, PoisonError};

use autonoe_app::text::{Activity, Level, Line, lines, wait_countdown};
use autonoe_core::{RunEvent, RunEventKind, RunObserver};

use super::debug_lines::debug_line;
use super::screen::{Screen, Transient};

/// Amount of output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Detail {
    /// Errors, and warnings of the command itself, such as a sandbox that is switched off.
    Quiet,
    /// Short lines for the main events.
    Normal,
    /// All events.
    Debug,
}

/// Prints the events of a run: permanent lines and, with [`Detail::Normal`], a transient line with
/// the current activity.
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

    /// Prints a line that the run itself does not emit.
    pub(crate) fn print(&self, message: &str) {
        self.print_line(Some(Line::new(Level::Info, message)));
    }

    /// Prints a warning that the run itself does not emit, at every [`Detail`].
    pub(crate) fn warn(&self, message: &str) {
        let text = format!("warning: {message}");
        self.screen.write_line(&Line::new(Level::Warning, text));
    }

    fn is_wanted(&self, level: Level) -> bool {
        match self.detail {
            Detail::Quiet => level == Level::Error,
            Detail::Normal => level != Level::Debug,
            Detail::Debug => true,
        }
    }

    /// Prints a permanent line, if the [`Detail`] includes its level.
    pub(super) fn print_line(&self, line: Option<Line>) {
        if let Some(line) = line.filter(|line| self.is_wanted(line.level)) {
            self.screen.write_line(&line);
        }
    }
}

impl RunObserver for Presenter {
    fn on_event(&self, event: &RunEvent<'_>) {
        let mut activity = self.activity.lock().unwrap_or_else(PoisonError::into_inner);
        match &event.kind {
            RunEventKind::SessionStarted { .. } => {
                *activity = Activity::default();
                self.screen.reset_clock();
            }
            RunEventKind::SessionEnded { .. }
            | RunEventKind::WaitEnded { .. }
            | RunEventKind::RunEnded { .. }
            | RunEventKind::FlowEnded { .. } => self.screen.clear(),
            _ => {}
        }
        self.print_line(debug_line(&event.kind));
        for line in lines(event, activity.tools()) {
            self.print_line(Some(line));
        }
        match transient_change(&event.kind, &mut activity) {
            TransientChange::Keep => {}
            TransientChange::Show(about, text) => self.screen.show_transient(about, &text),
            TransientChange::Clear => self.screen.clear(),
        }
    }
}

/// Effect of an event on the transient line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum TransientChange {
    Keep,
    Show(Transient, String),
    Clear,
}

/// Updates the activity, and returns the effect of the event on the transient line.
pub(super) fn transient_change(
    event: &RunEventKind<'_>,
    activity: &mut Activity,
) -> TransientChange {
    match event {
        RunEventKind::Agent { stream } => activity.observe(stream),
        // The agent continues its previous activity.
        RunEventKind::ProgressEnded => {}
        RunEventKind::ProgressStarted { message } => {
            return TransientChange::Show(Transient::Work, (*message).to_owned());
        }
        RunEventKind::WaitTick {
            reason,
            until,
            remaining,
        } => {
            return match wait_countdown(*reason, *until, *remaining) {
                Some(text) => TransientChange::Show(Transient::Wait, text),
                None => TransientChange::Keep,
            };
        }
        _ => return TransientChange::Keep,
    }
    match activity.text() {
        Some(text) => TransientChange::Show(Transient::Work, text),
        None => TransientChange::Clear,
    }
}

#[cfg(test)]
mod tests {
    use autonoe_core::StreamEvent;
    use autonoe_core::agent::SessionOutcome;

    use super::*;

    #[test]
    fn hidden_progress_makes_room_for_the_activity() {
        let work = |text: &str| TransientChange::Show(Transient::Work, text.to_owned());
        let compacting = RunEventKind::ProgressStarted {
            message: "compacting",
        };
        let (thinks, ends) = (
            StreamEvent::thinking("hm"),
            StreamEvent::end(SessionOutcome::Completed, None),
        );
        let mut activity = Activity::default();
        for (event, change) in [
            (compacting.clone(), work("compacting")),
            (RunEventKind::ProgressEnded, TransientChange::Clear),
            (RunEventKind::Agent { stream: &thinks }, work("Thinking...")),
            (compacting, work("compacting")),
            (RunEventKind::ProgressEnded, work("Thinking...")),
            (RunEventKind::Paused, TransientChange::Keep),
            (
                RunEventKind::Agent { stream: &ends },
                TransientChange::Clear,
            ),
        ] {
            assert_eq!(transient_change(&event, &mut activity), change, "{event:?}");
        }
    }
}
