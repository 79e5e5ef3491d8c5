//! [`MergeJob`]: merges the work of a task into the integration branch of its fleet.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use autonoe_app::{ModelsFile, criteria_commands, error_chain, sandbox_switch};
use autonoe_core::Project;
use autonoe_core::engine::{JobContext, JobRunner, RunOutcome, RunSpec};
use autonoe_core::event::{Failure, Retry};
use autonoe_git_sync::{IntegrationBranch, MergeOutcome};
use autonoe_harness::Task;
use autonoe_harness::coordinate::MemberJob;
use autonoe_harness::executor::{
    ExecutionOutcome, ExecutionReport, Verification, VerificationContext,
};
use serde_json::json;
use tokio::time::{Instant, sleep};

use crate::fleet_work::{FleetWork, integration_branch, task_branch};
use crate::projects::Projects;

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
        let started = Instant::now();
        loop {
            match self.attempt(run, &work).await {
                Err(failure)
                    if failure.retry == Retry::Retryable && started.elapsed() < RETRY_TIME =>
                {
                    tracing::warn!(run = %run.id, %failure, "retrying a merge");
                    sleep(PAUSE).await;
                }
                result => return result,
            }
        }
    }

    async fn attempt(&self, run: &RunSpec, work: &FleetWork) -> Result<RunOutcome, Failure> {
        let (branch, remotes) = (integration_branch(&run.id), self.projects.remotes()?);
        let integration = remotes.integration(work, &run.id, &self.projects.root)?;
        match &work.task {
            None => remotes.create(&integration).await.map(|commit| {
                let output = format!("The branch {branch} is at the commit {commit}.");
                RunOutcome::succeeded(json!(output))
            }),
            Some(task) => self.merge(run, task, &integration).await,
        }
    }

    async fn merge(
        &self,
        run: &RunSpec,
        task: &Task,
        integration: &IntegrationBranch,
    ) -> Result<RunOutcome, Failure> {
        let (source, target) = (task_branch(&run.id), integration_branch(&run.id));
        let checks = |folder: PathBuf| async move { self.verify(task, &folder).await };
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
    async fn verify(&self, task: &Task, folder: &Path) -> Verification {
        let Some(criteria) = &task.success_criteria else {
            return Verification::passed("the task has no success criteria");
        };
        let (agent, env) = (&self.projects.agent, &self.projects.env);
        let models = Project::find(folder, None)
            .map_err(|error| error_chain(&error))
            .and_then(|project| ModelsFile::load(&project).map_err(|error| error.to_string()));
        let models = match models {
            Ok(models) => models.unwrap_or_default(),
            Err(reason) => return Verification::unverified(reason),
        };
        let switch = sandbox_switch(agent.no_sandbox, env);
        let commands = criteria_commands(folder, &models, switch, env);
        let report = ExecutionReport::new(task, "cluster", ExecutionOutcome::Completed);
        let mut context = VerificationContext::new(task, &report, folder);
        context.commands = Some(&commands);
        criteria.verify(&context).await
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
