//! What all sessions of a run stand in.

use std::sync::Arc;
use std::time::Duration;

use futures::future;
use jiff::Timestamp;

use super::journal_observer::JournalObserver;
use super::runner::Parts;
use super::spans::RunSpans;
use super::{Durability, JournalError, JournalLine, RunControl};
use crate::domain::RunId;
use crate::port::{Events, OptionalServers, RunEventKind};
use crate::tools::LostGround;

/// What all sessions of a run stand in, whoever decides what comes next. Cheap to clone.
#[derive(Clone)]
pub(super) struct Setting {
    pub(super) parts: Arc<Parts>,
    pub(super) control: RunControl,
    pub(super) run: RunId,
    pub(super) events: Events,
    /// The journal, when it takes no line any more.
    pub(super) lost_journal: LostGround,
    /// The servers that its sessions can do without.
    pub(super) optional_servers: OptionalServers,
}

impl Setting {
    pub(super) fn new(parts: Arc<Parts>, control: RunControl, run: RunId) -> Self {
        let mut observers = parts.observers.clone();
        let lost_journal = LostGround::default();
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

    pub(super) fn write_down(
        &self,
        line: &JournalLine,
        durability: Durability,
    ) -> Result<(), JournalError> {
        let journal = &self.parts.journal;
        journal.append(&self.run, self.now(), line, durability)
    }

    /// Reports a problem that does not end the run.
    pub(super) fn warn(&self, message: &str) {
        self.events.emit(RunEventKind::Warning { message });
    }

    /// Waits until `time_left` has passed; for ever without a time limit.
    pub(super) fn time_is_up(
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

    pub(super) fn now(&self) -> Timestamp {
        self.parts.clock.now()
    }
}
