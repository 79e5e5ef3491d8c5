//! Fences off callers whose epoch was overtaken.

use std::sync::Arc;

use super::host::ProjectSessionHost;
use super::unusable;
use crate::engine::SessionHostError;
use crate::event::{Failure, Retry};
use crate::ledger::DeliverableRepository;
use crate::project::ProjectRunError;
use crate::run::prepare::{MissingLedger, raise_epoch};
use crate::time::{Epoch, SessionKey};

impl ProjectSessionHost {
    /// Returns the highest epoch in the ledger, or an error if `epoch` was overtaken.
    pub(super) async fn check_epoch(
        &self,
        key: &SessionKey,
        epoch: Epoch,
    ) -> Result<Option<Epoch>, SessionHostError> {
        let failed = SessionHostError::failed(key);
        let found = self.ledger().map_err(failed)?.load().await;
        let found = found.map_err(|error| failed(Failure::from(&error)))?;
        match found.map(|found| found.epoch) {
            Some(latest) if latest > epoch => {
                let requested = epoch;
                Err(SessionHostError::Fenced { requested, latest })
            }
            latest => Ok(latest),
        }
    }

    /// Fences off all callers before `epoch`, or returns an error if `epoch` itself was overtaken.
    pub(super) async fn fence(
        &self,
        key: &SessionKey,
        epoch: Epoch,
    ) -> Result<(), SessionHostError> {
        let failed = SessionHostError::failed(key);
        let ledger: Arc<dyn DeliverableRepository> = self.ledger().map_err(failed)?;
        let mut raised = Ok(());
        loop {
            let missing = match self.check_epoch(key, epoch).await? {
                Some(latest) if latest == epoch => return Ok(()),
                Some(_) => MissingLedger::Fail,
                None => {
                    let checked = self.check_journal_has_no_deliverables().await;
                    checked.map_err(failed)?;
                    MissingLedger::Create
                }
            };
            // Checked again: it may have failed because another caller was first.
            raised.map_err(failed)?;
            let (ledger, clock) = (ledger.clone(), self.options.clock.clone());
            let result = raise_epoch(ledger, clock, Some(epoch), missing, None).await;
            raised = result.map(|_| ());
        }
    }

    /// Refuses a project whose ledger is missing although its journal records deliverables.
    async fn check_journal_has_no_deliverables(&self) -> Result<(), Failure> {
        let project = self.options.project.clone();
        let check = move || project.check_journal_has_no_deliverables();
        let task = tokio::task::spawn_blocking(check);
        let checked = task
            .await
            .map_err(|error| Failure::from_error("project_unusable", &error, Retry::Retryable))?;
        checked.map_err(|error| match error {
            ProjectRunError::Ledger(error) => Failure::from(&error),
            error => unusable(&error),
        })
    }
}
