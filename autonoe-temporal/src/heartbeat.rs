//! [`HeartbeatState`] of a run in progress, and heartbeats and cancellation of activities.

use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use autonoe_core::engine::RunProgress;
use futures::future::OptionFuture;
use temporalio_client::{RetryOptions, RpcOptions, WorkflowDescribeOptions};
use temporalio_sdk::ApplicationFailure;
use temporalio_sdk::activities::{ActivityContext, ActivityError};
use tokio::sync::watch;
use tokio::time::MissedTickBehavior;

use crate::job::JobWorkflow;
use crate::wire::Heartbeat;

/// Collects the heartbeat details of a run for the task that sends heartbeats.
#[derive(Clone, Debug)]
pub(crate) struct HeartbeatState {
    heartbeat: watch::Sender<Heartbeat>,
    /// Flags of settled instructions, starting at the first unsettled one.
    settled: Arc<Mutex<Vec<bool>>>,
}

impl HeartbeatState {
    /// Continues from the last heartbeat of the previous attempt.
    pub(crate) fn resume_from(heartbeat: Heartbeat) -> Self {
        Self {
            heartbeat: watch::Sender::new(heartbeat),
            settled: Arc::default(),
        }
    }

    pub(crate) fn latest(&self) -> Heartbeat {
        self.heartbeat.borrow().clone()
    }

    /// Sets the progress of the run.
    pub(crate) fn set_progress(&self, at: RunProgress) {
        self.heartbeat.send_modify(|beat| beat.at = at);
    }

    /// Marks an instruction as settled, so that it is not repeated. Instructions after an unsettled
    /// one do not count yet: they are repeated with it, in order and with the same IDs.
    pub(crate) fn settle(&self, number: usize) {
        let mut settled = self.settled.lock().unwrap_or_else(PoisonError::into_inner);
        self.heartbeat.send_if_modified(|beat| {
            let Some(place) = number.checked_sub(beat.settled) else {
                return false;
            };
            if settled.len() <= place {
                settled.resize(place + 1, false);
            }
            settled[place] = true;
            let count = settled.iter().take_while(|settled| **settled).count();
            settled.drain(..count);
            beat.settled += count;
            count > 0
        });
    }
}

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
    supervise(ctx, None, work, None::<fn()>).await
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
    supervise(ctx, Some(beats), work, Some(cancel)).await
}

/// Waits for `work`. Without `beats`, heartbeats have no progress; without `cancel`, the work is
/// dropped if the activity is cancelled.
async fn supervise<T>(
    ctx: &ActivityContext,
    beats: Option<&HeartbeatState>,
    work: impl Future<Output = T>,
    mut cancel: Option<impl FnOnce()>,
) -> Result<T, ActivityError> {
    let mut work = pin!(work);
    let mut changes = beats.map(|beats| beats.heartbeat.subscribe());
    let mut interval = tokio::time::interval(HEARTBEAT_INTERVAL);
    interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut is_cancelled = false;
    loop {
        let changed = OptionFuture::from(changes.as_mut().map(watch::Receiver::changed));
        tokio::select! {
            biased;
            done = &mut work => return Ok(done),
            () = ctx.cancelled(), if !is_cancelled => {
                match cancel.take() {
                    Some(cancel) if is_run_cancelled(ctx).await => cancel(),
                    _ => return Err(abandoned()),
                }
                is_cancelled = true;
            }
            Some(Ok(())) = changed => {}
            _ = interval.tick() => {}
        }
        ctx.record_heartbeat(beats.map(HeartbeatState::latest))
            .await?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settled_counts_the_prefix_without_gaps() {
        let beats = HeartbeatState::resume_from(Heartbeat::default());

        beats.settle(1);
        assert_eq!(beats.latest().settled, 0);
        beats.settle(0);
        assert_eq!(beats.latest().settled, 2);
        beats.settle(3);
        beats.settle(2);

        assert_eq!(beats.latest().settled, 4);
    }

    #[test]
    fn the_next_attempt_continues_the_conversation() {
        let last = Heartbeat {
            at: RunProgress::new(0.5),
            settled: 3,
        };
        let beats = HeartbeatState::resume_from(last);

        beats.settle(2);
        beats.settle(3);

        assert_eq!(beats.latest().settled, 4);
        assert_eq!(beats.latest().at, RunProgress::new(0.5));
    }
}
