//! The activity that carries out a run of any kind.

use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use autonoe_core::{CostTotal, Failure, RunControl, RunDesk, RunOutcome, RunSpec};
use futures::FutureExt;
use temporalio_sdk::ApplicationFailure;
use temporalio_sdk::activities::{ActivityContext, ActivityError, activities};
use tokio::time::MissedTickBehavior;

use super::telling::tell;
use super::{Runners, is_cancelled_by_somebody};
use crate::beat::Beats;
use crate::wire::Beat;

/// How often a beat is offered. What of it goes to the server is the SDK's business.
const OFTEN: Duration = Duration::from_secs(1);

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
        let mut telling = pin!(tell(&ctx, &control, &beats));
        let mut carrying = pin!(AssertUnwindSafe(runner.carry_out(&run, &desk)).catch_unwind());
        let mut said = beats.watch();
        let mut often = tokio::time::interval(OFTEN);
        often.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut is_cancelled = false;
        loop {
            tokio::select! {
                biased;
                ended = &mut carrying => {
                    return Ok(ended.unwrap_or_else(|_panic| panicked(&beats)));
                }
                () = ctx.cancelled(), if !is_cancelled => {
                    if !is_cancelled_by_somebody(&ctx).await {
                        return Err(let_go());
                    }
                    is_cancelled = true;
                    control.cancel();
                }
                Ok(()) = said.changed() => ctx.record_heartbeat(beats.latest()).await?,
                _ = often.tick() => ctx.record_heartbeat(beats.latest()).await?,
                () = &mut telling => {}
            }
        }
    }
}

fn panicked(beats: &Beats) -> RunOutcome {
    let mut spent = beats.latest().at.spent;
    spent.cost.merge(CostTotal::unknown());
    let failure = Failure::permanent("panicked", "what carried out the run panicked");
    RunOutcome::failed(failure).with_spent(spent)
}

/// This worker has nothing more to say in the matter: the run is begun again elsewhere, or is
/// already.
fn let_go() -> ActivityError {
    ActivityError::application(ApplicationFailure::new("the worker has let go of the run"))
}
