//! [`FleetWorkflow`]: the workflow of a fleet, and its report.

use std::future::pending;
use std::time::{Duration, SystemTime};

use autonoe_core::RunId;
use autonoe_core::engine::{RunInstruction, RunOutcome, RunSpec};
use autonoe_core::event::Failure;
use autonoe_harness::coordinate::{FleetStep, StrategyRun};
use autonoe_harness::{FleetMachine, FleetReport};
use futures::FutureExt;
use jiff::Timestamp;
use temporalio_sdk::workflows::{select, workflow, workflow_methods};
use temporalio_sdk::{
    SignalWorkflowOptions, SyncWorkflowContext, TimerOptions, WaitConditionOptions,
    WorkflowCancellationToken, WorkflowContext, WorkflowContextView, WorkflowResult,
};

use super::members::{MemberEvent, Members};
use crate::Timeouts;
use crate::job::JobWorkflow;
use crate::payload::{bounded, too_large};
use crate::run_workflow::end_workflow;
use crate::wire::{WorkflowInput, WorkflowState};

/// Performs the steps of a [`FleetMachine`], which makes the decisions. Members are child
/// workflows.
#[workflow]
pub struct FleetWorkflow {
    name: String,
    timeouts: Timeouts,
    state_machine: Result<FleetMachine, Failure>,
    /// Instructions that the fleet has not processed yet.
    inbox: Vec<RunInstruction>,
}

#[workflow_methods]
impl FleetWorkflow {
    #[init]
    pub fn new(ctx: &WorkflowContextView, begin: WorkflowInput) -> Self {
        let WorkflowInput { run, timeouts, .. } = begin;
        Self {
            state_machine: state_machine(&run, timestamp(ctx.start_time())),
            name: run.id.to_string(),
            timeouts,
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
                Ok(FleetStep::Start {
                    member,
                    run,
                    placement,
                }) => {
                    members.start(ctx, member, run, &placement, timeouts);
                }
                Ok(FleetStep::Stop { member, reason, .. }) => {
                    members.stop(&member, &reason);
                    apply(ctx, |state_machine, now| {
                        state_machine.on_stopped(now, &member);
                    });
                }
                Ok(FleetStep::Wait { until }) => wait(ctx, &mut members, until).await,
                Ok(FleetStep::Finish(report)) => return end(ctx, *report),
                Err(failure) => return Ok(RunOutcome::failed(failure)),
            }
        }
    }

    #[signal(name = "instruct")]
    pub fn instruct(
        &mut self,
        _ctx: &mut SyncWorkflowContext<Self>,
        new_instruction: RunInstruction,
    ) {
        self.inbox.push(new_instruction);
    }

    #[query(name = "state")]
    pub fn state(&self, _ctx: &WorkflowContextView) -> WorkflowState {
        let Ok(state_machine) = &self.state_machine else {
            return WorkflowState::default();
        };
        WorkflowState {
            is_paused: state_machine.is_paused(),
            at: Some(state_machine.progress()),
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
        apply(ctx, |state_machine, now| state_machine.cancel(now));
    }
    for instruction in ctx.state_mut(|it| std::mem::take(&mut it.inbox)) {
        for run in apply(ctx, |state_machine, now| {
            state_machine.on_instruction(now, &instruction)
        }) {
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
    with_machine(ctx, |state_machine, now| {
        let step = state_machine.next(now);
        // There are no observers here: members are observed through their runs.
        drop(state_machine.take_events());
        step
    })
}

/// Waits for the next event and applies it to the machine.
async fn wait(ctx: &Fleet, members: &mut Members, until: Option<Timestamp>) {
    let is_cut_short = ctx.state(|it| match &it.state_machine {
        Ok(state_machine) => state_machine.is_cut_short(),
        Err(_) => false,
    });
    let events = {
        let cancelled = if is_cut_short {
            // The machine already knows about the cancellation.
            WorkflowCancellationToken::new()
        } else {
            ctx.cancellation_token()
        };
        let options = WaitConditionOptions::builder()
            .cancellation_token(cancelled)
            .build();
        let timer_cancel = WorkflowCancellationToken::new();
        let late = sleep_to(ctx, until, timer_cancel.clone());
        let mut news = std::pin::pin!(members.next_events().fuse());
        let instructed = ctx.wait_condition_with_options(|it| !it.inbox.is_empty(), options);
        let mut instructed_or_cancelled = std::pin::pin!(instructed);
        let mut late = std::pin::pin!(late.fuse());
        let events = select! {
            events = news => events,
            _ = instructed_or_cancelled => Vec::new(),
            () = late => Vec::new(),
        };
        timer_cancel.cancel();
        events
    };
    let mut ends = Vec::new();
    for event in events {
        match event {
            MemberEvent::Started(member) => {
                let pending_instructions: Vec<_> = apply(ctx, |state_machine, now| {
                    let run = state_machine.run_id(&member);
                    let pending_instructions = state_machine.on_started(now, &member).into_iter();
                    pending_instructions
                        .map(|instruction| (run.clone(), instruction))
                        .collect()
                });
                for (run, instruction) in pending_instructions {
                    signal_member(ctx, &run, instruction).await;
                }
            }
            MemberEvent::NotStarted(member, error) => {
                apply(ctx, |state_machine, now| {
                    state_machine.on_not_started(now, &member, &error);
                });
            }
            MemberEvent::Ended(member, outcome) => ends.push((member, *outcome)),
        }
    }
    apply(ctx, |state_machine, now| state_machine.on_ended(now, ends));
}

async fn sleep_to(ctx: &Fleet, until: Option<Timestamp>, timer_cancel: WorkflowCancellationToken) {
    let Some(until) = until else {
        return pending().await;
    };
    let left = until.duration_since(timestamp(ctx.workflow_time()));
    // Not every server accepts a timer with zero duration.
    let left = Duration::try_from(left).unwrap_or_default().max(SHORTEST);
    let timer = TimerOptions::builder(left)
        .cancellation_token(timer_cancel)
        .build();
    ctx.timer(timer).await;
}

fn end(ctx: &Fleet, report: FleetReport) -> WorkflowResult<RunOutcome> {
    let name = ctx.state(|it| it.name.clone());
    let outcome = shrink_report(&name, report);
    end_workflow(outcome, &ctx.cancellation_token(), false)
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
    ctx.state_mut(|it| match &mut it.state_machine {
        Ok(state_machine) => Ok(act(state_machine, now)),
        Err(failure) => Err(failure.clone()),
    })
}

/// Converts the time of a workflow, which is the same in each replay.
fn timestamp(time: Option<SystemTime>) -> Timestamp {
    let time = time.and_then(|time| Timestamp::try_from(time).ok());
    time.unwrap_or(Timestamp::UNIX_EPOCH)
}

/// Returns the outcome of a fleet, shortened if it is too large: outputs of members are replaced by
/// references to their runs, largest first, until the rest fits. The winning output stays.
pub(super) fn shrink_report(fleet: &str, mut report: FleetReport) -> RunOutcome {
    while too_large("the report of the fleet", &report).is_some() {
        let largest = report.results.iter_mut();
        let largest = largest.max_by_key(|result| result.output.len());
        let Some(result) = largest.filter(|result| result.output.len() > SMALL) else {
            break;
        };
        let bytes = result.output.len();
        result.output = format!("({bytes} bytes, in the run {fleet}.{})", result.id);
    }
    bounded(report.outcome())
}

/// Outputs up to this size are not replaced, because a reference would be as large.
const SMALL: usize = 512;

/// Maximum number of members of one run. Each member adds about a dozen events to the history, of
/// which the server keeps some tens of thousands.
pub(crate) const MAX_MEMBERS: usize = 1000;

/// Creates the state machine of a fleet. The submitter may know strategies that this worker does
/// not know.
fn state_machine(run: &RunSpec, now: Timestamp) -> Result<FleetMachine, Failure> {
    let strategy_run = StrategyRun::from_run(run).map_err(|error| {
        let reason = format!("this worker cannot parse the input of the fleet: {error}");
        Failure::permanent("not_a_fleet", reason)
    })?;
    FleetMachine::new(run.id.as_str(), strategy_run, now)
        .map_err(|error| Failure::permanent("fleet", error.to_string()))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use autonoe_core::engine::RunOutcome;
    use autonoe_harness::coordinate::{FleetStep, MemberSpec, StrategyRun};
    use autonoe_harness::strategy::MemberId;
    use autonoe_harness::{FleetMachine, Parallel, Race, Strategy};
    use jiff::Timestamp;
    use serde_json::{Value, json};

    use super::super::workflow::*;
    use crate::payload::MAX_PAYLOAD;

    /// Runs members that end with outputs of these sizes.
    fn report(strategy: Arc<dyn Strategy>, outputs: &[usize]) -> FleetReport {
        let now = Timestamp::UNIX_EPOCH;
        let names = (0..outputs.len()).map(|number| format!("m{number}"));
        let members = names.map(|name| MemberSpec::new(MemberId::new(name), "say", Value::Null));
        let strategy_run = StrategyRun::new(strategy).members(members);
        let mut machine = FleetMachine::new("f", strategy_run, now).expect("it begins");
        let mut started = Vec::new();
        loop {
            match machine.next(now) {
                FleetStep::Start { member, .. } => {
                    let _ = machine.on_started(now, &member);
                    started.push(member);
                }
                FleetStep::Stop { member, .. } => {
                    machine.on_ended(now, [(member, Ok(RunOutcome::cancelled("")))]);
                }
                FleetStep::Wait { .. } => {
                    let member = started.remove(0);
                    let number: usize = member.as_str()[1..].parse().expect("a number");
                    let output = json!("x".repeat(outputs[number]));
                    machine.on_ended(now, [(member, Ok(RunOutcome::succeeded(output)))]);
                }
                FleetStep::Finish(report) => return *report,
            }
        }
    }

    #[test]
    fn small_report_is_unchanged() {
        let report = report(Arc::new(Race {}), &[1000]);

        assert_eq!(shrink_report("f", report.clone()), report.outcome());
    }

    #[test]
    fn largest_outputs_are_replaced_by_references() {
        let report = report(Arc::new(Race {}), &[1000, 9]);
        let mut large = report;
        large.results[1].output = "y".repeat(MAX_PAYLOAD);

        let outcome = shrink_report("f", large);

        assert!(outcome.is_success());
        let results = &outcome.output["results"];
        assert_eq!(results[0]["output"].as_str().map(str::len), Some(1000));
        assert_eq!(results[1]["output"], "(786432 bytes, in the run f.m1)");
        assert_eq!(too_large("it", &outcome), None);
    }

    #[test]
    fn oversized_report_is_a_failure() {
        let report = report(
            Arc::new(Parallel {}),
            &[MAX_PAYLOAD / 2, MAX_PAYLOAD / 2, MAX_PAYLOAD / 2],
        );

        let outcome = shrink_report("f", report);

        assert!(!outcome.is_success(), "{:?}", outcome.ending);
        assert_eq!(too_large("it", &outcome), None);
    }
}
