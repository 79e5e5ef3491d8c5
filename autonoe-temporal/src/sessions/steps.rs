//! Performs the steps of a [`SessionsMachine`](super::course::SessionsMachine) as activities and
//! timers.

use autonoe_core::event::Failure;
use temporalio_client::RetryPolicy;
use temporalio_common::MemoValue;
use temporalio_sdk::{
    ActivityCancellationType, ActivityExecutionError, ActivityOptions, TimeoutType,
    WorkflowCancellationToken, WorkflowContext,
};

use super::SessionActivities;
use super::machine::{NoAnswer, SessionsEvent, SessionsStep, TargetHost};
use super::requests::{EndCall, SessionCall};
use super::workflow::SessionsWorkflow;
use crate::Timeouts;
use crate::failure::reason;
use crate::wire::{HOST_MEMO, side_queue_of};

type Context = WorkflowContext<SessionsWorkflow>;

/// Performs a step that is not the last one, and returns its result.
pub(super) async fn perform(
    ctx: &mut Context,
    step: SessionsStep,
    timeouts: Timeouts,
) -> Option<SessionsEvent> {
    match step {
        SessionsStep::Claim { queue } => Some(claim(ctx, queue, timeouts).await),
        SessionsStep::ReadLedger(host) => Some(read_ledger(ctx, host, timeouts).await),
        SessionsStep::Conclude { queue, end } => Some(conclude(ctx, &queue, *end, timeouts).await),
        SessionsStep::Session(host, call) => Some(session(ctx, host, *call, timeouts).await),
        SessionsStep::Timer(left) => {
            ctx.timer(left).await;
            Some(SessionsEvent::TimedOut)
        }
        SessionsStep::AwaitInstruction => {
            // The instruction arrives as a signal.
            let _ = ctx.wait_condition(|it| it.course.has_instructions()).await;
            None
        }
        SessionsStep::NewHistory | SessionsStep::Finish(_) => None,
    }
}

async fn claim(ctx: &mut Context, queue: Option<String>, timeouts: Timeouts) -> SessionsEvent {
    let whose = ctx.state(|it| it.course.run_ref());
    let options = ActivityOptions::with_start_to_close_timeout(timeouts.activity)
        .heartbeat_timeout(timeouts.heartbeat)
        .maybe_task_queue(queue)
        .build();
    let claimed = ctx.execute_activity(SessionActivities::claim, whose, options);
    let claimed = claimed.await;
    if let Ok(claim) = &claimed {
        // The memo can be read without a worker, and after the end. A string is always valid JSON.
        let _ = ctx.upsert_memo([(HOST_MEMO, Some(MemoValue::new(claim.queue.clone())))]);
    }
    SessionsEvent::Claimed(claimed.map_err(|error| unclaimed(&error)))
}

async fn read_ledger(ctx: &mut Context, host: TargetHost, timeouts: Timeouts) -> SessionsEvent {
    let whose = ctx.state(|it| it.course.run_ref());
    let options = ActivityOptions::with_start_to_close_timeout(timeouts.activity)
        .heartbeat_timeout(timeouts.heartbeat)
        .task_queue(host.queue)
        .maybe_schedule_to_start_timeout(host.timeout)
        .build();
    let ledger = ctx.execute_activity(SessionActivities::read_ledger, whose, options);
    SessionsEvent::LedgerRead(ledger.await.map_err(NoAnswer::from))
}

async fn session(
    ctx: &mut Context,
    host: TargetHost,
    call: SessionCall,
    timeouts: Timeouts,
) -> SessionsEvent {
    let options = ActivityOptions::with_start_to_close_timeout(timeouts.activity)
        .heartbeat_timeout(timeouts.heartbeat)
        .cancellation_type(ActivityCancellationType::WaitCancellationCompleted)
        .task_queue(host.queue)
        .maybe_schedule_to_start_timeout(host.timeout)
        // The course decides whether to retry, and where.
        .retry_policy(RetryPolicy::builder().maximum_attempts(1).build())
        .build();
    let answered = ctx.execute_activity(SessionActivities::session, call, options);
    SessionsEvent::Answered(answered.await.map_err(NoAnswer::from))
}

/// Lets the host record the end of the run, if it can. Clients that wait for the end do not wait
/// longer for an unreachable host, even if the run is bound to it.
async fn conclude(
    ctx: &mut Context,
    host: &str,
    end: EndCall,
    timeouts: Timeouts,
) -> SessionsEvent {
    let options = ActivityOptions::with_schedule_to_close_timeout(timeouts.end)
        .heartbeat_timeout(timeouts.heartbeat)
        // All slots of the host may be taken for hours.
        .task_queue(side_queue_of(host))
        // A separate token, because a cancelled run also has an end.
        .cancellation_token(WorkflowCancellationToken::new())
        .build();
    let run = end.whose.run.clone();
    let concluded = ctx.execute_activity(SessionActivities::conclude, end, options);
    if let Err(error) = concluded.await
        && !ctx.is_replaying()
    {
        let why = why(&error);
        tracing::warn!(%run, host, why, "cannot record the end of a run on its host");
    }
    SessionsEvent::Concluded
}

impl From<ActivityExecutionError> for NoAnswer {
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
    let why = format!("no host has claimed the run: {}", why(error));
    match error {
        ActivityExecutionError::Cancelled(_) => Failure::retryable("cancelled", why),
        _ => Failure::permanent("unclaimed", why),
    }
}

/// Returns the root cause of an error.
fn why(error: &ActivityExecutionError) -> String {
    let failure = error.failure();
    failure.map_or_else(|| error.to_string(), reason)
}
