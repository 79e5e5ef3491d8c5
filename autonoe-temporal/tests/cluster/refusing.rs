//! A session host that refuses every request.

use async_trait::async_trait;
use autonoe_core::engine::{
    HostedOutcome, HostedSession, RunProgress, SessionHost, SessionHostError,
};
use autonoe_core::event::Failure;
use autonoe_core::ledger::LedgerView;
use autonoe_core::time::{Epoch, SessionKey};
use autonoe_core::{RunId, RunReport};
use tokio_util::sync::CancellationToken;

/// Refuses every request with this failure.
pub(crate) struct Refusing(pub(crate) Failure);

impl Refusing {
    fn refuse(&self, run: &RunId, number: u32) -> SessionHostError {
        let run = run.clone();
        SessionHostError::Failed {
            key: SessionKey { run, number },
            failure: self.0.clone(),
        }
    }
}

#[async_trait]
impl SessionHost for Refusing {
    async fn claim(&self, run: &RunId) -> Result<Epoch, SessionHostError> {
        Err(self.refuse(run, 0))
    }

    async fn ledger_view(&self, _run: &RunId) -> Result<LedgerView, Failure> {
        Err(self.0.clone())
    }

    async fn attach_or_start(
        &self,
        key: &SessionKey,
        _epoch: Epoch,
        _session: HostedSession,
        _beat: &(dyn Fn(RunProgress) + Send + Sync),
        _cancelled: CancellationToken,
    ) -> Result<HostedOutcome, SessionHostError> {
        Err(self.refuse(&key.run, key.number))
    }

    async fn conclude(&self, _epoch: Epoch, report: &RunReport) -> Result<(), SessionHostError> {
        Err(self.refuse(&report.run, 0))
    }
}
