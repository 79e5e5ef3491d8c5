//! Executors for a folder: they carry out the tasks of a fleet and verify them.

use std::path::Path;
use std::sync::Arc;

use autonoe_core::{
    AgentClientFactory, AgentConfig, Destructive, EffectiveConfig, Mode, Project, ProjectPaths,
    RunObserver, SandboxSwitch, SessionRunner, SessionRunnerBuilder, SpecContext, ThinkingBudget,
    TraceContext,
};
use autonoe_harness::{AgentExecutor, Executors};

use crate::compose::{ChosenBackend, Equipment, ModelsFile, Wanted, criteria_commands};
use crate::error::CliError;
use crate::surroundings::Surroundings;
use crate::telemetry::SessionTelemetry;

/// Makes executors for a folder, with the guards, the policy and the sandbox of a run.
#[derive(Clone)]
pub(super) struct Workshop {
    config: EffectiveConfig,
    benches: Vec<Bench>,
    usual: String,
    models: Arc<ModelsFile>,
    rules: Rules,
    observers: Vec<Arc<dyn RunObserver>>,
    telemetry: SessionTelemetry,
    surroundings: Surroundings,
}

/// A backend that is ready.
#[derive(Clone)]
struct Bench {
    name: String,
    model: Option<String>,
    agents: Arc<dyn AgentClientFactory>,
    equipment: Equipment,
}

/// What holds for all agents of a fleet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    pub(super) switch: SandboxSwitch,
    pub(super) destructive: Destructive,
    pub(super) thinking: Option<ThinkingBudget>,
}

impl Workshop {
    /// Reads the settings of `project`.
    pub(super) fn of(
        project: &Project,
        models: ModelsFile,
        rules: Rules,
        surroundings: &Surroundings,
    ) -> Result<Self, CliError> {
        let config = AgentConfig::load(project.config_path())?;
        let config = EffectiveConfig::merge(config, Mode::Run, rules.switch)?;
        let config = config.destructive(rules.destructive);
        // Looked at here, because nobody could be told later.
        applied(
            &config,
            SessionRunner::builder(project.root()),
            project.root(),
        )?;
        Ok(Self {
            config,
            benches: Vec::new(),
            usual: String::new(),
            models: Arc::new(models),
            rules,
            observers: Vec::new(),
            telemetry: SessionTelemetry::default(),
            surroundings: surroundings.clone(),
        })
    }

    /// Adds a backend under a name, and returns what is odd about it.
    pub(super) fn add(
        &mut self,
        name: &str,
        chosen: &ChosenBackend,
        model: Option<&str>,
        project: &Project,
    ) -> Result<Vec<String>, CliError> {
        let rules = self.rules;
        let wanted = Wanted {
            model,
            plan_model: None,
            thinking: rules.thinking,
            sandbox: rules.switch,
        };
        let (models, surroundings) = (&self.models, &self.surroundings);
        let built = chosen.build(project, Mode::Run, wanted, models, surroundings)?;
        self.benches.push(Bench {
            name: name.to_owned(),
            model: model.map(str::to_owned),
            agents: built.agents,
            equipment: Equipment::new(built.outer_sandbox, rules.thinking, surroundings)
                .without_server(built.missing_server),
        });
        Ok(built.warnings)
    }

    /// Says which backend is the one of tasks that name none.
    pub(super) fn usual(&mut self, name: &str) {
        name.clone_into(&mut self.usual);
    }

    /// Returns what the project says of models.
    pub(super) fn models(&self) -> Arc<ModelsFile> {
        self.models.clone()
    }

    /// Has somebody watch the sessions.
    pub(super) fn observed_by(&mut self, observer: Arc<dyn RunObserver>) {
        self.observers.push(observer);
    }

    /// Sets the telemetry of the sessions.
    pub(super) fn telemetry(&mut self, telemetry: SessionTelemetry) {
        self.telemetry = telemetry;
    }

    /// Makes the executors of a folder, with sessions below `parent`.
    pub(super) fn executors(&self, folder: &Path, parent: Option<&TraceContext>) -> Executors {
        let (models, switch) = (&self.models, self.rules.switch);
        let commands = criteria_commands(folder, models, switch, &self.surroundings);
        let executors = self
            .benches
            .iter()
            .fold(Executors::default(), |all, bench| {
                let executor = AgentExecutor::new(&bench.name, bench.agents.clone(), folder)
                    .commands(commands.clone())
                    .sessions(self.sessions(bench, folder, parent));
                let executor = match &bench.model {
                    Some(model) => executor.model(model),
                    None => executor,
                };
                all.with(Arc::new(executor.judging_itself()))
            });
        executors.usual(&self.usual)
    }

    fn sessions(
        &self,
        bench: &Bench,
        folder: &Path,
        parent: Option<&TraceContext>,
    ) -> impl Fn(SessionRunnerBuilder) -> SessionRunnerBuilder + Send + Sync + use<> {
        let (config, equipment) = (self.config.clone(), bench.equipment.clone());
        let (observers, folder) = (self.observers.clone(), folder.to_owned());
        let (telemetry, parent) = (self.telemetry.clone(), parent.cloned());
        move |builder| {
            let builder = match applied(&config, builder, &folder) {
                Ok(builder) => builder,
                Err(error) => {
                    tracing::error!(%error, "the settings of the project cannot be kept to");
                    // It has no agents, so that nothing begins.
                    return SessionRunner::builder(&folder);
                }
            };
            let builder = telemetry.apply(equipment.put_into(builder), parent.clone());
            let observers = observers.iter().cloned();
            observers.fold(builder, SessionRunnerBuilder::observer)
        }
    }
}

/// Puts the settings of the project into sessions in `folder`.
fn applied(
    config: &EffectiveConfig,
    builder: SessionRunnerBuilder,
    folder: &Path,
) -> Result<SessionRunnerBuilder, CliError> {
    let context = SpecContext::new(ProjectPaths::new(folder));
    Ok(config.clone().apply(builder, &context)?)
}
