//! The same runs in one process.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::{Failure, JobRunner, ProjectRun, RunDesk, RunOutcome, RunSpec, SessionsRun};
use autonoe_temporal_support::Crew;

/// Carries out runs in their projects, as the command does.
pub(crate) struct Locally(pub(crate) Arc<Crew>);

#[async_trait]
impl JobRunner for Locally {
    async fn run(&self, run: &RunSpec, desk: &RunDesk) -> RunOutcome {
        let what: SessionsRun = serde_json::from_value(run.input.clone()).expect("runs of ours");
        let (project, agents) = self.0.of_run(&what);
        let report = ProjectRun::new(project, agents)
            .configure(|runner| runner.pause_between_sessions(Duration::ZERO))
            .run(desk.control())
            .await;
        match report {
            Ok(report) if report.exit.is_success() => RunOutcome::succeeded(run.input.clone()),
            other => RunOutcome::failed(Failure::permanent("broken", format!("{other:?}"))),
        }
    }
}
