//! [`SessionActivities`]: the activities of a run that is driven session by session.

use std::sync::Arc;

use autonoe_core::engine::{HostedOutcome, HostedSession, SessionHost, SessionHostError};
use autonoe_core::event::{Failure, Retry};
use autonoe_core::ledger::LedgerView;
use autonoe_core::time::{Epoch, SessionKey};
use autonoe_core::{RunId, RunReport};
use serde::{Deserialize, Serialize};
use temporalio_sdk::ApplicationFailure;
use temporalio_sdk::activities::{ActivityContext, ActivityError, activities};
use tokio_util::sync::CancellationToken;

use super::SessionsRun;
use crate::heartbeat::{HeartbeatState, run_cancellable, run_with_heartbeat};
use crate::wire::Heartbeat;

/// Number of attempts to claim a run if a host reports that it cannot do it. The server selects the
/// host of each attempt.
const CLAIMS: u32 = 5;

/// Executes sessions on this worker.
pub struct SessionActivities {
    hosts: Arc<dyn SessionHosts>,
    /// The queue of this host.
    queue: String,
}

impl SessionActivities {
    pub(crate) fn new(hosts: Arc<dyn SessionHosts>, queue: String) -> Self {
        Self { hosts, queue }
    }

    fn host(&self, run_ref: &RunRef) -> Result<Arc<dyn SessionHost>, ActivityError> {
        self.hosts
            .find(&run_ref.run, &run_ref.sessions)
            .map_err(|failure| refused(&failure))
    }
}

#[activities]
impl SessionActivities {
    /// Claims a run for this host.
    #[activity(name = "autonoe-claim")]
    pub async fn claim(
        self: Arc<Self>,
        ctx: ActivityContext,
        run_ref: RunRef,
    ) -> Result<Claim, ActivityError> {
        let host = self.host(&run_ref)?;
        // A project may have to be fetched first, which can take long.
        let claiming = async {
            let epoch = host.claim(&run_ref.run).await?;
            Ok::<_, SessionHostError>((epoch, host.ledger_view(&run_ref.run).await))
        };
        let claimed = run_with_heartbeat(&ctx, claiming).await?;
        let (epoch, ledger) = claimed.map_err(|error| {
            if ctx.info().attempt >= CLAIMS {
                refused(&failure(error))
            } else {
                // Another host may be able to claim the run.
                retried(&failure(error))
            }
        })?;
        Ok(Claim {
            queue: self.queue.clone(),
            epoch,
            ledger,
        })
    }

    /// Reads the ledger.
    #[activity(name = "autonoe-read-ledger")]
    pub async fn read_ledger(
        self: Arc<Self>,
        ctx: ActivityContext,
        run_ref: RunRef,
    ) -> Result<Result<LedgerView, Failure>, ActivityError> {
        let host = self.host(&run_ref)?;
        run_with_heartbeat(&ctx, host.ledger_view(&run_ref.run)).await
    }

    /// Executes a session, or returns its recorded outcome.
    #[activity(name = "autonoe-session")]
    pub async fn session(
        self: Arc<Self>,
        ctx: ActivityContext,
        call: SessionCall,
    ) -> Result<SessionAnswer, ActivityError> {
        let host = self.host(&call.run_ref)?;
        let beats = HeartbeatState::resume_from(Heartbeat::default());
        let cancelled = CancellationToken::new();
        let key = SessionKey {
            run: call.run_ref.run,
            number: call.number,
        };
        let beat = |at| beats.set_progress(at);
        let attaching =
            host.attach_or_start(&key, call.epoch, call.session, &beat, cancelled.clone());
        let attached = run_cancellable(&ctx, &beats, attaching, || cancelled.cancel()).await?;
        Ok(SessionAnswer::from(attached))
    }

    /// Records the end of a run.
    #[activity(name = "autonoe-conclude")]
    pub async fn conclude(
        self: Arc<Self>,
        ctx: ActivityContext,
        end: EndCall,
    ) -> Result<(), ActivityError> {
        let host = self.host(&end.run_ref)?;
        let concluding = host.conclude(end.epoch, &end.report);
        let concluded = run_with_heartbeat(&ctx, concluding).await?;
        concluded.map_err(|error| refused(&failure(error)))
    }
}

/// Returns the failure of a session host.
fn failure(error: SessionHostError) -> Failure {
    match error {
        SessionHostError::Failed { failure, .. } => failure,
        error => Failure::permanent("session_host", error.to_string()),
    }
}

fn refused(failure: &Failure) -> ActivityError {
    match failure.retry {
        Retry::Retryable => retried(failure),
        Retry::Permanent => {
            ActivityError::application(ApplicationFailure::non_retryable(failure.to_string()))
        }
    }
}

fn retried(failure: &Failure) -> ActivityError {
    ActivityError::application(ApplicationFailure::new(failure.to_string()))
}

/// Finds the session host of a run on this worker.
///
/// It is called for each step of a run, and must return a host with the same state each time, also
/// in the next process: a project directory, for example.
pub trait SessionHosts: Send + Sync {
    /// Returns the session host of a run.
    ///
    /// # Errors
    ///
    /// The project of the run is not on this host. If the failure is retryable, another host is
    /// asked; otherwise the run has failed.
    fn find(&self, run: &RunId, sessions: &SessionsRun) -> Result<Arc<dyn SessionHost>, Failure>;
}

/// The run that a request belongs to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunRef {
    pub run: RunId,
    pub sessions: SessionsRun,
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
    pub run_ref: RunRef,
    pub number: u32,
    pub epoch: Epoch,
    pub session: HostedSession,
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
            Err(error) => Self::Failed(failure(error)),
        }
    }
}

/// A request to record the end of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EndCall {
    pub run_ref: RunRef,
    pub epoch: Epoch,
    pub report: RunReport,
}
