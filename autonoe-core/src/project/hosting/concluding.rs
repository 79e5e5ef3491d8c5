//! The end of a run whose sessions were carried out here.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use super::host::{LOOK_AGAIN, ProjectSessionHost};
use crate::domain::quota::between;
use crate::domain::{Epoch, Failure, Retry, RunReport, SessionKey};
use crate::engine::SessionHostError;
use crate::port::RepositoryErrorKind;
use crate::project::{
    FileDeliverableRepository, FileJournal, Journal, Project, ProjectError, RunLock,
};
use crate::run::{Durability, JournalLine, RunJournal};

/// How long another one is waited for who works in the project.
const PATIENCE: Duration = Duration::from_secs(60);

/// The end of a run that is to be written down.
pub(super) struct Concluding<'a> {
    pub(super) host: &'a ProjectSessionHost,
    pub(super) epoch: Epoch,
    pub(super) report: &'a RunReport,
}

impl Concluding<'_> {
    /// Writes the end down, unless it is there or nothing is there that needs one.
    pub(super) async fn conclude(&self) -> Result<(), SessionHostError> {
        let key = SessionKey::of_run(&self.report.run);
        let failed = |failure| SessionHostError::Failed {
            key: key.clone(),
            failure,
        };
        self.host.not_overtaken(&key, self.epoch).await?;
        if !self.is_open().await.map_err(failed)? {
            return Ok(());
        }
        let began = self.host.clock.now();
        loop {
            // A session of who was overtaken ends by this, and lets go of the project.
            self.host.fence(&key, self.epoch).await?;
            match self.write().await.map_err(failed)? {
                Wrote::Done => return Ok(()),
                // The fence says by whom.
                Wrote::Overtaken => continue,
                Wrote::Locked if self.waited_since(began) >= PATIENCE => {
                    let why = "another one works in the project";
                    return Err(failed(Failure::retryable("project_in_use", why)));
                }
                Wrote::Locked => self.host.clock.sleep(LOOK_AGAIN).await,
            }
        }
    }

    /// Tells whether the run began here and has no end.
    async fn is_open(&self) -> Result<bool, Failure> {
        let run = self.report.run.clone();
        let is_open = move |journal: &Journal| journal.flow(&run).is_some();
        self.host.reading(is_open).await
    }

    fn waited_since(&self, began: Timestamp) -> Duration {
        between(began, self.host.clock.now())
    }

    async fn write(&self) -> Result<Wrote, Failure> {
        let end = End {
            project: self.host.project.clone(),
            ledger: self.host.ledger()?,
            epoch: self.epoch,
            report: self.report.clone(),
            at: self.host.clock.now(),
        };
        let writing = tokio::task::spawn_blocking(move || end.write());
        writing.await.unwrap_or_else(|error| {
            let code = "journal_unavailable";
            Err(Failure::from_error(code, &error, Retry::MayHelp))
        })
    }
}

/// What came of writing an end down.
enum Wrote {
    /// It is there.
    Done,
    /// Another one works in the project.
    Locked,
    /// Another one has taken over.
    Overtaken,
}

/// An end with all that is needed to write it down.
struct End {
    project: Project,
    ledger: Arc<FileDeliverableRepository>,
    epoch: Epoch,
    report: RunReport,
    at: Timestamp,
}

impl End {
    fn write(self) -> Result<Wrote, Failure> {
        let _lock = match RunLock::acquire(&self.project, self.at) {
            Ok(lock) => lock,
            Err(ProjectError::Locked(_)) => return Ok(Wrote::Locked),
            Err(error) => return Err(unusable(&error)),
        };
        let run = self.report.run.clone();
        // It may have been written between the look and the lock.
        let journal = Journal::read_all(&self.project).map_err(|error| unusable(&error))?;
        if journal.flow(&run).is_none() {
            return Ok(Wrote::Done);
        }
        let journal = FileJournal::open(&self.project).map_err(|error| unusable(&error))?;
        let line = JournalLine::RunEnded {
            report: self.report,
        };
        let append = || journal.append(&run, self.at, &line, Durability::Synced);
        match self.ledger.while_epoch_holds(self.epoch, append) {
            Ok(Ok(())) => Ok(Wrote::Done),
            Ok(Err(error)) => Err(Failure::from(&error)),
            Err(error) if error.kind() == RepositoryErrorKind::Fenced => Ok(Wrote::Overtaken),
            Err(error) => Err(Failure::from(&error)),
        }
    }
}

fn unusable(error: &(dyn std::error::Error + 'static)) -> Failure {
    Failure::from_error("project_unusable", error, Retry::Useless)
}
