//! The workflow of a run of any kind.

use std::time::Duration;

use autonoe_core::{CostTotal, Failure, RunEnding, RunInstruction, RunOutcome, Spent};
use temporalio_sdk::workflows::{workflow, workflow_methods};
use temporalio_sdk::{
    ActivityCancellationType, ActivityExecutionError, ActivityOptions, SyncWorkflowContext,
    WaitConditionOptions, WorkflowCancellationToken, WorkflowContext, WorkflowContextView,
    WorkflowResult, WorkflowTermination,
};

use super::JobActivities;
use crate::standing::Standing;
use crate::wire::{Begin, Look, Told, reads};

/// Has a run carried out by one activity, and keeps what it is told.
#[workflow]
pub struct JobWorkflow {
    begin: Begin,
    standing: Standing,
    /// Whether it is the member of a fleet.
    is_member: bool,
}

#[workflow_methods]
impl JobWorkflow {
    #[init]
    pub fn new(ctx: &WorkflowContextView, begin: Begin) -> Self {
        Self {
            is_member: ctx.parent().is_some(),
            begin,
            standing: Standing::default(),
        }
    }

    #[run(name = "autonoe-job")]
    pub async fn run(ctx: &mut WorkflowContext<Self>) -> WorkflowResult<RunOutcome> {
        let begin = ctx.state(|it| it.begin.clone());
        let options = options(&begin);
        let ended = ctx.execute_activity(JobActivities::carry_out, begin.run, options);
        let ended = ended.await;
        let outcome = outcome(ended, &ctx.cancellation_token());
        ctx.state_mut(|it| it.standing.close());
        let _ = ctx
            .wait_condition_with_options(|_| ctx.all_handlers_finished(), come_what_may())
            .await;
        match outcome.ending {
            // A fleet is not told the details of a member that was cancelled.
            RunEnding::Cancelled { .. } if !ctx.state(|it| it.is_member) => {
                Err(WorkflowTermination::cancelled_with_details(outcome))
            }
            _ => Ok(outcome),
        }
    }

    #[signal(name = "instruct")]
    pub fn instruct(&mut self, _ctx: &mut SyncWorkflowContext<Self>, told: RunInstruction) {
        self.standing.tell(told);
    }

    #[query(name = "look")]
    pub fn look(&self, _ctx: &WorkflowContextView) -> Look {
        Look {
            is_paused: self.standing.is_paused(),
            ..Look::default()
        }
    }

    /// Waits until the run was told more than `read` things, for the worker that carries it out.
    #[update(name = "told")]
    pub async fn told(ctx: &mut WorkflowContext<Self>, read: usize) -> Told {
        let _ = ctx
            .wait_condition_with_options(|it| it.standing.has_news(read), come_what_may())
            .await;
        ctx.state(|it| Told(it.standing.after(read)))
    }
}

/// Waits also when the workflow was cancelled.
fn come_what_may() -> WaitConditionOptions {
    let never = WorkflowCancellationToken::new();
    WaitConditionOptions::builder()
        .cancellation_token(never)
        .build()
}

/// How long a host has to begin to read a journal. Nobody waits longer for that, and what nobody
/// waits for is not to be left behind.
const READING: Duration = Duration::from_secs(60);

fn options(begin: &Begin) -> ActivityOptions {
    let pace = begin.pace;
    let is_reading = reads(&begin.run.job);
    let retry = temporalio_client::RetryPolicy::builder()
        .maximum_attempts(pace.attempts)
        .maximum_interval(pace.heartbeat)
        .build();
    ActivityOptions::with_start_to_close_timeout(pace.longest)
        .heartbeat_timeout(pace.heartbeat)
        // What was started is to be ended before the end is told.
        .cancellation_type(ActivityCancellationType::WaitCancellationCompleted)
        .maybe_task_queue(begin.host_queue.clone())
        .maybe_schedule_to_start_timeout(is_reading.then_some(READING))
        .retry_policy(retry)
        .build()
}

/// Says what the run came to.
fn outcome(
    ended: Result<RunOutcome, ActivityExecutionError>,
    cancelled: &WorkflowCancellationToken,
) -> RunOutcome {
    let outcome = match ended {
        Ok(outcome) => outcome,
        Err(ActivityExecutionError::Cancelled(_)) => RunOutcome::cancelled(String::new()),
        // The worker died while it ended the run.
        Err(_) if cancelled.is_cancelled() => {
            RunOutcome::cancelled(String::new()).with_spent(unknown())
        }
        Err(error) => {
            let why = format!("the worker that carried out the run is gone: {error}");
            RunOutcome::failed(Failure::permanent("worker_lost", why)).with_spent(unknown())
        }
    };
    match (&outcome.ending, cancelled.reason()) {
        // Who carries it out sees that it was cancelled, but not why.
        (RunEnding::Cancelled { .. }, Some(reason)) => RunOutcome::cancelled(reason)
            .with_output(outcome.output)
            .with_spent(outcome.spent),
        _ => outcome,
    }
}

fn unknown() -> Spent {
    Spent {
        cost: CostTotal::unknown(),
        ..Spent::default()
    }
}
