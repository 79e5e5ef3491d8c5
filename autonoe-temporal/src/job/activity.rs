//! [`JobActivities`]: the activity that executes a job.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use autonoe_core::RunControl;
use autonoe_core::agent::CostTotal;
use autonoe_core::engine::{JobContext, RunOutcome, RunSpec};
use autonoe_core::event::Failure;
use futures::FutureExt;
use temporalio_sdk::activities::{ActivityContext, ActivityError, activities};

use super::Runners;
use super::instructions::deliver_instructions;
use crate::activity_guard::run_cancellable;
use crate::heartbeat::HeartbeatState;
use crate::payload::bounded;
use crate::wire::Heartbeat;

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
    #[activity(name = "autonoe-carry-out")]
    pub async fn execute(
        self: Arc<Self>,
        ctx: ActivityContext,
        run: RunSpec,
    ) -> Result<RunOutcome, ActivityError> {
        let runner = match self.runners.get(&run.job) {
            Ok(runner) => runner,
            Err(reason) => {
                return Ok(RunOutcome::failed(Failure::permanent(
                    "unknown_job",
                    reason,
                )));
            }
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
    let failure = Failure::permanent("panicked", "the job panicked");
    RunOutcome::failed(failure).with_spent(spent)
}
