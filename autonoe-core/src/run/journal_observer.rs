//! Takes down what happens to the ledger, beside what the run machine is told.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::{Durability, JournalLine, RunJournal};
use crate::domain::{Failure, RunId};
use crate::port::{GateDecision, RunEvent, RunEventKind, RunObserver};
use crate::tools::LostGround;

/// Takes down what happens to the ledger and which calls were denied.
pub(super) struct JournalObserver {
    journal: Arc<dyn RunJournal>,
    run: RunId,
    session: AtomicU32,
    lost: LostGround,
}

impl JournalObserver {
    pub(super) fn new(journal: Arc<dyn RunJournal>, run: RunId, lost: LostGround) -> Self {
        Self {
            journal,
            run,
            session: AtomicU32::new(0),
            lost,
        }
    }
}

/// How much of a command is worth a place in the journal.
const LONGEST_TARGET: usize = 500;

fn shortened(target: String) -> String {
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
                target: call.kind.target().map(shortened),
                by: by.clone(),
                reason: reason.clone(),
                remedy: remedy.clone(),
            },
            _ => return,
        };
        // These lines explain; what the run is resumed from is written by the run itself. But where
        // these cannot be kept, those cannot either.
        let written = self
            .journal
            .append(&self.run, event.at, &line, Durability::Written);
        if let Err(error) = written {
            tracing::warn!(%error, "a line of the journal is missing");
            self.lost.lost(Failure::from(&error));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_command_is_cut_between_two_characters() {
        let (fits, longer) = ("ü".repeat(500), "ü".repeat(501));

        assert_eq!(shortened(fits.clone()), fits);
        assert_eq!(shortened(longer), format!("{fits}…"));
    }
}
