//! [`JournalObserver`] records ledger changes and denied tool calls in the journal.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::{Durability, JournalLine, RunJournal};
use crate::event::Failure;
use crate::event::{RunEvent, RunEventKind, RunObserver};
use crate::gate::GateDecision;
use crate::ledger::FatalSignal;
use crate::time::RunId;

/// Records ledger changes and denied calls in the journal.
pub(super) struct JournalObserver {
    journal: Arc<dyn RunJournal>,
    run: RunId,
    session: AtomicU32,
    lost: FatalSignal,
}

impl JournalObserver {
    pub(super) fn new(journal: Arc<dyn RunJournal>, run: RunId, lost: FatalSignal) -> Self {
        Self {
            journal,
            run,
            session: AtomicU32::new(0),
            lost,
        }
    }
}

/// The maximum length of a recorded target, in characters.
const LONGEST_TARGET: usize = 500;

fn truncate_target(target: String) -> String {
    match target.char_indices().nth(LONGEST_TARGET) {
        Some((end, _)) => format!("{}…", &target[..end]),
        None => target,
    }
}

impl RunObserver for JournalObserver {
    fn on_event(&self, event: &RunEvent<'_>) {
        if let RunEventKind::SessionStarted { number, .. } = event.kind {
            self.session.store(number, Ordering::Relaxed);
        }
        let session = self.session.load(Ordering::Relaxed);
        let line = match &event.kind {
            RunEventKind::StatusChanged { change } => JournalLine::StatusChanged {
                session,
                change: (*change).clone(),
            },
            RunEventKind::Deprecated { id } => JournalLine::Deprecated {
                session,
                id: (*id).clone(),
            },
            RunEventKind::Verified { id } => JournalLine::Verified {
                session,
                id: (*id).clone(),
            },
            RunEventKind::LedgerRestored { foreign } => JournalLine::LedgerRestored {
                session,
                foreign: (*foreign).clone(),
            },
            RunEventKind::LedgerEdited { recorded, found } => JournalLine::LedgerEdited {
                recorded: *recorded,
                found: *found,
            },
            RunEventKind::ToolDecided {
                call,
                decision: GateDecision::Deny { by, reason, remedy },
            } => JournalLine::Denied {
                session,
                tool: call.name.clone(),
                target: call.kind.target().map(truncate_target),
                by: by.clone(),
                reason: reason.clone(),
                remedy: remedy.clone(),
            },
            _ => return,
        };
        // These lines only explain the run. The lines for a resume are written by the run itself,
        // but if these cannot be written, those cannot either.
        let written = self
            .journal
            .append(&self.run, event.at, &line, Durability::Written);
        if let Err(error) = written {
            tracing::warn!(%error, "an entry could not be written to the journal");
            self.lost.raise(Failure::from(&error));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_command_is_cut_between_two_characters() {
        let (fits, longer) = ("ü".repeat(500), "ü".repeat(501));

        assert_eq!(truncate_target(fits.clone()), fits);
        assert_eq!(truncate_target(longer), format!("{fits}…"));
    }
}
