//! Heartbeats and cancellation of activities.

use std::pin::pin;
use std::time::Duration;

use temporalio_client::{RetryOptions, RpcOptions, WorkflowDescribeOptions};
use temporalio_sdk::ApplicationFailure;
use temporalio_sdk::activities::{ActivityContext, ActivityError};
use tokio::time::MissedTickBehavior;

use crate::heartbeat::HeartbeatState;
use crate::job::JobWorkflow;

/// Interval of recorded heartbeats. The SDK throttles those that it sends to the server.
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(1);

/// Timeout of the request why an activity is cancelled.
const DESCRIBE_TIMEOUT: Duration = Duration::from_secs(3);

/// Waits for `work`, which may be dropped at any time, and sends heartbeats meanwhile.
///
/// # Errors
///
/// The activity is cancelled, for any reason. The work was dropped.
pub(crate) async fn run_with_heartbeat<T>(
    ctx: &ActivityContext,
    work: impl Future<Output = T>,
) -> Result<T, ActivityError> {
    let mut work = pin!(work);
    let mut interval = tokio::time::interval(HEARTBEAT_INTERVAL);
    interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            biased;
            done = &mut work => return Ok(done),
            () = ctx.cancelled() => return Err(abandoned()),
            // The heartbeat has no progress.
            _ = interval.tick() => ctx.record_heartbeat(()).await?,
        }
    }
}

/// Waits for `work`, and sends heartbeats with its progress. If the run is cancelled, it calls
/// `cancel` and keeps waiting for the work.
///
/// # Errors
///
/// The activity ends for another reason. The work was dropped: another worker starts it again, or
/// already has.
pub(crate) async fn run_cancellable<T>(
    ctx: &ActivityContext,
    beats: &HeartbeatState,
    work: impl Future<Output = T>,
    cancel: impl FnOnce(),
) -> Result<T, ActivityError> {
    let mut work = pin!(work);
    let mut changes = beats.watch();
    let mut interval = tokio::time::interval(HEARTBEAT_INTERVAL);
    interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut cancel = Some(cancel);
    loop {
        tokio::select! {
            biased;
            done = &mut work => return Ok(done),
            () = ctx.cancelled(), if cancel.is_some() => {
                if !is_run_cancelled(ctx).await {
                    return Err(abandoned());
                }
                if let Some(cancel) = cancel.take() {
                    cancel();
                }
            }
            Ok(()) = changes.changed() => ctx.record_heartbeat(beats.latest()).await?,
            _ = interval.tick() => ctx.record_heartbeat(beats.latest()).await?,
        }
    }
}

fn abandoned() -> ActivityError {
    ActivityError::application(ApplicationFailure::new("the worker abandoned the activity"))
}

/// Returns whether the run of a cancelled activity was itself cancelled.
///
/// An activity is also cancelled when the server has not received a heartbeat for too long, when it
/// was given to another worker, and when its own worker is stopping. The SDK does not report the
/// reason. A cancelled activity is recorded as cancelled and never started again, so in case of
/// doubt the worker abandons it instead.
async fn is_run_cancelled(ctx: &ActivityContext) -> bool {
    let Some(workflow) = ctx.workflow_handle::<JobWorkflow>() else {
        return false;
    };
    let rpc = RpcOptions::builder()
        .timeout(DESCRIBE_TIMEOUT)
        .retry_options(RetryOptions::no_retries())
        .build();
    let options = WorkflowDescribeOptions::builder().rpc_options(rpc).build();
    match workflow.describe(options).await {
        Ok(description) => {
            let info = &description.raw().workflow_extended_info;
            info.as_ref().is_some_and(|info| info.cancel_requested)
        }
        Err(error) => {
            tracing::warn!(%error, "cannot find out why the activity was cancelled");
            false
        }
    }
}
