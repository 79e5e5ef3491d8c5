//! How the steps of a run are carried out by a workflow.

use autonoe_core::Failure;
use temporalio_client::RetryPolicy;
use temporalio_common::MemoValue;
use temporalio_sdk::{
    ActivityCancellationType, ActivityExecutionError, ActivityOptions, TimeoutType,
    WorkflowCancellationToken, WorkflowContext,
};

use super::SessionActivities;
use super::calls::{EndCall, SessionCall};
use super::course::{Came, Lost, OnHost, Step};
use super::workflow::SessionsWorkflow;
use crate::Pace;
use crate::failure::reason;
use crate::wire::{HOST_MEMO, aside_of};

type Context = WorkflowContext<SessionsWorkflow>;

/// Carries out a step that is not the last, and returns what came of it.
pub(super) async fn carry_out(ctx: &mut Context, step: Step, pace: Pace) -> Option<Came> {
    match step {
        Step::Claim { queue } => Some(claim(ctx, queue, pace).await),
        Step::Look(host) => Some(look(ctx, host, pace).await),
        Step::Conclude { queue, end } => Some(conclude(ctx, &queue, *end, pace).await),
        Step::Session(host, call) => Some(session(ctx, host, *call, pace).await),
        Step::Timer(left) => {
            ctx.timer(left).await;
            Some(Came::TimeIsUp)
        }
        Step::AwaitInstruction => {
            // What it is told comes by a signal.
            let _ = ctx.wait_condition(|it| it.course.has_news()).await;
            None
        }
        Step::BeginAnew | Step::Finish(_) => None,
    }
}

async fn claim(ctx: &mut Context, queue: Option<String>, pace: Pace) -> Came {
    let whose = ctx.state(|it| it.course.whose());
    let options = ActivityOptions::with_start_to_close_timeout(pace.longest)
        .heartbeat_timeout(pace.heartbeat)
        .maybe_task_queue(queue)
        .build();
    let claimed = ctx.execute_activity(SessionActivities::claim, whose, options);
    let claimed = claimed.await;
    if let Ok(claim) = &claimed {
        // Kept where it can be read without a worker, and after the end. A text is always JSON.
        let _ = ctx.upsert_memo([(HOST_MEMO, Some(MemoValue::new(claim.queue.clone())))]);
    }
    Came::Claimed(claimed.map_err(|error| unclaimed(&error)))
}

async fn look(ctx: &mut Context, host: OnHost, pace: Pace) -> Came {
    let whose = ctx.state(|it| it.course.whose());
    let options = ActivityOptions::with_start_to_close_timeout(pace.longest)
        .heartbeat_timeout(pace.heartbeat)
        .task_queue(host.queue)
        .maybe_schedule_to_start_timeout(host.patience)
        .build();
    let looked = ctx.execute_activity(SessionActivities::look, whose, options);
    Came::Looked(looked.await.map_err(Lost::from))
}

async fn session(ctx: &mut Context, host: OnHost, call: SessionCall, pace: Pace) -> Came {
    let options = ActivityOptions::with_start_to_close_timeout(pace.longest)
        .heartbeat_timeout(pace.heartbeat)
        .cancellation_type(ActivityCancellationType::WaitCancellationCompleted)
        .task_queue(host.queue)
        .maybe_schedule_to_start_timeout(host.patience)
        // Whether to try again there or elsewhere is decided by the course.
        .retry_policy(RetryPolicy::builder().maximum_attempts(1).build())
        .build();
    let answered = ctx.execute_activity(SessionActivities::session, call, options);
    Came::Answered(answered.await.map_err(Lost::from))
}

/// Has the host write down how the run ended, as far as it can. Whoever waits for that end waits no
/// longer for a host that is gone, also if the run is bound to it.
async fn conclude(ctx: &mut Context, host: &str, end: EndCall, pace: Pace) -> Came {
    let options = ActivityOptions::with_schedule_to_close_timeout(pace.end)
        .heartbeat_timeout(pace.heartbeat)
        // The slots of the host may all be taken, for hours.
        .task_queue(aside_of(host))
        // Of its own: a run that was cancelled has an end, too.
        .cancellation_token(WorkflowCancellationToken::new())
        .build();
    let run = end.whose.run.clone();
    let concluded = ctx.execute_activity(SessionActivities::conclude, end, options);
    if let Err(error) = concluded.await
        && !ctx.is_replaying()
    {
        let why = why(&error);
        tracing::warn!(%run, host, why, "the end of a run is not written down on its host");
    }
    Came::Concluded
}

impl From<ActivityExecutionError> for Lost {
    fn from(error: ActivityExecutionError) -> Self {
        if let ActivityExecutionError::Cancelled(_) = error {
            return Self::Cancelled;
        }
        let timeout = error.as_timeout().map(|timeout| timeout.timeout_type());
        match timeout {
            Some(TimeoutType::ScheduleToStart) => Self::HostIsGone,
            _ => Self::Worker(format!(
                "the session was lost with its worker: {}",
                why(&error)
            )),
        }
    }
}

fn unclaimed(error: &ActivityExecutionError) -> Failure {
    let why = format!("no host claims the run: {}", why(error));
    match error {
        ActivityExecutionError::Cancelled(_) => Failure::retryable("cancelled", why),
        _ => Failure::permanent("unclaimed", why),
    }
}

/// Returns what lies behind an error.
fn why(error: &ActivityExecutionError) -> String {
    let failure = error.failure();
    failure.map_or_else(|| error.to_string(), reason)
}
