//! [`JobWorkflow`]: the workflow of a job.

use autonoe_core::engine::{RunInstruction, RunOutcome};
use autonoe_core::event::Failure;
use temporalio_sdk::workflows::{workflow, workflow_methods};
use temporalio_sdk::{
    ActivityCancellationType, ActivityExecutionError, ActivityOptions, SyncWorkflowContext,
    WaitConditionOptions, WorkflowCancellationToken, WorkflowContext, WorkflowContextView,
    WorkflowResult,
};

use super::JobActivities;
use crate::failure::unknown_spending;
use crate::instruction_log::InstructionLog;
use crate::run_workflow::end_workflow;
use crate::wire::{Instructions, WorkflowInput, WorkflowState};

/// Executes a job as one activity, and keeps its instructions.
#[workflow]
pub struct JobWorkflow {
    begin: WorkflowInput,
    log: InstructionLog,
    /// Whether it is a member of a fleet.
    is_member: bool,
}

#[workflow_methods]
impl JobWorkflow {
    #[init]
    pub fn new(ctx: &WorkflowContextView, begin: WorkflowInput) -> Self {
        Self {
            is_member: ctx.parent().is_some(),
            begin,
            log: InstructionLog::default(),
        }
    }

    #[run(name = "autonoe-job")]
    pub async fn run(ctx: &mut WorkflowContext<Self>) -> WorkflowResult<RunOutcome> {
        let begin = ctx.state(|it| it.begin.clone());
        let options = options(&begin);
        let ended = ctx.execute_activity(JobActivities::execute, begin.run, options);
        let ended = ended.await;
        let cancelled = ctx.cancellation_token();
        let outcome = outcome(ended, cancelled.is_cancelled());
        ctx.state_mut(|it| it.log.close());
        let _ = ctx
            .wait_condition_with_options(|_| ctx.all_handlers_finished(), uncancellable())
            .await;
        end_workflow(outcome, &cancelled, ctx.state(|it| it.is_member))
    }

    #[signal(name = "instruct")]
    pub fn instruct(
        &mut self,
        _ctx: &mut SyncWorkflowContext<Self>,
        new_instruction: RunInstruction,
    ) {
        self.log.push(new_instruction);
    }

    #[query(name = "state")]
    pub fn state(&self, _ctx: &WorkflowContextView) -> WorkflowState {
        WorkflowState {
            is_paused: self.log.is_paused(),
            ..WorkflowState::default()
        }
    }

    /// Waits until the run has more than `read` instructions, for the worker that executes it.
    #[update(name = "instructions")]
    pub async fn instructions(ctx: &mut WorkflowContext<Self>, read: usize) -> Instructions {
        let _ = ctx
            .wait_condition_with_options(|it| it.log.can_answer(read), uncancellable())
            .await;
        ctx.state(|it| Instructions(it.log.after(read)))
    }
}

/// Options of a wait that ignores the cancellation of the workflow.
fn uncancellable() -> WaitConditionOptions {
    let never = WorkflowCancellationToken::new();
    WaitConditionOptions::builder()
        .cancellation_token(never)
        .build()
}

fn options(begin: &WorkflowInput) -> ActivityOptions {
    let timeouts = begin.timeouts;
    let retry = temporalio_client::RetryPolicy::builder()
        .maximum_attempts(timeouts.attempts)
        .maximum_interval(timeouts.heartbeat)
        .build();
    ActivityOptions::with_start_to_close_timeout(timeouts.activity)
        .heartbeat_timeout(timeouts.heartbeat)
        // All processes must have ended before the end is reported.
        .cancellation_type(ActivityCancellationType::WaitCancellationCompleted)
        .maybe_task_queue(begin.host_queue.clone())
        .retry_policy(retry)
        .build()
}

/// Returns the outcome of the run.
fn outcome(ended: Result<RunOutcome, ActivityExecutionError>, is_cancelled: bool) -> RunOutcome {
    match ended {
        Ok(outcome) => outcome,
        Err(ActivityExecutionError::Cancelled(_)) => RunOutcome::cancelled(""),
        // The worker died while it was stopping the run.
        Err(_) if is_cancelled => RunOutcome::cancelled("").with_spent(unknown_spending()),
        Err(error) => {
            let reason = format!("the worker that executed the run is lost: {error}");
            let failure = Failure::permanent("worker_lost", reason);
            RunOutcome::failed(failure).with_spent(unknown_spending())
        }
    }
}
