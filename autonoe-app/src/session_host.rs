//! [`ComposedSessionHost`]: executes sessions in a project directory for a remote engine.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use autonoe_core::engine::{
    HostedOutcome, HostedSession, RunProgress, SessionHost, SessionHostError,
};
use autonoe_core::event::{Failure, TraceContext};
use autonoe_core::ledger::LedgerView;
use autonoe_core::project::ProjectSessionHost;
use autonoe_core::time::{Epoch, SessionKey};
use autonoe_core::{Mode, Project, RunId, RunReport};
use autonoe_harness::progress::ProjectFiles;
use tokio_util::sync::CancellationToken;

use crate::telemetry::SessionTelemetry;
use crate::{
    AgentOptions, AppError, Env, ModelsFile, destructive_warning, invalid_sandbox_warning,
};

/// Receives warnings for the operator.
pub type OnWarning = dyn Fn(&str) + Send + Sync;

/// Executes sessions in a project directory, composed as `autonoe run` composes them.
///
/// The files of the project are read for each call, so that a project that cannot be used is a
/// failure of that call.
#[derive(Clone)]
pub struct ComposedSessionHost {
    /// The directory of the project.
    pub root: PathBuf,
    /// The mode of the run.
    pub mode: Mode,
    /// The agent.
    pub agent: AgentOptions,
    /// The environment of the process.
    pub env: Env,
    /// Telemetry of sessions.
    pub telemetry: SessionTelemetry,
    /// The parent of the spans of sessions.
    pub trace: Option<TraceContext>,
    /// Receives warnings about the project and the agent.
    pub on_warning: Arc<OnWarning>,
}

impl ComposedSessionHost {
    /// Composes a host from the files of the project as they are now.
    ///
    /// # Errors
    ///
    /// A session cannot start in the project, or not with this agent.
    pub fn compose(&self) -> Result<ProjectSessionHost, AppError> {
        let Self { agent, env, .. } = self;
        let project = Project::find(&self.root, None)?;
        project.specification()?;
        let files = Arc::new(ProjectFiles::new(project.root()));
        let models = ModelsFile::load(&project)?.unwrap_or_default();
        let composed = agent.compose(&project, self.mode, &models, env)?;
        let mut warnings = composed.warnings;
        warnings.extend(agent.sandbox(env).warning().map(str::to_owned));
        warnings.extend(invalid_sandbox_warning(agent.no_sandbox, env));
        warnings.extend(destructive_warning(agent.destructive()).map(str::to_owned));
        for warning in &warnings {
            (self.on_warning)(warning);
        }
        let (telemetry, trace) = (self.telemetry.clone(), self.trace.clone());
        let host = ProjectSessionHost::new(composed.project, composed.agents);
        Ok(host.configure(move |runner| {
            let runner = telemetry.apply(composed.setup.apply(runner), trace.clone());
            runner.workspace(files.clone())
        }))
    }

    fn host(&self) -> Result<ProjectSessionHost, Failure> {
        self.compose().map_err(|error| {
            let hint = error.hint().map(|hint| format!(" ({hint})"));
            let message = format!("{error}{}", hint.unwrap_or_default());
            Failure::permanent("project_refused", message)
        })
    }
}

fn failed(key: SessionKey) -> impl FnOnce(Failure) -> SessionHostError {
    move |failure| SessionHostError::Failed { key, failure }
}

#[async_trait]
impl SessionHost for ComposedSessionHost {
    async fn claim(&self, run: &RunId) -> Result<Epoch, SessionHostError> {
        let host = self.host().map_err(failed(SessionKey::for_run(run)))?;
        host.claim(run).await
    }

    async fn ledger_view(&self, run: &RunId) -> Result<LedgerView, Failure> {
        self.host()?.ledger_view(run).await
    }

    async fn attach_or_start(
        &self,
        key: &SessionKey,
        epoch: Epoch,
        session: HostedSession,
        beat: &(dyn Fn(RunProgress) + Send + Sync),
        cancelled: CancellationToken,
    ) -> Result<HostedOutcome, SessionHostError> {
        let host = self.host().map_err(failed(key.clone()))?;
        host.attach_or_start(key, epoch, session, beat, cancelled)
            .await
    }

    async fn conclude(&self, epoch: Epoch, report: &RunReport) -> Result<(), SessionHostError> {
        let host = self
            .host()
            .map_err(failed(SessionKey::for_run(&report.run)))?;
        host.conclude(epoch, report).await
    }
}
