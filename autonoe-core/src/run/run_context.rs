//! [`RunContext`], the shared context of all sessions of a run.

use std::sync::Arc;
use std::time::Duration;

use futures::future;
use jiff::Timestamp;

use super::journal_recorder::JournalObserver;
use super::runner::RunParts;
use super::spans::RunSpans;
use super::{Durability, JournalError, JournalLine, RunControl};
use crate::agent::OptionalServers;
use crate::event::{Events, RunEventKind};
use crate::ledger::FatalSignal;
use crate::time::RunId;

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
        let mut observers = parts.observers.clone();
        let lost_journal = FatalSignal::default();
        observers.push(Arc::new(JournalObserver::new(
            parts.journal.clone(),
            run.clone(),
            lost_journal.clone(),
        )));
        observers.push(Arc::new(RunSpans::new(parts.trace_content)));
        let mut events = Events::new(observers, parts.clock.clone(), parts.ids.clone());
        if let Some(parent) = &parts.trace {
            events = events.in_trace(parent);
        }
        Self {
            optional_servers: parts.optional_servers.for_new_run(),
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
        let journal = &self.parts.journal;
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
        let clock = self.parts.clock.clone();
        async move {
            match time_left {
                Some(time_left) => clock.sleep(time_left).await,
                None => future::pending().await,
            }
        }
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.parts.clock.now()
    }
}
