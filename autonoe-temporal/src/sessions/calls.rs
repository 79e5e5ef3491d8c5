//! What a workflow asks of a host, and is answered.

use autonoe_core::{
    Epoch, Failure, HostedOutcome, HostedSession, LedgerView, RunId, RunReport, SessionHostError,
    SessionKey,
};
use serde::{Deserialize, Serialize};

use super::SessionsRun;

/// Whose sessions are meant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Whose {
    pub run: RunId,
    pub what: SessionsRun,
}

/// A host that has claimed a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    /// Its queue.
    pub queue: String,
    /// The epoch with which the run is there.
    pub epoch: Epoch,
    /// The ledger as it was found, or why it cannot be read.
    pub ledger: Result<LedgerView, Failure>,
}

/// A session that a host is to carry out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SessionCall {
    pub whose: Whose,
    pub number: u32,
    pub epoch: Epoch,
    pub session: HostedSession,
}

impl SessionCall {
    pub(super) fn key(&self) -> SessionKey {
        SessionKey {
            run: self.whose.run.clone(),
            number: self.number,
        }
    }
}

/// What became of a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum SessionAnswer {
    /// It has a recorded end.
    Ended(Box<HostedOutcome>),
    /// Somebody else has taken over there.
    Fenced { latest: Epoch },
    /// It was cancelled before it began.
    Cancelled,
    /// It has no recorded end.
    Failed(Failure),
}

impl From<Result<HostedOutcome, SessionHostError>> for SessionAnswer {
    fn from(attached: Result<HostedOutcome, SessionHostError>) -> Self {
        match attached {
            Ok(outcome) => Self::Ended(Box::new(outcome)),
            Err(SessionHostError::Fenced { latest, .. }) => Self::Fenced { latest },
            Err(SessionHostError::Cancelled(_)) => Self::Cancelled,
            Err(SessionHostError::Failed { failure, .. }) => Self::Failed(failure),
            Err(error) => Self::Failed(Failure::retryable("session_host", error.to_string())),
        }
    }
}

/// The end of a run that its host is to write down.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EndCall {
    pub whose: Whose,
    pub epoch: Epoch,
    pub report: RunReport,
}
