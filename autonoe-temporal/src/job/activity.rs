//! [`JobActivities`]: the activity that executes a job and delivers its instructions.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use autonoe_core::RunControl;
use autonoe_core::agent::CostTotal;
use autonoe_core::engine::{JobContext, JobRunner, RunInstruction, RunOutcome, RunSpec};
use autonoe_core::event::Failure;
use autonoe_core::run::RunMessage;
use futures::FutureExt;
use temporalio_client::WorkflowExecuteUpdateOptions;
use temporalio_sdk::activities::{ActivityContext, ActivityError, activities};

use super::JobWorkflow;
use crate::heartbeat::{HeartbeatState, run_cancellable};
use crate::payload::bounded;
use crate::wire::{Heartbeat, Instructions};

/// Job runners by kind.
pub(crate) type Runners = BTreeMap<String, Arc<dyn JobRunner>>;

/// Executes jobs on this worker.
pub struct JobActivities {
    runners: Runners,
}

impl JobActivities {
    pub(crate) fn new(runners: Runners) -> Self {
        Self { runners }
    }
}

#[activities]
impl JobActivities {
    /// Executes a job to its end. Meanwhile it sends heartbeats to the server and instructions to
    /// the job.
    #[activity(name = "autonoe-execute")]
    pub async fn execute(
        self: Arc<Self>,
        ctx: ActivityContext,
        run: RunSpec,
    ) -> Result<RunOutcome, ActivityError> {
        let Some(runner) = self.runners.get(&run.job) else {
            let known: Vec<_> = self.runners.keys().map(String::as_str).collect();
            let reason = format!(
                "this worker does not execute jobs of the kind {:?}; known kinds: {}",
                run.job,
                known.join(", ")
            );
            let failure = Failure::permanent("unknown_job", reason);
            return Ok(RunOutcome::failed(failure));
        };
        let before: Heartbeat = ctx.heartbeat_details().deserialize()?.unwrap_or_default();
        let beats = HeartbeatState::resume_from(before);
        let control = RunControl::new();
        let context = {
            let beats = beats.clone();
            JobContext::new(control.clone(), move |at| beats.set_progress(at))
        };
        let running = AssertUnwindSafe(runner.run(&run, &context)).catch_unwind();
        let work = async {
            tokio::select! {
                biased;
                ended = running => ended.unwrap_or_else(|_panic| panicked(&beats)),
                never = deliver_instructions(&ctx, &control, &beats) => match never {},
            }
        };
        let ended = run_cancellable(&ctx, &beats, work, || control.cancel()).await;
        ended.map(bounded)
    }
}

fn panicked(beats: &HeartbeatState) -> RunOutcome {
    let mut spent = beats.latest().at.spent;
    spent.cost.merge(CostTotal::unknown());
    let failure = Failure::permanent("panicked", "the job runner panicked");
    RunOutcome::failed(failure).with_spent(spent)
}

/// Wait before the next request, if the server did not answer.
const RETRY_WAIT: Duration = Duration::from_secs(1);

/// Delivers the instructions of the workflow to a job, in order, until it is dropped.
///
/// A new attempt receives the unsettled instructions again, and the current pause state.
pub(super) async fn deliver_instructions(
    ctx: &ActivityContext,
    control: &RunControl,
    beats: &HeartbeatState,
) -> Infallible {
    let Some(workflow) = ctx.workflow_handle::<JobWorkflow>() else {
        return std::future::pending().await;
    };
    let settled = beats.latest().settled;
    let mut read = 0;
    loop {
        // Each position has its own update ID, so that a repeated request has the same answer.
        let options = WorkflowExecuteUpdateOptions::builder()
            .update_id(format!("instructions-{read}"))
            .build();
        let answer = workflow.execute_update(JobWorkflow::instructions, read, options);
        match answer.await {
            Ok(Instructions(instructions)) if instructions.is_empty() => {
                return std::future::pending().await;
            }
            Ok(Instructions(instructions)) => {
                for instruction in instructions {
                    deliver(instruction, read, read < settled, control, beats);
                    read += 1;
                }
            }
            Err(error) => {
                tracing::debug!(%error, "cannot query the instructions of the run");
                tokio::time::sleep(RETRY_WAIT).await;
            }
        }
    }
}

fn deliver(
    instruction: RunInstruction,
    number: usize,
    is_settled: bool,
    control: &RunControl,
    beats: &HeartbeatState,
) {
    match instruction {
        RunInstruction::Message(_) if is_settled => {}
        RunInstruction::Message(text) => {
            let beats = beats.clone();
            let message = RunMessage::new(text)
                .with_id(number.to_string())
                .with_receipt(move || beats.settle(number));
            control.send_message(message);
        }
        // Sent to each attempt, because an attempt does not know the instructions of the previous
        // one.
        RunInstruction::Pause => {
            control.pause();
            beats.settle(number);
        }
        RunInstruction::Resume => {
            control.resume();
            beats.settle(number);
        }
    }
}
