//! [`SessionsWorkflow`]: the workflow of a run that is driven session by session.

use autonoe_core::RunReport;
use autonoe_core::agent::BudgetUsage;
use autonoe_core::engine::{RunInstruction, RunOutcome, RunProgress};
use autonoe_core::event::Failure;
use autonoe_core::run::ExitClass;
use jiff::Timestamp;
use temporalio_client::RetryPolicy;
use temporalio_common::MemoValue;
use temporalio_sdk::workflows::{workflow, workflow_methods};
use temporalio_sdk::{
    ActivityCancellationType, ActivityExecutionError, ActivityOptions, ContinueAsNewOptions,
    SyncWorkflowContext, TimeoutType, WorkflowCancellationToken, WorkflowContext,
    WorkflowContextView, WorkflowResult,
};
use temporalio_workflow::MemoValues;

use super::SessionActivities;
use super::activities::EndCall;
use super::input::SessionsInput;
use super::machine::{NoAnswer, SessionsEvent, SessionsMachine, SessionsStep, TargetHost};
use crate::Timeouts;
use crate::failure;
use crate::run_workflow::end_workflow;
use crate::wire::{HOST_MEMO, SPEC_MEMO, WorkflowState, side_queue_of};

/// Performs the steps of a [`SessionsMachine`], which makes the decisions. Sessions are activities,
/// waits are timers of the server.
#[workflow]
pub struct SessionsWorkflow {
    pub(super) state_machine: SessionsMachine,
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
            state_machine: SessionsMachine::new(begin),
        }
    }

    #[run(name = "autonoe-sessions")]
    pub async fn run(ctx: &mut WorkflowContext<Self>) -> WorkflowResult<RunOutcome> {
        store_memo(ctx);
        loop {
            process_signals(ctx);
            let now = now(ctx);
            match ctx.state_mut(|it| it.state_machine.next(now)) {
                SessionsStep::Finish(report) => {
                    let is_member = ctx.state(|it| it.is_member);
                    return end_workflow(outcome(&report), &ctx.cancellation_token(), is_member);
                }
                SessionsStep::NewHistory => {
                    let begin = ctx.state(|it| it.state_machine.next_input());
                    let options = ContinueAsNewOptions::builder().memo(memo(&begin)).build();
                    ctx.continue_as_new(begin, options)?;
                }
                step => {
                    if let Some(event) = perform(ctx, step).await {
                        // Process signals first, because a cancellation may have caused the result.
                        process_signals(ctx);
                        apply(ctx, event);
                    }
                }
            }
        }
    }

    #[signal(name = "instruct")]
    pub fn instruct(
        &mut self,
        _ctx: &mut SyncWorkflowContext<Self>,
        new_instruction: RunInstruction,
    ) {
        let at = self.state_machine.at();
        self.state_machine
            .on_event(at, SessionsEvent::Instructed(new_instruction));
    }

    #[query(name = "state")]
    pub fn state(&self, _ctx: &WorkflowContextView) -> WorkflowState {
        self.state_machine.state()
    }
}

type Context = WorkflowContext<SessionsWorkflow>;

/// Stores the run of a fleet member in its memo, for clients. A fleet does not set the memo of its
/// members.
fn store_memo(ctx: &Context) {
    if let Some(run) = ctx.state(|it| it.is_member.then(|| it.state_machine.as_submitted())) {
        // The value was parsed from JSON, so it serializes.
        let _ = ctx.upsert_memo([(SPEC_MEMO, Some(MemoValue::new(run)))]);
    }
}

/// Applies cancellation and history suggestions of the server to the state machine.
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

fn apply(ctx: &mut Context, event: SessionsEvent) {
    let at = now(ctx);
    ctx.state_mut(|it| it.state_machine.on_event(at, event));
}

/// Returns the time of the workflow, which is the same in each replay.
fn now(ctx: &Context) -> Timestamp {
    let time = ctx.workflow_time();
    let time = time.and_then(|time| Timestamp::try_from(time).ok());
    time.unwrap_or_else(|| ctx.state(|it| it.state_machine.at()))
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

/// Performs a step that is not the last one, and returns its result.
async fn perform(ctx: &mut Context, step: SessionsStep) -> Option<SessionsEvent> {
    let run_ref = ctx.state(|it| it.state_machine.run_ref());
    Some(match step {
        SessionsStep::Claim { queue } => {
            let mut options = activity_options(ctx);
            options.task_queue = queue;
            let claimed = ctx.execute_activity(SessionActivities::claim, run_ref, options);
            let claimed = claimed.await;
            if let Ok(claim) = &claimed {
                // The memo can be read without a worker, and after the end. A string is always
                // valid JSON.
                let _ = ctx.upsert_memo([(HOST_MEMO, Some(MemoValue::new(claim.queue.clone())))]);
            }
            SessionsEvent::Claimed(claimed.map_err(|error| unclaimed(&error)))
        }
        SessionsStep::ReadLedger(host) => {
            let options = host_options(ctx, host);
            let ledger = ctx.execute_activity(SessionActivities::read_ledger, run_ref, options);
            SessionsEvent::LedgerRead(ledger.await.map_err(NoAnswer::from))
        }
        SessionsStep::Session(host, call) => {
            let mut options = host_options(ctx, host);
            options.cancellation_type = ActivityCancellationType::WaitCancellationCompleted;
            // The state machine decides whether to retry, and where.
            options.retry_policy = Some(RetryPolicy::builder().maximum_attempts(1).build());
            let answered = ctx.execute_activity(SessionActivities::session, *call, options);
            SessionsEvent::Answered(answered.await.map_err(NoAnswer::from))
        }
        SessionsStep::Conclude { queue, end } => {
            conclude(ctx, &queue, *end).await;
            SessionsEvent::Concluded
        }
        SessionsStep::Timer(left) => {
            ctx.timer(left).await;
            SessionsEvent::TimedOut
        }
        SessionsStep::AwaitInstruction => {
            // The instruction arrives as a signal.
            let _ = ctx
                .wait_condition(|it| it.state_machine.has_instructions())
                .await;
            return None;
        }
        SessionsStep::NewHistory | SessionsStep::Finish(_) => return None,
    })
}

/// Returns the options of an activity on any host.
fn activity_options(ctx: &Context) -> ActivityOptions {
    let timeouts = ctx.state(|it| it.timeouts);
    ActivityOptions::with_start_to_close_timeout(timeouts.activity)
        .heartbeat_timeout(timeouts.heartbeat)
        .build()
}

/// Returns the options of an activity on the host of the run.
fn host_options(ctx: &Context, host: TargetHost) -> ActivityOptions {
    let mut options = activity_options(ctx);
    options.task_queue = Some(host.queue);
    options.schedule_to_start_timeout = host.timeout;
    options
}

/// Lets the host record the end of the run, if it can. Clients that wait for the end do not wait
/// longer for an unreachable host, even if the run is bound to it.
async fn conclude(ctx: &mut Context, host: &str, end: EndCall) {
    let timeouts = ctx.state(|it| it.timeouts);
    let options = ActivityOptions::with_schedule_to_close_timeout(timeouts.end)
        .heartbeat_timeout(timeouts.heartbeat)
        // All slots of the host may be taken for hours.
        .task_queue(side_queue_of(host))
        // A separate token, because a cancelled run also has an end.
        .cancellation_token(WorkflowCancellationToken::new())
        .build();
    let run = end.run_ref.run.clone();
    let concluded = ctx.execute_activity(SessionActivities::conclude, end, options);
    if let Err(error) = concluded.await
        && !ctx.is_replaying()
    {
        let cause = root_cause(&error);
        tracing::warn!(%run, host, cause, "cannot record the end of a run on its host");
    }
}

impl From<ActivityExecutionError> for NoAnswer {
    fn from(error: ActivityExecutionError) -> Self {
        if let ActivityExecutionError::Cancelled(_) = error {
            return Self::Cancelled;
        }
        let timeout = error.as_timeout().map(|timeout| timeout.timeout_type());
        match timeout {
            Some(TimeoutType::ScheduleToStart) => Self::HostUnreachable,
            _ => Self::Worker(format!(
                "the session was lost with its worker: {}",
                root_cause(&error)
            )),
        }
    }
}

fn unclaimed(error: &ActivityExecutionError) -> Failure {
    let reason = format!("no host has claimed the run: {}", root_cause(error));
    match error {
        ActivityExecutionError::Cancelled(_) => Failure::retryable("cancelled", reason),
        _ => Failure::permanent("unclaimed", reason),
    }
}

/// Returns the root cause of an error.
fn root_cause(error: &ActivityExecutionError) -> String {
    let failure = error.failure();
    failure.map_or_else(|| error.to_string(), failure::reason)
}

/// Creates the outcome of a report. The report is the output of the run.
fn outcome(report: &RunReport) -> RunOutcome {
    let exit = &report.exit;
    let outcome = match exit.class() {
        ExitClass::Success => RunOutcome::succeeded(serde_json::Value::Null),
        ExitClass::Interrupted => RunOutcome::cancelled(""),
        ExitClass::Failed => RunOutcome::failed(match exit.failure() {
            Some(failure) => failure.clone(),
            None => Failure::permanent(exit.code(), exit.to_string()),
        }),
        ExitClass::Blocked
        | ExitClass::Iterations
        | ExitClass::Quota
        | ExitClass::Budget
        | ExitClass::Retries
        | ExitClass::Stalled => {
            RunOutcome::failed(Failure::permanent(exit.code(), exit.to_string()))
        }
    };
    // A report always serializes. If it did not, the ending would still be valid.
    let output = serde_json::to_value(report).unwrap_or_default();
    outcome
        .with_output(output)
        .with_spent(spent(report))
        .with_sessions(report.sessions.into())
}

/// Returns the progress of a run with this report.
pub(crate) fn progress(report: &RunReport) -> RunProgress {
    let mut at = match report.deliverables {
        None => RunProgress::default(),
        Some(counts) if counts.total == 0 => RunProgress::default(),
        Some(counts) => RunProgress::new(counts.passed as f64 / counts.total as f64),
    };
    at.iteration = report.sessions;
    at.spent = spent(report);
    at
}

fn spent(report: &RunReport) -> BudgetUsage {
    BudgetUsage {
        cost: report.cost,
        tokens: report.tokens,
        time: report.elapsed,
    }
}
