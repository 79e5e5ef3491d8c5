//! `ExecutorFactory`, which builds the executors of a fleet for a folder.

use std::path::Path;
use std::sync::Arc;

use autonoe_app::telemetry::SessionTelemetry;
use autonoe_app::{AgentOptions, ChosenBackend, ModelsFile, SessionSetup, criteria_commands};
use autonoe_core::event::TraceContext;
use autonoe_core::gate::ProjectPaths;
use autonoe_core::project::{AgentConfig, EffectiveConfig};
use autonoe_core::run::SessionRunnerBuilder;
use autonoe_core::spec::SpecContext;
use autonoe_core::{AgentClientFactory, Mode, Project, RunObserver, SessionRunner};
use autonoe_harness::{AgentExecutor, Executors};

use crate::cli_env::CliEnv;
use crate::error::CliError;

/// Builds executors for a folder, with the guards, the policy and the sandbox of a run.
#[derive(Clone)]
pub(super) struct ExecutorFactory {
    config: EffectiveConfig,
    backends: Vec<ReadyBackend>,
    default_backend: String,
    models: Arc<ModelsFile>,
    agent: AgentOptions,
    observers: Vec<Arc<dyn RunObserver>>,
    telemetry: SessionTelemetry,
    env: CliEnv,
}

/// A backend that is ready for use.
#[derive(Clone)]
struct ReadyBackend {
    name: String,
    model: Option<String>,
    agents: Arc<dyn AgentClientFactory>,
    session_setup: SessionSetup,
}

impl ExecutorFactory {
    /// Loads the settings of `project`. `agent` has the options of all agents of the fleet.
    pub(super) fn load(
        project: &Project,
        models: ModelsFile,
        agent: AgentOptions,
        env: &CliEnv,
    ) -> Result<Self, CliError> {
        let config = AgentConfig::load(project.config_path())?;
        let config = EffectiveConfig::merge(config, Mode::Run, agent.sandbox(env))?
            .destructive(agent.destructive());
        // Validated here, because later there is no way to report an error.
        apply_config(
            &config,
            SessionRunner::builder(project.root()),
            project.root(),
        )?;
        Ok(Self {
            config,
            backends: Vec::new(),
            default_backend: String::new(),
            models: Arc::new(models),
            agent,
            observers: Vec::new(),
            telemetry: SessionTelemetry::default(),
            env: env.clone(),
        })
    }

    /// Adds a backend under a name, and returns its warnings.
    pub(super) fn add(
        &mut self,
        name: &str,
        chosen: &ChosenBackend,
        model: Option<&str>,
        project: &Project,
    ) -> Result<Vec<String>, CliError> {
        let options = AgentOptions {
            model: model.map(str::to_owned),
            ..self.agent.clone()
        };
        let (models, env) = (&self.models, &self.env);
        let config = self.config.agent_config();
        let built = chosen.build(project, config, Mode::Run, &options, models, env)?;
        self.backends.push(ReadyBackend {
            name: name.to_owned(),
            session_setup: SessionSetup::new(&options, env).backend(&built),
            model: options.model,
            agents: built.agents,
        });
        Ok(built.warnings)
    }

    /// Sets the backend of tasks without an explicit one.
    pub(super) fn set_default_backend(&mut self, name: &str) {
        name.clone_into(&mut self.default_backend);
    }

    /// Returns the `models.json` of the project.
    pub(super) fn models(&self) -> Arc<ModelsFile> {
        self.models.clone()
    }

    /// Adds an observer of the sessions.
    pub(super) fn add_observer(&mut self, observer: Arc<dyn RunObserver>) {
        self.observers.push(observer);
    }

    /// Sets the telemetry of the sessions.
    pub(super) fn set_telemetry(&mut self, telemetry: SessionTelemetry) {
        self.telemetry = telemetry;
    }

    /// Builds the executors of a folder. The parent of their sessions is `parent`.
    pub(super) fn executors(&self, folder: &Path, parent: Option<&TraceContext>) -> Executors {
        let (models, switch) = (&self.models, self.agent.sandbox(&self.env));
        let commands = criteria_commands(folder, models, switch, &self.env);
        let executors = self
            .backends
            .iter()
            .fold(Executors::default(), |all, backend| {
                let executor = AgentExecutor::new(&backend.name, backend.agents.clone(), folder)
                    .commands(commands.clone())
                    .sessions(self.sessions(backend, folder, parent));
                let executor = match &backend.model {
                    Some(model) => executor.model(model),
                    None => executor,
                };
                all.executor(Arc::new(executor.self_judging()))
            });
        executors.default_executor(&self.default_backend)
    }

    fn sessions(
        &self,
        backend: &ReadyBackend,
        folder: &Path,
        parent: Option<&TraceContext>,
    ) -> impl Fn(SessionRunnerBuilder) -> SessionRunnerBuilder + Send + Sync + use<> {
        let (config, session_setup) = (self.config.clone(), backend.session_setup.clone());
        let (observers, folder) = (self.observers.clone(), folder.to_owned());
        let (telemetry, parent) = (self.telemetry.clone(), parent.cloned());
        move |builder| {
            let builder = match apply_config(&config, builder, &folder) {
                Ok(builder) => builder,
                Err(error) => {
                    tracing::error!(%error, "the settings of the project cannot be applied");
                    // Without agents, no session starts.
                    return SessionRunner::builder(&folder);
                }
            };
            let builder = telemetry.apply(session_setup.apply(builder), parent.clone());
            let observers = observers.iter().cloned();
            observers.fold(builder, SessionRunnerBuilder::observer)
        }
    }
}

/// Applies the settings of the project to sessions in `folder`.
fn apply_config(
    config: &EffectiveConfig,
    builder: SessionRunnerBuilder,
    folder: &Path,
) -> Result<SessionRunnerBuilder, CliError> {
    let context = SpecContext::new(ProjectPaths::new(folder));
    Ok(config.clone().apply(builder, &context)?)
}
