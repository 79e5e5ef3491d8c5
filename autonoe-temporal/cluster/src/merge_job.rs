//! [`MergeJob`]: merges the work of a task into the integration branch of its fleet.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::engine::{JobContext, JobRunner, RunOutcome, RunSpec};
use autonoe_core::event::{Failure, Retry, TraceContext};
use autonoe_git_sync::{IntegrationBranch, MergeOutcome};
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
            match self.attempt(run, &work, &budget).await {
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
        run: &RunSpec,
        work: &FleetWork,
        budget: &VerificationBudget,
    ) -> Result<RunOutcome, Failure> {
        let (branch, remotes) = (integration_branch(&run.id), self.projects.remotes()?);
        let integration = remotes.integration(work, &run.id, &self.projects.root)?;
        match &work.task {
            None => remotes.create(&integration).await.map(|commit| {
                let output = format!("The branch {branch} is at the commit {commit}.");
                RunOutcome::succeeded(json!(output))
            }),
            Some(task) => {
                let verified = (task, work.trace.as_ref());
                self.merge(run, verified, &integration, budget).await
            }
        }
    }

    async fn merge(
        &self,
        run: &RunSpec,
        (task, trace): (&Task, Option<&TraceContext>),
        integration: &IntegrationBranch,
        budget: &VerificationBudget,
    ) -> Result<RunOutcome, Failure> {
        let (source, target) = (task_branch(&run.id), integration_branch(&run.id));
        let checks =
            |folder: PathBuf| async move { self.verify((task, trace), &folder, budget).await };
        let merged = integration.merge(&source, checks).await;
        let merged =
            merged.map_err(|error| Failure::from_error("git_sync", &error, error.retry()))?;
        let (code, reason) = match merged {
            MergeOutcome::Merged { commit } => {
                let output = format!(
                    "The task {} is on the branch {target} since the commit {commit}.",
                    task.id
                );
                return Ok(RunOutcome::succeeded(json!(output)));
            }
            MergeOutcome::Conflict { files } => ("merge_conflict", format!("conflicts in {files}")),
            MergeOutcome::ChecksFailed { verification } => {
                ("criteria_failed", format!("it is {verification}"))
            }
            outcome => ("not_merged", format!("{outcome:?}")),
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
        (task, trace): (&Task, Option<&TraceContext>),
        folder: &Path,
        budget: &VerificationBudget,
    ) -> Verification {
        match task_executor(&self.projects, folder, trace) {
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
