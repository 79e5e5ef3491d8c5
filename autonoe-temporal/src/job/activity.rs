//! The activity that carries out a run of any kind.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use autonoe_core::{CostTotal, Failure, RunControl, RunDesk, RunOutcome, RunSpec};
use futures::FutureExt;
use temporalio_sdk::activities::{ActivityContext, ActivityError, activities};

use super::Runners;
use super::telling::tell;
use crate::beat::Beats;
use crate::payload::bounded;
use crate::watching::watched;
use crate::wire::Beat;

/// Carries out runs on this worker.
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
    /// Carries out a run to its end, tells the server how far it is, and the run what it is told.
    #[activity(name = "autonoe-carry-out")]
    pub async fn carry_out(
        self: Arc<Self>,
        ctx: ActivityContext,
        run: RunSpec,
    ) -> Result<RunOutcome, ActivityError> {
        let runner = match self.runners.of(&run.job) {
            Ok(runner) => runner,
            Err(reason) => {
                return Ok(RunOutcome::failed(Failure::permanent(
                    "unknown_job",
                    reason,
                )));
            }
        };
        let before: Beat = ctx.heartbeat_details().deserialize()?.unwrap_or_default();
        let beats = Beats::after(before);
        let control = RunControl::new();
        let desk = {
            let beats = beats.clone();
            RunDesk::new(control.clone(), move |at| beats.reached(at))
        };
        let carrying = AssertUnwindSafe(runner.run(&run, &desk)).catch_unwind();
        let work = async {
            tokio::select! {
                biased;
                ended = carrying => ended.unwrap_or_else(|_panic| panicked(&beats)),
                never = tell(&ctx, &control, &beats) => match never {},
            }
        };
        let ended = watched(&ctx, &beats, work, || control.cancel()).await;
        ended.map(bounded)
    }
}

fn panicked(beats: &Beats) -> RunOutcome {
    let mut spent = beats.latest().at.spent;
    spent.cost.merge(CostTotal::unknown());
    let failure = Failure::permanent("panicked", "what carried out the run panicked");
    RunOutcome::failed(failure).with_spent(spent)
}
