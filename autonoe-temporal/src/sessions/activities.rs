//! What a worker does for a run that is driven session by session.

use std::sync::Arc;

use autonoe_core::{Failure, LedgerView, Retry, SessionHost, SessionHostError};
use temporalio_sdk::ApplicationFailure;
use temporalio_sdk::activities::{ActivityContext, ActivityError, activities};
use tokio_util::sync::CancellationToken;

use super::SessionHosts;
use super::calls::{Claim, EndCall, SessionAnswer, SessionCall, Whose};
use crate::beat::Beats;
use crate::watching::{kept_alive, watched};
use crate::wire::Beat;

/// How often hosts are asked to claim a run of which one says that it cannot be done. Which of them
/// is asked is up to the server.
const CLAIMS: u32 = 5;

/// Carries out sessions on this worker.
pub struct SessionActivities {
    hosts: Arc<dyn SessionHosts>,
    /// The queue of this host.
    queue: String,
}

impl SessionActivities {
    pub(crate) fn new(hosts: Arc<dyn SessionHosts>, queue: String) -> Self {
        Self { hosts, queue }
    }

    fn host(&self, whose: &Whose) -> Result<Arc<dyn SessionHost>, ActivityError> {
        self.hosts
            .of(&whose.run, &whose.what)
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
        whose: Whose,
    ) -> Result<Claim, ActivityError> {
        let host = self.host(&whose)?;
        // A project may have to be fetched first, which can take long.
        let claiming = async {
            let epoch = host.claim(&whose.run).await?;
            Ok::<_, SessionHostError>((epoch, host.look(&whose.run).await))
        };
        let claimed = kept_alive(&ctx, claiming).await?;
        let is_last = ctx.info().attempt >= CLAIMS;
        let (epoch, ledger) = claimed.map_err(|error| match error {
            SessionHostError::Failed { failure, .. } if is_last => refused(&failure),
            // What cannot be done here may be done elsewhere.
            SessionHostError::Failed { failure, .. } => retried(&failure),
            error => retried(&Failure::retryable("session_host", error.to_string())),
        })?;
        Ok(Claim {
            queue: self.queue.clone(),
            epoch,
            ledger,
        })
    }

    /// Looks at the ledger.
    #[activity(name = "autonoe-look")]
    pub async fn look(
        self: Arc<Self>,
        ctx: ActivityContext,
        whose: Whose,
    ) -> Result<Result<LedgerView, Failure>, ActivityError> {
        let host = self.host(&whose)?;
        kept_alive(&ctx, host.look(&whose.run)).await
    }

    /// Carries out a session, or finds what it came to.
    #[activity(name = "autonoe-session")]
    pub async fn session(
        self: Arc<Self>,
        ctx: ActivityContext,
        call: SessionCall,
    ) -> Result<SessionAnswer, ActivityError> {
        let host = self.host(&call.whose)?;
        let beats = Beats::after(Beat::default());
        let cancelled = CancellationToken::new();
        let key = call.key();
        let beat = |at| beats.reached(at);
        let attaching =
            host.attach_or_start(&key, call.epoch, call.session, &beat, cancelled.clone());
        let attached = watched(&ctx, &beats, attaching, || cancelled.cancel()).await?;
        Ok(SessionAnswer::from(attached))
    }

    /// Writes down how a run ended.
    #[activity(name = "autonoe-conclude")]
    pub async fn conclude(
        self: Arc<Self>,
        ctx: ActivityContext,
        end: EndCall,
    ) -> Result<(), ActivityError> {
        let host = self.host(&end.whose)?;
        let concluding = host.conclude(end.epoch, &end.report);
        let concluded = kept_alive(&ctx, concluding).await?;
        concluded.map_err(|error| match error {
            SessionHostError::Failed { failure, .. } => refused(&failure),
            error => refused(&Failure::permanent("session_host", error.to_string())),
        })
    }
}

fn refused(failure: &Failure) -> ActivityError {
    match failure.retry {
        Retry::MayHelp => retried(failure),
        Retry::Useless => {
            ActivityError::application(ApplicationFailure::non_retryable(failure.to_string()))
        }
    }
}

fn retried(failure: &Failure) -> ActivityError {
    ActivityError::application(ApplicationFailure::new(failure.to_string()))
}
