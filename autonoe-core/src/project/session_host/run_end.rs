//! [`RunEndRecorder`], which records the end of a hosted run.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use super::host::{POLL_INTERVAL, ProjectSessionHost};
use super::unusable;
use crate::engine::SessionHostError;
use crate::event::{Failure, Retry};
use crate::ledger::RepositoryErrorKind;
use crate::project::{
    FileDeliverableRepository, FileJournal, Journal, Project, ProjectError, RunLock,
};
use crate::run::RunReport;
use crate::run::{Durability, JournalLine, RunJournal};
use crate::time::timestamp::between;
use crate::time::{Epoch, SessionKey};

/// The maximum time to wait for another process that works in the project.
const MAX_WAIT: Duration = Duration::from_secs(60);

/// The end of a run to record.
pub(super) struct RunEndRecorder<'a> {
    pub(super) host: &'a ProjectSessionHost,
    pub(super) epoch: Epoch,
    pub(super) report: &'a RunReport,
}

impl RunEndRecorder<'_> {
    /// Records the end, unless it is recorded or there is no run that needs one.
    pub(super) async fn conclude(&self) -> Result<(), SessionHostError> {
        let key = SessionKey::for_run(&self.report.run);
        let failed = SessionHostError::failed(&key);
        self.host.check_epoch(&key, self.epoch).await?;
        if !self.is_open().await.map_err(failed)? {
            return Ok(());
        }
        let started = self.host.options.clock.now();
        loop {
            // This ends the session of a fenced-off caller, which then releases the project.
            self.host.fence(&key, self.epoch).await?;
            match self.write().await.map_err(failed)? {
                Recorded::Done => return Ok(()),
                // The fence returns the epoch of the new owner.
                Recorded::Overtaken => continue,
                Recorded::Locked if self.waited_since(started) >= MAX_WAIT => {
                    let message = "another one works in the project";
                    return Err(failed(Failure::retryable("project_in_use", message)));
                }
                Recorded::Locked => self.host.options.clock.sleep(POLL_INTERVAL).await,
            }
        }
    }

    /// Returns whether the run started here and has no end.
    async fn is_open(&self) -> Result<bool, Failure> {
        let run = self.report.run.clone();
        let is_open = move |journal: &Journal| journal.flow(&run).is_some();
        self.host.read_journal(is_open).await
    }

    fn waited_since(&self, started: Timestamp) -> Duration {
        between(started, self.host.options.clock.now())
    }

    async fn write(&self) -> Result<Recorded, Failure> {
        let end = End {
            project: self.host.options.project.clone(),
            ledger: self.host.ledger()?,
            epoch: self.epoch,
            report: self.report.clone(),
            at: self.host.options.clock.now(),
        };
        let writing = tokio::task::spawn_blocking(move || end.write());
        writing.await.unwrap_or_else(|error| {
            let code = "journal_unavailable";
            Err(Failure::from_error(code, &error, Retry::Retryable))
        })
    }
}

/// The result of recording an end.
enum Recorded {
    /// The end is recorded.
    Done,
    /// Another process works in the project.
    Locked,
    /// Another run has taken over.
    Overtaken,
}

/// An end with everything that is needed to record it.
struct End {
    project: Project,
    ledger: Arc<FileDeliverableRepository>,
    epoch: Epoch,
    report: RunReport,
    at: Timestamp,
}

impl End {
    fn write(self) -> Result<Recorded, Failure> {
        let _lock = match RunLock::acquire(&self.project, self.at) {
            Ok(lock) => lock,
            Err(ProjectError::Locked(_)) => return Ok(Recorded::Locked),
            Err(error) => return Err(unusable(&error)),
        };
        let run = self.report.run.clone();
        // It may have been recorded between the check and the lock.
        let journal = Journal::read_all(&self.project).map_err(|error| unusable(&error))?;
        if journal.flow(&run).is_none() {
            return Ok(Recorded::Done);
        }
        let journal = FileJournal::open(&self.project).map_err(|error| unusable(&error))?;
        let line = JournalLine::RunEnded {
            report: self.report,
        };
        let append = || journal.append(&run, self.at, &line, Durability::Synced);
        match self.ledger.run_under_epoch(self.epoch, append) {
            Ok(Ok(())) => Ok(Recorded::Done),
            Ok(Err(error)) => Err(Failure::from(&error)),
            Err(error) if error.kind() == RepositoryErrorKind::Fenced => Ok(Recorded::Overtaken),
            Err(error) => Err(Failure::from(&error)),
        }
    }
}
