//! Journal pages, read on the host of the project.

// The macros of the SDK generate public items for each activity.
#![allow(unreachable_pub, missing_docs, missing_debug_implementations)]

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::engine::EngineError;
use autonoe_core::event::Failure;
use autonoe_core::project::{JournalPage, JournalPageRequest};
use autonoe_core::time::{IdSource, RandomIds};
use temporalio_client::errors::ActivityResultError;
use temporalio_client::{ActivityStartOptions, Client, RetryPolicy};
use temporalio_sdk::activities::{ActivityContext, ActivityError, activities};

use crate::engine::failed;
use crate::heartbeat::run_with_heartbeat;

/// Time limit for the answer of a host, in addition to the wait that the request asks for.
const ANSWER_LIMIT: Duration = Duration::from_secs(20);

/// Reads journals of the projects on a host.
#[async_trait]
pub trait JournalSource: Send + Sync {
    /// Returns the lines after the cursor of `ask`. If there are none, it waits for one, at most
    /// the wait of `ask`.
    ///
    /// # Errors
    ///
    /// The host has no such project or run, or the journal cannot be read.
    async fn page(&self, ask: &JournalPageRequest) -> Result<JournalPage, Failure>;
}

/// Error of reading a journal page on a host.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The worker of the host does not answer.
    #[error("cannot read the journal: the host {host} does not answer")]
    NoAnswer {
        /// The host.
        host: String,
    },
    /// The host cannot read the journal.
    #[error("reading the journal on the host {host} failed: {failure}")]
    Failed {
        /// The host.
        host: String,
        /// The reason.
        failure: Failure,
    },
    /// The server failed.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

/// Serves pages of journals on this worker.
pub struct JournalActivities {
    source: Arc<dyn JournalSource>,
}

impl JournalActivities {
    pub(crate) fn new(source: Arc<dyn JournalSource>) -> Self {
        Self { source }
    }
}

#[activities]
impl JournalActivities {
    /// Reads one page.
    #[activity(name = "autonoe-journal")]
    pub async fn page(
        self: Arc<Self>,
        ctx: ActivityContext,
        ask: JournalPageRequest,
    ) -> Result<Result<JournalPage, Failure>, ActivityError> {
        run_with_heartbeat(&ctx, self.source.page(&ask)).await
    }
}

/// Lets the host that polls `queue` read a page. Dropping the future is safe: the activity ends by
/// itself.
pub(crate) async fn read_page(
    client: &Client,
    host: &str,
    queue: String,
    ask: JournalPageRequest,
) -> Result<JournalPage, JournalError> {
    let doing = "read the journal of the run";
    let ids = RandomIds::new().map_err(|error| failed(doing, error))?;
    let ids: &dyn IdSource = &ids;
    let id = format!("journal-{}", ids.run_id());
    let retry = RetryPolicy::builder().maximum_attempts(1).build();
    let limit = ask.wait + ANSWER_LIMIT;
    let options = ActivityStartOptions::with_schedule_to_close_timeout(queue, id, limit)
        .retry_policy(retry)
        .build();
    let started = client.start_activity(JournalActivities::page, ask, options);
    let activity = started.await.map_err(|error| failed(doing, error))?;
    let host = host.to_owned();
    match activity.result().await {
        Ok(Ok(page)) => Ok(page),
        Ok(Err(failure)) => Err(JournalError::Failed { host, failure }),
        // The activity itself does not fail, so the worker is unreachable or stopping.
        Err(
            ActivityResultError::ActivityFailed(_)
            | ActivityResultError::TimedOut(_)
            | ActivityResultError::Cancelled { .. }
            | ActivityResultError::Terminated,
        ) => Err(JournalError::NoAnswer { host }),
        Err(ActivityResultError::PayloadConversion(error)) => {
            let reason = format!("{error}; use the version of autonoe-cluster of that host");
            let failure = Failure::permanent("unknown_format", reason);
            Err(JournalError::Failed { host, failure })
        }
        Err(error) => Err(failed(doing, error).into()),
    }
}
