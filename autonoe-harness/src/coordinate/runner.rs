//! Carries out fleets that were submitted as one run.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use autonoe_core::{Engine, Failure, JobRunner, RunDesk, RunOutcome, RunSpec};

use super::{Coordinator, StrategyRun};

/// Carries out runs of the kind [`STRATEGY_JOB`](super::STRATEGY_JOB) on an engine that does not do
/// so itself: the members are runs on an engine, too.
///
/// ```
/// use std::sync::Arc;
///
/// use autonoe_core::{Engine, LocalEngine, Placement, RunId};
/// use autonoe_harness::{FleetReport, HarnessId, MemberSpec, Race, StrategyRun, StrategyRunner};
/// # use autonoe_core::{JobRunner, RunDesk, RunOutcome, RunSpec};
/// # use autonoe_harness::MemberJob;
/// # struct Says;
/// # #[async_trait::async_trait]
/// # impl JobRunner for Says {
/// #     async fn run(&self, run: &RunSpec, _: &RunDesk) -> RunOutcome {
/// #         RunOutcome::succeeded(MemberJob::of(run).expect("a member").work)
/// #     }
/// # }
/// use serde_json::json;
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
/// let members = Arc::new(LocalEngine::new(Says));
/// let fleets = LocalEngine::new(StrategyRunner::on(members));
/// let one = MemberSpec::new(HarnessId::new("claude"), "say", json!("done"));
/// let race = StrategyRun::new(Race {}).members([one]);
///
/// let id = RunId::new("login-page");
/// fleets.submit(race.named(id.clone())?, Placement::anywhere()).await?;
/// let outcome = fleets.wait(&id).await?;
///
/// let report: FleetReport = serde_json::from_value(outcome.output)?;
/// assert_eq!(report.result.aggregated_output.as_deref(), Some("done"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct StrategyRunner {
    engine: Arc<dyn Engine>,
}

impl StrategyRunner {
    /// Has members carried out on `engine`.
    pub fn on(engine: impl Engine + 'static) -> Self {
        Self {
            engine: Arc::new(engine),
        }
    }
}

#[async_trait]
impl JobRunner for StrategyRunner {
    async fn run(&self, run: &RunSpec, desk: &RunDesk) -> RunOutcome {
        let what = match StrategyRun::of(run) {
            Ok(what) => what,
            Err(error) => return unreadable(&error),
        };
        let fleet = Coordinator::of(run.id.as_str(), self.engine.clone(), what);
        match fleet.run_at(desk).await {
            Ok(report) => report.outcome(),
            Err(error) => RunOutcome::failed(Failure::permanent("fleet", error.to_string())),
        }
    }
}

fn unreadable(error: &serde_json::Error) -> RunOutcome {
    let why = format!("it does not say what the fleet is to do: {error}");
    RunOutcome::failed(Failure::permanent("not_a_fleet", why))
}

impl fmt::Debug for StrategyRunner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StrategyRunner").finish_non_exhaustive()
    }
}
