//! [`FleetWorkflow`]: the workflow of a fleet.

use std::future::pending;
use std::time::{Duration, SystemTime};

use autonoe_core::RunId;
use autonoe_core::engine::{RunEnding, RunInstruction, RunOutcome};
use autonoe_core::event::Failure;
use autonoe_harness::coordinate::FleetStep;
use autonoe_harness::{FleetMachine, FleetReport};
use futures::FutureExt;
use jiff::Timestamp;
use temporalio_sdk::workflows::{select, workflow, workflow_methods};
use temporalio_sdk::{
    SignalWorkflowOptions, SyncWorkflowContext, TimerOptions, WaitConditionOptions,
    WorkflowCancellationToken, WorkflowContext, WorkflowContextView, WorkflowResult,
    WorkflowTermination,
};

use super::FleetInput;
use super::members::{MemberEvent, Members};
use super::shrink_report::shrink_report;
use crate::Timeouts;
use crate::job::JobWorkflow;
use crate::wire::WorkflowState;

/// Performs the steps of a [`FleetMachine`], which makes the decisions. Members are child
/// workflows.
#[workflow]
pub struct FleetWorkflow {
    name: String,
    timeouts: Timeouts,
    course: Result<FleetMachine, Failure>,
    /// Instructions that the fleet has not processed yet.
    inbox: Vec<RunInstruction>,
}

#[workflow_methods]
impl FleetWorkflow {
    #[init]
    pub fn new(ctx: &WorkflowContextView, begin: FleetInput) -> Self {
        let course = begin.machine(timestamp(ctx.start_time()));
        let FleetInput { run, timeouts } = begin;
        Self {
            name: run.id.to_string(),
            timeouts,
            course,
            inbox: Vec::new(),
        }
    }

    #[run(name = "autonoe-fleet")]
    pub async fn run(ctx: &mut WorkflowContext<Self>) -> WorkflowResult<RunOutcome> {
        let timeouts = ctx.state(|it| it.timeouts);
        let mut members = Members::default();
        loop {
            process_inbox(ctx).await;
            match step(ctx) {
                Ok(FleetStep::Start { member, run, place }) => {
                    members.start(ctx, member, run, &place, timeouts);
                }
                Ok(FleetStep::Stop { member, reason, .. }) => {
                    members.stop(&member, &reason);
                    apply(ctx, |course, now| course.on_stopped(now, &member));
                }
                Ok(FleetStep::Wait { until }) => wait(ctx, &mut members, until).await,
                Ok(FleetStep::Finish(report)) => return end(ctx, *report),
                Err(failure) => return Ok(RunOutcome::failed(failure)),
            }
        }
    }

    #[signal(name = "instruct")]
    pub fn instruct(&mut self, _ctx: &mut SyncWorkflowContext<Self>, told: RunInstruction) {
        self.inbox.push(told);
    }

    #[query(name = "state")]
    pub fn state(&self, _ctx: &WorkflowContextView) -> WorkflowState {
        let Ok(course) = &self.course else {
            return WorkflowState::default();
        };
        WorkflowState {
            is_paused: course.is_paused(),
            at: Some(course.progress()),
            ..WorkflowState::default()
        }
    }
}

/// Minimum duration of a timer.
const SHORTEST: Duration = Duration::from_millis(1);

type Fleet = WorkflowContext<FleetWorkflow>;

/// Applies cancellation and instructions to the machine, and forwards instructions to members.
async fn process_inbox(ctx: &Fleet) {
    if ctx.cancellation_token().is_cancelled() {
        apply(ctx, |course, now| course.cancel(now));
    }
    for instruction in ctx.state_mut(|it| std::mem::take(&mut it.inbox)) {
        for run in apply(ctx, |course, now| course.on_instruction(now, &instruction)) {
            signal_member(ctx, &run, instruction.clone()).await;
        }
    }
}

/// Sends an instruction to a member whose workflow exists.
async fn signal_member(ctx: &Fleet, run: &RunId, instruction: RunInstruction) {
    let options = SignalWorkflowOptions::builder()
        .cancellation_token(WorkflowCancellationToken::new())
        .build();
    // All kinds of members use the same signal name. The member may just have ended.
    let member = ctx.external_workflow(run.as_str(), None);
    let signalled = member.signal(JobWorkflow::instruct, instruction, options);
    if let Err(error) = signalled.await {
        tracing::debug!(%run, %error, "cannot send an instruction to a member");
    }
}

/// Returns the next step, or why the fleet could not start.
fn step(ctx: &Fleet) -> Result<FleetStep, Failure> {
    with_machine(ctx, |course, now| {
        let step = course.next(now);
        // There are no observers here: members are observed through their runs.
        drop(course.take_events());
        step
    })
}

/// Waits for the next event and applies it to the machine.
async fn wait(ctx: &Fleet, members: &mut Members, until: Option<Timestamp>) {
    let is_cut = ctx.state(|it| it.course.as_ref().is_ok_and(FleetMachine::is_cut_short));
    let events = {
        let cancelled = async {
            if is_cut {
                // The machine already knows about the cancellation.
                pending::<()>().await;
            } else {
                drop(ctx.cancelled().await);
            }
        };
        let never = WorkflowCancellationToken::new();
        let options = WaitConditionOptions::builder()
            .cancellation_token(never)
            .build();
        let instructed = ctx.wait_condition_with_options(|it| !it.inbox.is_empty(), options);
        let given_up = WorkflowCancellationToken::new();
        let late = sleep_to(ctx, until, given_up.clone());
        let mut cancelled = std::pin::pin!(cancelled.fuse());
        let mut instructed = std::pin::pin!(instructed);
        let mut late = std::pin::pin!(late.fuse());
        let mut news = std::pin::pin!(members.next_events().fuse());
        let events = select! {
            () = cancelled => Vec::new(),
            events = news => events,
            _ = instructed => Vec::new(),
            () = late => Vec::new(),
        };
        given_up.cancel();
        events
    };
    let mut ends = Vec::new();
    for event in events {
        match event {
            MemberEvent::Began(member) => {
                let pending_instructions: Vec<_> = apply(ctx, |course, now| {
                    let run = course.run_id(&member);
                    let pending_instructions = course.on_started(now, &member).into_iter();
                    pending_instructions
                        .map(|instruction| (run.clone(), instruction))
                        .collect()
                });
                for (run, instruction) in pending_instructions {
                    signal_member(ctx, &run, instruction).await;
                }
            }
            MemberEvent::NotStarted(member, error) => {
                apply(ctx, |course, now| {
                    course.on_not_started(now, &member, &error)
                });
            }
            MemberEvent::Ended(member, outcome) => ends.push((member, *outcome)),
        }
    }
    apply(ctx, |course, now| course.on_ended(now, ends));
}

async fn sleep_to(ctx: &Fleet, until: Option<Timestamp>, given_up: WorkflowCancellationToken) {
    let Some(until) = until else {
        return pending().await;
    };
    let left = until.duration_since(timestamp(ctx.workflow_time()));
    // Not every server accepts a timer with zero duration.
    let left = Duration::try_from(left).unwrap_or_default().max(SHORTEST);
    let timer = TimerOptions::builder(left)
        .cancellation_token(given_up)
        .build();
    ctx.timer(timer).await;
}

fn end(ctx: &Fleet, report: FleetReport) -> WorkflowResult<RunOutcome> {
    let name = ctx.state(|it| it.name.clone());
    let mut outcome = shrink_report(&name, report);
    if let RunEnding::Cancelled { reason } = &mut outcome.ending {
        if let Some(why) = ctx.cancellation_token().reason() {
            *reason = why;
        }
        return Err(WorkflowTermination::cancelled_with_details(outcome));
    }
    Ok(outcome)
}

/// Applies an event to the machine. Does nothing if the fleet could not start.
fn apply<T: Default>(ctx: &Fleet, act: impl FnOnce(&mut FleetMachine, Timestamp) -> T) -> T {
    with_machine(ctx, act).unwrap_or_default()
}

/// Calls `act` with the machine and the time of the workflow.
fn with_machine<T>(
    ctx: &Fleet,
    act: impl FnOnce(&mut FleetMachine, Timestamp) -> T,
) -> Result<T, Failure> {
    let now = timestamp(ctx.workflow_time());
    ctx.state_mut(|it| match &mut it.course {
        Ok(course) => Ok(act(course, now)),
        Err(failure) => Err(failure.clone()),
    })
}

/// Converts the time of a workflow, which is the same in each replay.
fn timestamp(time: Option<SystemTime>) -> Timestamp {
    let time = time.and_then(|time| Timestamp::try_from(time).ok());
    time.unwrap_or(Timestamp::UNIX_EPOCH)
}
