//! Requests of a workflow to a session host, and the answers.

use autonoe_core::engine::{HostedOutcome, HostedSession, SessionHostError};
use autonoe_core::event::Failure;
use autonoe_core::ledger::LedgerView;
use autonoe_core::time::{Epoch, SessionKey};
use autonoe_core::{RunId, RunReport};
use serde::{Deserialize, Serialize};

use super::SessionsRun;

/// The run that a request belongs to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunRef {
    pub run: RunId,
    pub what: SessionsRun,
}

/// A host that has claimed a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    /// The queue of the host.
    pub queue: String,
    /// The epoch of the run on the host.
    pub epoch: Epoch,
    /// The ledger at the time of the claim, or why it cannot be read.
    pub ledger: Result<LedgerView, Failure>,
}

/// A request to execute a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SessionCall {
    pub whose: RunRef,
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

/// The answer to a session request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum SessionAnswer {
    /// The session has a recorded end.
    Ended(Box<HostedOutcome>),
    /// Another owner with a newer epoch has taken over the project.
    Fenced { latest: Epoch },
    /// The session was cancelled before it started.
    Cancelled,
    /// The session has no recorded end.
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

/// A request to record the end of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EndCall {
    pub whose: RunRef,
    pub epoch: Epoch,
    pub report: RunReport,
}
