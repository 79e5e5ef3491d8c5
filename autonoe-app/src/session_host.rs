//! [`ComposedSessionHost`]: executes sessions in a project directory for a remote engine.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use autonoe_core::agent::ThinkingBudget;
use autonoe_core::engine::{
    HostedOutcome, HostedSession, RunProgress, SessionHost, SessionHostError,
};
use autonoe_core::event::{Failure, TraceContext};
use autonoe_core::gate::policy::Destructive;
use autonoe_core::ledger::LedgerView;
use autonoe_core::project::{OpenProjectOptions, ProjectSessionHost};
use autonoe_core::run::Models;
use autonoe_core::time::{Epoch, SessionKey};
use autonoe_core::{Mode, Project, RunId, RunReport};
use autonoe_harness::progress::ProjectFiles;
use tokio_util::sync::CancellationToken;

use crate::telemetry::SessionTelemetry;
use crate::{
    AppError, BackendChoice, ChosenBackend, Env, ModelsFile, RequestedOptions, SessionSetup,
    destructive_warning, invalid_sandbox_warning, load_config, sandbox_switch,
};

/// The agent of sessions, and its safety options.
#[derive(Clone, Debug, Default)]
pub struct AgentOptions {
    /// The backend. By default that of the project.
    pub backend: Option<BackendChoice>,
    /// The model. By default that of the backend.
    pub model: Option<String>,
    /// The model of planning sessions. By default that of the others.
    pub plan_model: Option<String>,
    /// Tokens for thinking. By default none.
    pub thinking: Option<ThinkingBudget>,
    /// Whether agents may delete and move files of the project.
    pub is_destructive: bool,
    /// Whether the sandbox of agents is off.
    pub no_sandbox: bool,
}

impl AgentOptions {
    fn destructive(&self) -> Destructive {
        if self.is_destructive {
            Destructive::Allowed
        } else {
            Destructive::Forbidden
        }
    }
}

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
        let config = load_config(&project)?;
        let backend = ChosenBackend::select(agent.backend.as_ref(), &project, &config)?;
        let models = ModelsFile::load(&project)?.unwrap_or_default();
        let sandbox = sandbox_switch(agent.no_sandbox, env);
        let requested = RequestedOptions {
            model: agent.model.as_deref(),
            plan_model: agent.plan_model.as_deref(),
            thinking: agent.thinking,
            sandbox,
        };
        let built = backend.build(&project, &config, self.mode, requested, &models, env)?;
        let mut warnings = built.warnings;
        warnings.extend(sandbox.warning().map(str::to_owned));
        warnings.extend(invalid_sandbox_warning(agent.no_sandbox, env));
        warnings.extend(destructive_warning(agent.destructive()).map(str::to_owned));
        for warning in &warnings {
            (self.on_warning)(warning);
        }
        let files = Arc::new(ProjectFiles::new(project.root()));
        let session_setup = SessionSetup::new(built.outer_sandbox, agent.thinking, env)
            .without_server(built.missing_server);
        let models = Models {
            planning: agent.plan_model.clone(),
            implementation: agent.model.clone(),
        };
        let (telemetry, trace) = (self.telemetry.clone(), self.trace.clone());
        let options = OpenProjectOptions::from(project)
            .mode(self.mode)
            .sandbox(sandbox)
            .destructive(agent.destructive())
            .config(config);
        let host = ProjectSessionHost::new(options, built.agents).configure(move |runner| {
            let runner = session_setup.apply(runner).models(models.clone());
            let runner = telemetry.apply(runner, trace.clone());
            runner.workspace(files.clone())
        });
        Ok(host)
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
