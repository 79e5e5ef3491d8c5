//! How an activity is kept alive, and ended.

use std::pin::pin;
use std::time::Duration;

use temporalio_client::{RetryOptions, RpcOptions, WorkflowDescribeOptions};
use temporalio_sdk::ApplicationFailure;
use temporalio_sdk::activities::{ActivityContext, ActivityError};
use tokio::time::MissedTickBehavior;

use crate::beat::Beats;
use crate::job::JobWorkflow;

/// How often a beat is offered. What of it goes to the server is the SDK's business.
const OFTEN: Duration = Duration::from_secs(1);

/// How long the server has to say why an activity is to end.
const PATIENCE: Duration = Duration::from_secs(3);

/// Waits for `work` that may be dropped at any time, and tells the server meanwhile that it goes on.
///
/// # Errors
///
/// The activity is to end, for whatever reason. The work was dropped.
pub(crate) async fn kept_alive<T>(
    ctx: &ActivityContext,
    work: impl Future<Output = T>,
) -> Result<T, ActivityError> {
    let mut work = pin!(work);
    let mut often = tokio::time::interval(OFTEN);
    often.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            biased;
            done = &mut work => return Ok(done),
            () = ctx.cancelled() => return Err(let_go()),
            // It says nothing of how far the run is.
            _ = often.tick() => ctx.record_heartbeat(()).await?,
        }
    }
}

/// Waits for `work`, and tells the server how far it is. Whoever cancels the run has `cancel`
/// called, and the work is waited for.
///
/// # Errors
///
/// The activity is to end for another reason. The work was dropped: it is begun again elsewhere,
/// or is already.
pub(crate) async fn watched<T>(
    ctx: &ActivityContext,
    beats: &Beats,
    work: impl Future<Output = T>,
    cancel: impl FnOnce(),
) -> Result<T, ActivityError> {
    let mut work = pin!(work);
    let mut said = beats.watch();
    let mut often = tokio::time::interval(OFTEN);
    often.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut cancel = Some(cancel);
    loop {
        tokio::select! {
            biased;
            done = &mut work => return Ok(done),
            () = ctx.cancelled(), if cancel.is_some() => {
                if !is_cancelled_by_somebody(ctx).await {
                    return Err(let_go());
                }
                if let Some(cancel) = cancel.take() {
                    cancel();
                }
            }
            Ok(()) = said.changed() => ctx.record_heartbeat(beats.latest()).await?,
            _ = often.tick() => ctx.record_heartbeat(beats.latest()).await?,
        }
    }
}

fn let_go() -> ActivityError {
    ActivityError::application(ApplicationFailure::new("the worker has let go of the work"))
}

/// Tells whether somebody cancelled the run of an activity that is to end.
///
/// An activity is also told to end when the server has not heard of it for too long, when it has
/// been given to another worker, and when its own worker is told to stop; the SDK does not say
/// which of these it is. What is cancelled is recorded as cancelled and is never begun again, so
/// whoever cannot be sure lets go instead.
async fn is_cancelled_by_somebody(ctx: &ActivityContext) -> bool {
    let Some(workflow) = ctx.workflow_handle::<JobWorkflow>() else {
        return false;
    };
    let rpc = RpcOptions::builder()
        .timeout(PATIENCE)
        .retry_options(RetryOptions::no_retries())
        .build();
    let options = WorkflowDescribeOptions::builder().rpc_options(rpc).build();
    match workflow.describe(options).await {
        Ok(description) => {
            let info = &description.raw().workflow_extended_info;
            info.as_ref().is_some_and(|info| info.cancel_requested)
        }
        Err(error) => {
            tracing::warn!(%error, "nobody says why the work is to end");
            false
        }
    }
}
