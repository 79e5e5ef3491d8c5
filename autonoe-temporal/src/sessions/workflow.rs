//! [`SessionsWorkflow`]: the workflow of a run that is driven session by session.

use autonoe_core::engine::{RunInstruction, RunOutcome};
use autonoe_core::{ExitReason, RunReport};
use jiff::Timestamp;
use temporalio_common::MemoValue;
use temporalio_sdk::workflows::{workflow, workflow_methods};
use temporalio_sdk::{
    ContinueAsNewOptions, SyncWorkflowContext, WorkflowContext, WorkflowContextView,
    WorkflowResult, WorkflowTermination,
};
use temporalio_workflow::MemoValues;

use super::input::SessionsInput;
use super::machine::{SessionsEvent, SessionsMachine, SessionsStep};
use super::outcome::outcome;
use super::steps::perform;
use crate::Timeouts;
use crate::wire::{HOST_MEMO, SPEC_MEMO, WorkflowState};

/// Performs the steps of a [`SessionsMachine`], which makes the decisions. Sessions are activities,
/// waits are timers of the server.
#[workflow]
pub struct SessionsWorkflow {
    pub(super) course: SessionsMachine,
    timeouts: Timeouts,
    /// Whether it is a member of a fleet.
    is_member: bool,
}

#[workflow_methods]
impl SessionsWorkflow {
    #[init]
    pub fn new(ctx: &WorkflowContextView, begin: SessionsInput) -> Self {
        Self {
            is_member: ctx.parent().is_some(),
            timeouts: begin.timeouts,
            course: SessionsMachine::new(begin),
        }
    }

    #[run(name = "autonoe-sessions")]
    pub async fn run(ctx: &mut WorkflowContext<Self>) -> WorkflowResult<RunOutcome> {
        let timeouts = ctx.state(|it| it.timeouts);
        store_memo(ctx);
        loop {
            process_signals(ctx);
            let now = now(ctx);
            match ctx.state_mut(|it| it.course.next(now)) {
                SessionsStep::Finish(report) => return end(ctx, &report),
                SessionsStep::NewHistory => {
                    let begin = ctx.state(|it| it.course.next_input());
                    let options = ContinueAsNewOptions::builder().memo(memo(&begin)).build();
                    ctx.continue_as_new(begin, options)?;
                }
                step => {
                    if let Some(came) = perform(ctx, step, timeouts).await {
                        // Process signals first, because a cancellation may have caused the result.
                        process_signals(ctx);
                        apply(ctx, came);
                    }
                }
            }
        }
    }

    #[signal(name = "instruct")]
    pub fn instruct(&mut self, _ctx: &mut SyncWorkflowContext<Self>, told: RunInstruction) {
        let at = self.course.at();
        self.course.on_event(at, SessionsEvent::Instructed(told));
    }

    #[query(name = "state")]
    pub fn state(&self, _ctx: &WorkflowContextView) -> WorkflowState {
        self.course.state()
    }
}

type Context = WorkflowContext<SessionsWorkflow>;

/// Stores the run of a fleet member in its memo, for clients. A fleet does not set the memo of its
/// members.
fn store_memo(ctx: &Context) {
    if let Some(run) = ctx.state(|it| it.is_member.then(|| it.course.as_submitted())) {
        // The value was parsed from JSON, so it serializes.
        let _ = ctx.upsert_memo([(SPEC_MEMO, Some(MemoValue::new(run)))]);
    }
}

/// Applies cancellation and history suggestions of the server to the course.
fn process_signals(ctx: &mut Context) {
    let cancelled = ctx.cancellation_token();
    if cancelled.is_cancelled() {
        apply(
            ctx,
            SessionsEvent::Cancelled(cancelled.reason().unwrap_or_default()),
        );
    }
    if ctx.continue_as_new_suggested() {
        apply(ctx, SessionsEvent::HistoryIsLong);
    }
}

fn apply(ctx: &mut Context, came: SessionsEvent) {
    let at = now(ctx);
    ctx.state_mut(|it| it.course.on_event(at, came));
}

/// Returns the time of the workflow, which is the same in each replay.
fn now(ctx: &Context) -> Timestamp {
    let time = ctx.workflow_time();
    let time = time.and_then(|time| Timestamp::try_from(time).ok());
    time.unwrap_or_else(|| ctx.state(|it| it.course.at()))
}

/// Returns the memo of a run. Without it, the next history would have the memo from the start of
/// this one.
fn memo(begin: &SessionsInput) -> MemoValues {
    let mut memo = MemoValues::new();
    memo.insert(SPEC_MEMO, begin.run.clone());
    let carried = begin.carried.as_ref();
    if let Some(claim) = carried.and_then(|carried| carried.claim.as_ref()) {
        memo.insert(HOST_MEMO, claim.queue.clone());
    }
    memo
}

fn end(ctx: &Context, report: &RunReport) -> WorkflowResult<RunOutcome> {
    let outcome = outcome(report, ctx.cancellation_token().reason());
    match report.exit {
        // A fleet does not receive the details of a cancelled member.
        ExitReason::Interrupted if !ctx.state(|it| it.is_member) => {
            Err(WorkflowTermination::cancelled_with_details(outcome))
        }
        _ => Ok(outcome),
    }
}
