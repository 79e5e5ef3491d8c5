//! The workflow of a run that is driven session by session.

use autonoe_core::{ExitReason, RunInstruction, RunOutcome, RunReport};
use jiff::Timestamp;
use temporalio_common::MemoValue;
use temporalio_sdk::workflows::{workflow, workflow_methods};
use temporalio_sdk::{
    ContinueAsNewOptions, SyncWorkflowContext, WorkflowContext, WorkflowContextView,
    WorkflowResult, WorkflowTermination,
};
use temporalio_workflow::MemoValues;

use super::begin::SessionsBegin;
use super::carrying::carry_out;
use super::course::{Came, SessionsCourse, Step};
use super::ending::outcome;
use crate::Pace;
use crate::wire::{HOST_MEMO, Look, SPEC_MEMO};

/// Carries out the steps of a [`SessionsCourse`], which decides: sessions are activities, waits are
/// timers of the server.
#[workflow]
pub struct SessionsWorkflow {
    pub(super) course: SessionsCourse,
    pace: Pace,
    /// Whether it is the member of a fleet.
    is_member: bool,
}

#[workflow_methods]
impl SessionsWorkflow {
    #[init]
    pub fn new(ctx: &WorkflowContextView, begin: SessionsBegin) -> Self {
        Self {
            is_member: ctx.parent().is_some(),
            pace: begin.pace,
            course: SessionsCourse::of(begin),
        }
    }

    #[run(name = "autonoe-sessions")]
    pub async fn run(ctx: &mut WorkflowContext<Self>) -> WorkflowResult<RunOutcome> {
        let pace = ctx.state(|it| it.pace);
        write_down(ctx);
        loop {
            take_note(ctx);
            let now = now(ctx);
            match ctx.state_mut(|it| it.course.next(now)) {
                Step::Finish(report) => return end(ctx, &report),
                Step::BeginAnew => {
                    let begin = ctx.state(|it| it.course.anew());
                    let options = ContinueAsNewOptions::builder().memo(memo(&begin)).build();
                    ctx.continue_as_new(begin, options)?;
                }
                step => {
                    if let Some(came) = carry_out(ctx, step, pace).await {
                        // Before what came: a cancellation may be the reason of it.
                        take_note(ctx);
                        tell(ctx, came);
                    }
                }
            }
        }
    }

    #[signal(name = "instruct")]
    pub fn instruct(&mut self, _ctx: &mut SyncWorkflowContext<Self>, told: RunInstruction) {
        let at = self.course.at();
        self.course.came(at, Came::Told(told));
    }

    #[query(name = "look")]
    pub fn look(&self, _ctx: &WorkflowContextView) -> Look {
        self.course.look()
    }
}

type Context = WorkflowContext<SessionsWorkflow>;

/// Writes down what the member of a fleet is to do, for who asks for it: a fleet gives its members no
/// memo.
fn write_down(ctx: &Context) {
    if let Some(run) = ctx.state(|it| it.is_member.then(|| it.course.as_submitted())) {
        // What came as JSON is JSON.
        let _ = ctx.upsert_memo([(SPEC_MEMO, Some(MemoValue::new(run)))]);
    }
}

/// Tells the course what the workflow itself was told by the server.
fn take_note(ctx: &mut Context) {
    let cancelled = ctx.cancellation_token();
    if cancelled.is_cancelled() {
        tell(ctx, Came::Cancelled(cancelled.reason().unwrap_or_default()));
    }
    if ctx.continue_as_new_suggested() {
        tell(ctx, Came::HistoryIsLong);
    }
}

fn tell(ctx: &mut Context, came: Came) {
    let at = now(ctx);
    ctx.state_mut(|it| it.course.came(at, came));
}

/// Returns the time of the workflow, which is the same whenever it is replayed.
fn now(ctx: &Context) -> Timestamp {
    let time = ctx.workflow_time();
    let time = time.and_then(|time| Timestamp::try_from(time).ok());
    time.unwrap_or_else(|| ctx.state(|it| it.course.at()))
}

/// Returns what is known of a run without asking it. The next history would have it only as it was
/// when this one began.
fn memo(begin: &SessionsBegin) -> MemoValues {
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
        // A fleet is not told the details of a member that was cancelled.
        ExitReason::Interrupted if !ctx.state(|it| it.is_member) => {
            Err(WorkflowTermination::cancelled_with_details(outcome))
        }
        _ => Ok(outcome),
    }
}
