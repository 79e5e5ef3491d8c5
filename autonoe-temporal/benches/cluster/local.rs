//! Job runner of the same runs in one process, for comparison.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::ProjectRun;
use autonoe_core::engine::{JobContext, JobRunner, RunOutcome, RunSpec, SessionsRun};
use autonoe_core::event::Failure;
use autonoe_temporal_support::TestHosts;

/// Executes runs in their projects, like the command.
pub(crate) struct Locally(pub(crate) Arc<TestHosts>);

#[async_trait]
impl JobRunner for Locally {
    async fn run(&self, run: &RunSpec, context: &JobContext) -> RunOutcome {
        let input: SessionsRun = serde_json::from_value(run.input.clone()).expect("runs of ours");
        let (project, agents) = self.0.project_and_agents(&input);
        let report = ProjectRun::new(project, agents)
            .configure(|runner| runner.pause_between_sessions(Duration::ZERO))
            .run(context.control())
            .await;
        match report {
            Ok(report) if report.exit.is_success() => RunOutcome::succeeded(run.input.clone()),
            other => RunOutcome::failed(Failure::permanent("broken", format!("{other:?}"))),
        }
    }
}
