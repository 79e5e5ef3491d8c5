//! A host that can do nothing.

use async_trait::async_trait;
use autonoe_core::{
    Epoch, Failure, HostedOutcome, HostedSession, LedgerView, RunId, RunProgress, RunReport,
    SessionHost, SessionHostError, SessionKey,
};
use tokio_util::sync::CancellationToken;

/// Says for each thing why it cannot be done.
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

    async fn look(&self, _run: &RunId) -> Result<LedgerView, Failure> {
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
