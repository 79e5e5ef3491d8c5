//! What happens on another host, for those who watch here.

use std::sync::Arc;

use autonoe_core::{
    Events, JournalEntry, JournalLine, Mode, RandomIds, RunEventKind, RunId, RunObserver, RunPhase,
    RunReport, RunView, SystemClock,
};

use crate::error::CliError;

/// Tells observers of a run elsewhere what they would be told of a run here, as far as it is written
/// down in the journal there.
pub(super) struct Retelling {
    events: Events,
    session: Events,
    run: RunId,
    mode: Mode,
    phase: RunPhase,
    /// Why it did not come on, as it was told last.
    trouble: Option<String>,
}

impl Retelling {
    pub(super) fn to(
        observers: Vec<Arc<dyn RunObserver>>,
        run: RunId,
        mode: Mode,
    ) -> Result<Self, CliError> {
        let ids = RandomIds::new().map_err(|error| CliError::failure(error.to_string()))?;
        let events = Events::new(observers, Arc::new(SystemClock), Arc::new(ids));
        Ok(Self {
            session: events.child(),
            events,
            run,
            mode,
            phase: RunPhase::Waiting,
            trouble: None,
        })
    }

    /// Tells that a run is held, goes on, or does not come on.
    pub(super) fn stands(&mut self, view: &RunView) {
        match (self.phase, view.phase) {
            (RunPhase::Paused, RunPhase::Paused) => {}
            (_, RunPhase::Paused) => self.events.emit(RunEventKind::Paused),
            (RunPhase::Paused, _) => self.events.emit(RunEventKind::Resumed),
            _ => {}
        }
        self.phase = view.phase;
        // It comes and goes with each try, and is told once.
        if let Some(trouble) = &view.trouble
            && self.trouble.as_ref() != Some(trouble)
        {
            let message = format!("The run does not come on: {trouble}");
            self.events
                .emit(RunEventKind::Warning { message: &message });
            self.trouble = Some(trouble.clone());
        }
    }

    /// Tells what was written down.
    pub(super) fn tell(&mut self, entry: &JournalEntry) {
        match &entry.line {
            JournalLine::FlowStarted { .. } | JournalLine::RunStarted { .. } => {
                let (run, mode) = (&self.run, self.mode);
                self.events.emit(RunEventKind::RunStarted { run, mode });
            }
            JournalLine::SessionStarted {
                number,
                instruction,
            } => {
                self.session = self.events.child();
                self.session.emit(RunEventKind::SessionStarted {
                    number: *number,
                    instruction,
                    model: None,
                });
            }
            JournalLine::SessionEnded { number, result } => {
                let number = *number;
                self.session
                    .emit(RunEventKind::SessionEnded { number, result });
            }
            JournalLine::StatusChanged { change, .. } => {
                self.session.emit(RunEventKind::StatusChanged { change });
            }
            JournalLine::Deprecated { id, .. } => {
                self.session.emit(RunEventKind::Deprecated { id });
            }
            JournalLine::Verified { id, .. } => self.session.emit(RunEventKind::Verified { id }),
            // Of the call there is not enough to tell it as one.
            JournalLine::Denied {
                tool,
                target,
                reason,
                ..
            } => {
                let target = target.as_deref();
                let target = target.map_or_else(String::new, |target| format!(": {target}"));
                let message = format!("Blocked {tool}{target} — {reason}");
                self.session
                    .emit(RunEventKind::Warning { message: &message });
            }
            _ => {}
        }
    }

    /// Tells that the run is over.
    pub(super) fn end(&self, report: &RunReport) {
        self.events.emit(RunEventKind::RunEnded { report });
    }
}
