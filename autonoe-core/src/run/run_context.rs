//! [`RunContext`], the shared context of a run, with its observers that write the journal.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use futures::future;
use jiff::Timestamp;

use super::runner::RunParts;
use super::spans::RunSpans;
use super::{Durability, JournalError, JournalLine, LedgerHistory, RunControl, RunJournal};
use crate::agent::OptionalServers;
use crate::event::{Events, Failure, Retry, RunEvent, RunEventKind, RunObserver};
use crate::gate::GateDecision;
use crate::ledger::{
    FatalSignal, ForeignLedger, LedgerHash, LedgerStore, LedgerWatch, RepositoryError,
    RepositoryErrorKind,
};
use crate::time::RunId;

/// Time after a cancellation in which ledger changes of the last session still count.
const CANCEL_GRACE_PERIOD: Duration = Duration::from_secs(2);

/// The shared context of all sessions of a run or a flow. Cheap to clone.
#[derive(Clone)]
pub(crate) struct RunContext {
    pub(crate) parts: Arc<RunParts>,
    pub(crate) control: RunControl,
    pub(crate) run: RunId,
    pub(crate) events: Events,
    /// Set when the journal cannot be written any more.
    pub(crate) lost_journal: FatalSignal,
    /// The optional MCP servers of the run's sessions.
    pub(crate) optional_servers: OptionalServers,
}

impl RunContext {
    pub(crate) fn new(parts: Arc<RunParts>, control: RunControl, run: RunId) -> Self {
        let mut observers = parts.settings.observers.clone();
        let lost_journal = FatalSignal::default();
        observers.push(Arc::new(JournalObserver::new(
            parts.settings.journal.clone(),
            run.clone(),
            lost_journal.clone(),
        )));
        observers.push(Arc::new(RunSpans::new(parts.settings.trace_content)));
        let mut events = Events::new(observers, parts.settings.clock.clone(), parts.ids.clone());
        if let Some(parent) = &parts.settings.trace {
            events = events.in_trace(parent);
        }
        Self {
            optional_servers: parts.settings.optional_servers.for_new_run(),
            parts,
            control,
            run,
            events,
            lost_journal,
        }
    }

    pub(crate) fn record(
        &self,
        line: &JournalLine,
        durability: Durability,
    ) -> Result<(), JournalError> {
        let journal = &self.parts.settings.journal;
        journal.append(&self.run, self.now(), line, durability)
    }

    /// Reports a problem that does not end the run.
    pub(crate) fn warn(&self, message: &str) {
        self.events.emit(RunEventKind::Warning { message });
    }

    /// Waits until `time_left` has passed; forever if it is `None`.
    pub(crate) fn timed_out(
        &self,
        time_left: Option<Duration>,
    ) -> impl Future<Output = ()> + use<> {
        let clock = self.parts.settings.clock.clone();
        async move {
            match time_left {
                Some(time_left) => clock.sleep(time_left).await,
                None => future::pending().await,
            }
        }
    }

    /// Completes [`CANCEL_GRACE_PERIOD`] after the run is cancelled.
    pub(crate) async fn cancel_grace_period(&self) {
        self.control.cancelled().await;
        self.timed_out(Some(CANCEL_GRACE_PERIOD)).await;
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.parts.settings.clock.now()
    }

    /// Reads the ledger history from the journal; `None` if the run has no readable journal.
    pub(crate) async fn ledger_history(&self) -> Result<Option<LedgerHistory>, Failure> {
        let Some(read) = self.parts.settings.ledger_history.clone() else {
            return Ok(None);
        };
        let reading = tokio::task::spawn_blocking(move || read()).await;
        let read = reading.unwrap_or_else(|error| {
            let code = "journal_unavailable";
            Err(Failure::from_error(code, &error, Retry::Retryable))
        });
        read.map(Some)
    }

    /// Makes `store`, which this run has taken over, report to this run.
    pub(crate) fn watch_ledger(
        &self,
        store: LedgerStore,
        history: Option<&LedgerHistory>,
    ) -> LedgerStore {
        let restored = history.map_or(0, |history| history.restored(&self.run));
        store.with_watch(Arc::new(LedgerRecorder {
            context: self.clone(),
            restored: AtomicU32::new(restored),
        }))
    }

    /// Records the hash of the ledger that the run has taken over, unless the journal already has
    /// it. Reports an edit since the last run.
    pub(crate) async fn record_found_ledger(
        &self,
        store: &LedgerStore,
        history: Option<&LedgerHistory>,
    ) -> Result<(), JournalError> {
        let (Some(history), Some(ledger)) = (history, store.saved_ledger().await) else {
            return Ok(());
        };
        if history.matches(&ledger) {
            return Ok(());
        }
        let found = ledger.content_hash();
        if let Some(recorded) = history.edited(found) {
            self.events
                .emit(RunEventKind::LedgerEdited { recorded, found });
            return Ok(());
        }
        let line = JournalLine::LedgerSave {
            from: Some(found),
            to: found,
        };
        self.record(&line, Durability::Synced)
    }
}

/// Records ledger changes and denied calls in the journal.
struct JournalObserver {
    journal: Arc<dyn RunJournal>,
    run: RunId,
    session: AtomicU32,
    lost: FatalSignal,
}

impl JournalObserver {
    fn new(journal: Arc<dyn RunJournal>, run: RunId, lost: FatalSignal) -> Self {
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

/// Records saves of the ledger in the journal before they happen, and reports foreign changes to
/// observers.
struct LedgerRecorder {
    context: RunContext,
    restored: AtomicU32,
}

impl LedgerWatch for LedgerRecorder {
    fn record_save(&self, from: Option<LedgerHash>, to: LedgerHash) -> Result<(), RepositoryError> {
        let line = JournalLine::LedgerSave { from, to };
        // Synced, like the ledger: otherwise a power cut could leave a ledger that is newer than
        // the journal, which looks like an edit.
        let written = self.context.record(&line, Durability::Synced);
        written.map_err(|error| {
            self.context.lost_journal.raise(Failure::from(&error));
            let message = "the ledger was not changed, because the journal cannot be written";
            RepositoryError::new(RepositoryErrorKind::Unavailable, message).with_source(error)
        })
    }

    fn record_restore(&self, foreign: &ForeignLedger) -> u32 {
        self.context
            .events
            .emit(RunEventKind::LedgerRestored { foreign });
        self.restored.fetch_add(1, Ordering::Relaxed) + 1
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
