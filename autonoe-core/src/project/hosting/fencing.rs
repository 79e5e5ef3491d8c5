//! Who was overtaken is kept off.

use std::sync::Arc;

use super::host::ProjectSessionHost;
use crate::domain::{Epoch, Failure, Retry, SessionKey};
use crate::engine::SessionHostError;
use crate::port::DeliverableRepository;
use crate::project::ProjectRunError;
use crate::run::{MissingLedger, take_over_at};

impl ProjectSessionHost {
    /// Returns the highest epoch that was seen here; or says that `epoch` was overtaken.
    pub(super) async fn not_overtaken(
        &self,
        key: &SessionKey,
        epoch: Epoch,
    ) -> Result<Option<Epoch>, SessionHostError> {
        let failed = |failure| SessionHostError::Failed {
            key: key.clone(),
            failure,
        };
        let found = self.ledger().map_err(failed)?.load().await;
        let found = found.map_err(|error| failed(Failure::from(&error)))?;
        match found.map(|found| found.epoch) {
            Some(latest) if latest > epoch => {
                let asked = epoch;
                Err(SessionHostError::Fenced { asked, latest })
            }
            latest => Ok(latest),
        }
    }

    /// Keeps off all before `epoch`; or says that it was overtaken itself.
    pub(super) async fn fence(
        &self,
        key: &SessionKey,
        epoch: Epoch,
    ) -> Result<(), SessionHostError> {
        let failed = |failure| SessionHostError::Failed {
            key: key.clone(),
            failure,
        };
        let ledger: Arc<dyn DeliverableRepository> = self.ledger().map_err(failed)?;
        let mut raised = Ok(());
        loop {
            let missing = match self.not_overtaken(key, epoch).await? {
                Some(latest) if latest == epoch => return Ok(()),
                Some(_) => MissingLedger::Fail,
                None => {
                    let checked = self.check_journal_has_no_deliverables().await;
                    checked.map_err(failed)?;
                    MissingLedger::Create
                }
            };
            // Looked at again: it may have failed because another was there first.
            raised.map_err(failed)?;
            let taken =
                take_over_at(ledger.clone(), self.clock.clone(), epoch, missing, |_| {}).await;
            raised = taken.map(|_| ());
        }
    }

    /// Refuses a project whose ledger is missing although its journal records deliverables.
    async fn check_journal_has_no_deliverables(&self) -> Result<(), Failure> {
        let project = self.project.clone();
        let unusable = |error: &(dyn std::error::Error + 'static), retry| {
            Failure::from_error("project_unusable", error, retry)
        };
        let check = move || project.check_journal_has_no_deliverables();
        let looking = tokio::task::spawn_blocking(check);
        let looked = looking
            .await
            .map_err(|error| unusable(&error, Retry::MayHelp))?;
        looked.map_err(|error| match error {
            ProjectRunError::Ledger(error) => Failure::from(&error),
            error => unusable(&error, Retry::Useless),
        })
    }
}
