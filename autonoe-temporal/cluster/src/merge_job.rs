//! [`MergeJob`]: merges the work of a task into the integration branch of its fleet.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::RunId;
use autonoe_core::engine::{JobContext, JobRunner, RunOutcome, RunSpec};
use autonoe_core::event::{Failure, Retry};
use autonoe_git_sync::MergeOutcome;
use autonoe_harness::budget::VerificationBudget;
use autonoe_harness::coordinate::MemberJob;
use autonoe_harness::executor::{ExecutionOutcome, ExecutionReport, Verification};
use autonoe_harness::{Executor, Task};
use serde_json::json;
use tokio::time::{Instant, sleep};

use crate::fleet_work::{FleetWork, integration_branch, task_branch};
use crate::projects::Projects;
use crate::task_executor::task_executor;

/// Time for which a merge is retried while the remote is unreachable.
const RETRY_TIME: Duration = Duration::from_secs(600);

/// Pause before the next attempt.
const PAUSE: Duration = Duration::from_secs(5);

/// Creates the integration branch of a fleet, or merges the work of a task into it.
pub(crate) struct MergeJob {
    projects: Arc<Projects>,
}

impl MergeJob {
    pub(crate) fn new(projects: Arc<Projects>) -> Self {
        Self { projects }
    }

    async fn perform(&self, run: &RunSpec) -> Result<RunOutcome, Failure> {
        let wrong = |error: serde_json::Error| {
            Failure::permanent("unknown_work", format!("the run names no work: {error}"))
        };
        let member = MemberJob::from_run(run).map_err(wrong)?;
        let work: FleetWork = serde_json::from_value(member.work).map_err(wrong)?;
        let budget = VerificationBudget::new(member.allowance);
        let started = Instant::now();
        let outcome = loop {
            match self.attempt(&run.id, &work, &budget).await {
                Err(failure)
                    if failure.retry == Retry::Retryable && started.elapsed() < RETRY_TIME =>
                {
                    tracing::warn!(run = %run.id, %failure, "retrying a merge");
                    sleep(PAUSE).await;
                }
                outcome => break outcome.unwrap_or_else(RunOutcome::failed),
            }
        };
        let spending = budget.spending();
        Ok(outcome
            .with_spent(spending.spent)
            .with_sessions(spending.sessions))
    }

    async fn attempt(
        &self,
        run: &RunId,
        work: &FleetWork,
        budget: &VerificationBudget,
    ) -> Result<RunOutcome, Failure> {
        let remotes = self.projects.remotes()?;
        let integration = remotes.integration(work, run)?;
        let (source, target) = (task_branch(run), integration_branch(run));
        let Some(task) = &work.task else {
            let commit = integration.create(&remotes.base).await?;
            let output = format!("The branch {target} is at the commit {commit}.");
            return Ok(RunOutcome::succeeded(json!(output)));
        };
        let checks =
            |folder: PathBuf| async move { self.verify(task, work, &folder, budget).await };
        let (code, reason) = match integration.merge(&source, checks).await? {
            MergeOutcome::Merged { commit } => {
                let id = &task.id;
                let output =
                    format!("The task {id} is on the branch {target} since the commit {commit}.");
                return Ok(RunOutcome::succeeded(json!(output)));
            }
            MergeOutcome::Conflict { files } => ("merge_conflict", format!("conflicts in {files}")),
            MergeOutcome::ChecksFailed { verification } => {
                ("criteria_failed", format!("it is {verification}"))
            }
        };
        let reason = format!(
            "the branch {source} was not merged into {target}: {reason}; the work is kept on its \
             branch"
        );
        Err(Failure::permanent(code, reason))
    }

    /// Verifies the criteria of a task in a folder with its merged work.
    async fn verify(
        &self,
        task: &Task,
        work: &FleetWork,
        folder: &Path,
        budget: &VerificationBudget,
    ) -> Verification {
        match task_executor(&self.projects, folder, work.trace.as_ref()) {
            Ok(executor) => {
                let name = executor.cli_name();
                let report = ExecutionReport::new(task, name, ExecutionOutcome::Completed);
                executor.verify_success(task, &report, budget).await
            }
            Err(error) => Verification::unverified(error.to_string()),
        }
    }
}

#[async_trait]
impl JobRunner for MergeJob {
    async fn run(&self, run: &RunSpec, context: &JobContext) -> RunOutcome {
        tokio::select! {
            biased;
            () = context.control().cancelled() => RunOutcome::cancelled(""),
            merged = self.perform(run) => merged.unwrap_or_else(RunOutcome::failed),
        }
    }
}
