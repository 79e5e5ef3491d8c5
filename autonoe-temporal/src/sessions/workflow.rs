//! [`SessionsWorkflow`]: the workflow of a run that is driven session by session.

use autonoe_core::agent::BudgetUsage;
use autonoe_core::engine::{RunInstruction, RunOutcome, RunProgress};
use autonoe_core::event::Failure;
use autonoe_core::run::ExitClass;
use autonoe_core::{ExitReason, RunReport};
use jiff::Timestamp;
use temporalio_client::RetryPolicy;
use temporalio_common::MemoValue;
use temporalio_sdk::workflows::{workflow, workflow_methods};
use temporalio_sdk::{
    ActivityCancellationType, ActivityExecutionError, ActivityOptions, ContinueAsNewOptions,
    SyncWorkflowContext, TimeoutType, WorkflowCancellationToken, WorkflowContext,
    WorkflowContextView, WorkflowResult, WorkflowTermination,
};
use temporalio_workflow::MemoValues;

use super::SessionActivities;
use super::activities::{EndCall, SessionCall};
use super::input::SessionsInput;
use super::machine::{NoAnswer, SessionsEvent, SessionsMachine, SessionsStep, TargetHost};
use crate::Timeouts;
use crate::failure;
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
        let timeouts = ctx.state(|it| it.timeouts);
        store_memo(ctx);
        loop {
            process_signals(ctx);
            let now = now(ctx);
            match ctx.state_mut(|it| it.state_machine.next(now)) {
                SessionsStep::Finish(report) => return end(ctx, &report),
                SessionsStep::NewHistory => {
                    let begin = ctx.state(|it| it.state_machine.next_input());
                    let options = ContinueAsNewOptions::builder().memo(memo(&begin)).build();
                    ctx.continue_as_new(begin, options)?;
                }
                step => {
                    if let Some(event) = perform(ctx, step, timeouts).await {
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

type StepContext = WorkflowContext<SessionsWorkflow>;

/// Performs a step that is not the last one, and returns its result.
pub(super) async fn perform(
    ctx: &mut StepContext,
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
            let _ = ctx
                .wait_condition(|it| it.state_machine.has_instructions())
                .await;
            None
        }
        SessionsStep::NewHistory | SessionsStep::Finish(_) => None,
    }
}

async fn claim(ctx: &mut StepContext, queue: Option<String>, timeouts: Timeouts) -> SessionsEvent {
    let run_ref = ctx.state(|it| it.state_machine.run_ref());
    let options = ActivityOptions::with_start_to_close_timeout(timeouts.activity)
        .heartbeat_timeout(timeouts.heartbeat)
        .maybe_task_queue(queue)
        .build();
    let claimed = ctx.execute_activity(SessionActivities::claim, run_ref, options);
    let claimed = claimed.await;
    if let Ok(claim) = &claimed {
        // The memo can be read without a worker, and after the end. A string is always valid JSON.
        let _ = ctx.upsert_memo([(HOST_MEMO, Some(MemoValue::new(claim.queue.clone())))]);
    }
    SessionsEvent::Claimed(claimed.map_err(|error| unclaimed(&error)))
}

async fn read_ledger(ctx: &mut StepContext, host: TargetHost, timeouts: Timeouts) -> SessionsEvent {
    let run_ref = ctx.state(|it| it.state_machine.run_ref());
    let options = ActivityOptions::with_start_to_close_timeout(timeouts.activity)
        .heartbeat_timeout(timeouts.heartbeat)
        .task_queue(host.queue)
        .maybe_schedule_to_start_timeout(host.timeout)
        .build();
    let ledger = ctx.execute_activity(SessionActivities::read_ledger, run_ref, options);
    SessionsEvent::LedgerRead(ledger.await.map_err(NoAnswer::from))
}

async fn session(
    ctx: &mut StepContext,
    host: TargetHost,
    call: SessionCall,
    timeouts: Timeouts,
) -> SessionsEvent {
    let options = ActivityOptions::with_start_to_close_timeout(timeouts.activity)
        .heartbeat_timeout(timeouts.heartbeat)
        .cancellation_type(ActivityCancellationType::WaitCancellationCompleted)
        .task_queue(host.queue)
        .maybe_schedule_to_start_timeout(host.timeout)
        // The state machine decides whether to retry, and where.
        .retry_policy(RetryPolicy::builder().maximum_attempts(1).build())
        .build();
    let answered = ctx.execute_activity(SessionActivities::session, call, options);
    SessionsEvent::Answered(answered.await.map_err(NoAnswer::from))
}

/// Lets the host record the end of the run, if it can. Clients that wait for the end do not wait
/// longer for an unreachable host, even if the run is bound to it.
async fn conclude(
    ctx: &mut StepContext,
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
    let run = end.run_ref.run.clone();
    let concluded = ctx.execute_activity(SessionActivities::conclude, end, options);
    if let Err(error) = concluded.await
        && !ctx.is_replaying()
    {
        let cause = root_cause(&error);
        tracing::warn!(%run, host, cause, "cannot record the end of a run on its host");
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
pub(super) fn outcome(report: &RunReport, cancelled: Option<String>) -> RunOutcome {
    let exit = &report.exit;
    let outcome = match exit.class() {
        ExitClass::Success => RunOutcome::succeeded(serde_json::Value::Null),
        ExitClass::Interrupted => RunOutcome::cancelled(cancelled.unwrap_or_default()),
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
