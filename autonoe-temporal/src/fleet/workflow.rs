//! The workflow of a fleet.

use std::future::pending;
use std::time::{Duration, SystemTime};

use autonoe_core::{Failure, RunEnding, RunId, RunInstruction, RunOutcome};
use autonoe_harness::{FleetCourse, FleetReport, FleetStep};
use futures::FutureExt;
use jiff::Timestamp;
use temporalio_sdk::workflows::{select, workflow, workflow_methods};
use temporalio_sdk::{
    SignalWorkflowOptions, SyncWorkflowContext, TimerOptions, WaitConditionOptions,
    WorkflowCancellationToken, WorkflowContext, WorkflowContextView, WorkflowResult,
    WorkflowTermination,
};

use super::FleetBegin;
use super::fitting::fitting;
use super::members::{Heard, Members};
use crate::Pace;
use crate::job::JobWorkflow;
use crate::wire::Look;

/// Carries out the steps of a [`FleetCourse`], which decides: members are workflows below this one.
#[workflow]
pub struct FleetWorkflow {
    name: String,
    pace: Pace,
    course: Result<FleetCourse, Failure>,
    /// What the fleet was told and has not taken notice of.
    inbox: Vec<RunInstruction>,
}

#[workflow_methods]
impl FleetWorkflow {
    #[init]
    pub fn new(ctx: &WorkflowContextView, begin: FleetBegin) -> Self {
        let course = begin.course(timestamp(ctx.start_time()));
        let FleetBegin { run, pace } = begin;
        Self {
            name: run.id.to_string(),
            pace,
            course,
            inbox: Vec::new(),
        }
    }

    #[run(name = "autonoe-fleet")]
    pub async fn run(ctx: &mut WorkflowContext<Self>) -> WorkflowResult<RunOutcome> {
        let pace = ctx.state(|it| it.pace);
        let mut members = Members::default();
        loop {
            take_note(ctx).await;
            match step(ctx) {
                Ok(FleetStep::Start { member, run, place }) => {
                    members.start(ctx, member, run, &place, pace);
                }
                Ok(FleetStep::Stop { member, why, .. }) => {
                    members.stop(&member, &why);
                    tell(ctx, |course, now| course.stopped(now, &member));
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

    #[query(name = "look")]
    pub fn look(&self, _ctx: &WorkflowContextView) -> Look {
        let Ok(course) = &self.course else {
            return Look::default();
        };
        Look {
            is_paused: course.is_paused(),
            at: Some(course.progress()),
            ..Look::default()
        }
    }
}

/// The shortest time that is waited for.
const SHORTEST: Duration = Duration::from_millis(1);

type Fleet = WorkflowContext<FleetWorkflow>;

/// Tells the course what the workflow was told by others, and members what they are to know of it.
async fn take_note(ctx: &Fleet) {
    if ctx.cancellation_token().is_cancelled() {
        tell(ctx, |course, now| course.cancel(now));
    }
    for told in ctx.state_mut(|it| std::mem::take(&mut it.inbox)) {
        for run in tell(ctx, |course, now| course.told(now, &told)) {
            tell_member(ctx, &run, told.clone()).await;
        }
    }
}

/// Tells a member something whose workflow is there.
async fn tell_member(ctx: &Fleet, run: &RunId, told: RunInstruction) {
    let options = SignalWorkflowOptions::builder()
        .cancellation_token(WorkflowCancellationToken::new())
        .build();
    // Members of each kind are told by the same name. It may just have ended.
    let member = ctx.external_workflow(run.as_str(), None);
    let signalled = member.signal(JobWorkflow::instruct, told, options);
    if let Err(error) = signalled.await {
        tracing::debug!(%run, %error, "a member could not be told something");
    }
}

/// Returns what is to be done now, or why the fleet could not begin.
fn step(ctx: &Fleet) -> Result<FleetStep, Failure> {
    with_course(ctx, |course, now| {
        let step = course.next(now);
        // Nobody listens here: members are seen by their runs.
        drop(course.take_events());
        step
    })
}

/// Waits until there is something to do, and tells the course what it is.
async fn wait(ctx: &Fleet, members: &mut Members, until: Option<Timestamp>) {
    let is_cut = ctx.state(|it| it.course.as_ref().is_ok_and(FleetCourse::is_cut_short));
    let heard = {
        let cancelled = async {
            match is_cut {
                // It was told of already.
                true => pending().await,
                false => drop(ctx.cancelled().await),
            }
        };
        let never = WorkflowCancellationToken::new();
        let options = WaitConditionOptions::builder()
            .cancellation_token(never)
            .build();
        let told = ctx.wait_condition_with_options(|it| !it.inbox.is_empty(), options);
        let given_up = WorkflowCancellationToken::new();
        let late = sleep_to(ctx, until, given_up.clone());
        let mut cancelled = std::pin::pin!(cancelled.fuse());
        let mut told = std::pin::pin!(told);
        let mut late = std::pin::pin!(late.fuse());
        let mut news = std::pin::pin!(members.news().fuse());
        let heard = select! {
            () = cancelled => Vec::new(),
            heard = news => heard,
            _ = told => Vec::new(),
            () = late => Vec::new(),
        };
        given_up.cancel();
        heard
    };
    let mut ends = Vec::new();
    for heard in heard {
        match heard {
            Heard::Began(member) => {
                let untold: Vec<_> = tell(ctx, |course, now| {
                    let run = course.run_of(&member);
                    let untold = course.began(now, &member).into_iter();
                    untold.map(|told| (run.clone(), told)).collect()
                });
                for (run, told) in untold {
                    tell_member(ctx, &run, told).await;
                }
            }
            Heard::NotStarted(member, error) => {
                tell(ctx, |course, now| course.not_started(now, &member, &error));
            }
            Heard::Ended(member, outcome) => ends.push((member, outcome)),
        }
    }
    tell(ctx, |course, now| course.ended(now, ends));
}

async fn sleep_to(ctx: &Fleet, until: Option<Timestamp>, given_up: WorkflowCancellationToken) {
    let Some(until) = until else {
        return pending().await;
    };
    let left = until.duration_since(timestamp(ctx.workflow_time()));
    // Not every server takes a timer of no time.
    let left = Duration::try_from(left).unwrap_or_default().max(SHORTEST);
    let timer = TimerOptions::builder(left)
        .cancellation_token(given_up)
        .build();
    ctx.timer(timer).await;
}

fn end(ctx: &Fleet, report: FleetReport) -> WorkflowResult<RunOutcome> {
    let name = ctx.state(|it| it.name.clone());
    let mut outcome = fitting(&name, report);
    if let RunEnding::Cancelled { reason } = &mut outcome.ending {
        if let Some(why) = ctx.cancellation_token().reason() {
            *reason = why;
        }
        return Err(WorkflowTermination::cancelled_with_details(outcome));
    }
    Ok(outcome)
}

/// Tells the course something. One that could not begin is told nothing.
fn tell<T: Default>(ctx: &Fleet, act: impl FnOnce(&mut FleetCourse, Timestamp) -> T) -> T {
    with_course(ctx, act).unwrap_or_default()
}

/// Does something with the course, at the time of the workflow.
fn with_course<T>(
    ctx: &Fleet,
    act: impl FnOnce(&mut FleetCourse, Timestamp) -> T,
) -> Result<T, Failure> {
    let now = timestamp(ctx.workflow_time());
    ctx.state_mut(|it| match &mut it.course {
        Ok(course) => Ok(act(course, now)),
        Err(failure) => Err(failure.clone()),
    })
}

/// Returns the time of a workflow, which is the same whenever it is replayed.
fn timestamp(time: Option<SystemTime>) -> Timestamp {
    let time = time.and_then(|time| Timestamp::try_from(time).ok());
    time.unwrap_or(Timestamp::UNIX_EPOCH)
}
