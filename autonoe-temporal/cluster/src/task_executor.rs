//! Composes the executor that verifies a task in a folder, as a local fleet does.

use std::path::Path;

use autonoe_app::{
    AgentOptions, AppError, ChosenBackend, ModelsFile, SessionSetup, criteria_commands, error_chain,
};
use autonoe_core::event::TraceContext;
use autonoe_core::gate::ProjectPaths;
use autonoe_core::gate::policy::Destructive;
use autonoe_core::project::{AgentConfig, EffectiveConfig};
use autonoe_core::spec::SpecContext;
use autonoe_core::{Mode, Project, SessionRunner};
use autonoe_harness::AgentExecutor;

use crate::projects::Projects;

/// Returns an executor for the criteria of a task. Commands run in the sandbox of agents. Statements
/// are judged in a session that can change nothing, on the backend of the worker.
pub(crate) fn task_executor(
    projects: &Projects,
    folder: &Path,
    trace: Option<&TraceContext>,
) -> Result<AgentExecutor, AppError> {
    let (agent, env) = (&projects.agent, &projects.env);
    let project = Project::find(folder, None)?;
    let models = ModelsFile::load(&project)?.unwrap_or_default();
    let switch = agent.sandbox(env);
    let loaded = AgentConfig::load(project.config_path())?;
    let config =
        EffectiveConfig::merge(loaded, Mode::Run, switch)?.destructive(Destructive::Forbidden);
    let context = SpecContext::new(ProjectPaths::new(folder));
    // Validated here, because the sessions have no way to report an error.
    let applied = config
        .clone()
        .apply(SessionRunner::builder(folder), &context);
    applied.map_err(|error| AppError::failure(error_chain(&error)))?;
    let agent_config = config.agent_config();
    let backend = ChosenBackend::select(agent.backend.as_ref(), &project, agent_config)?;
    let options = AgentOptions {
        plan_model: None,
        ..agent.clone()
    };
    let built = backend.build(&project, agent_config, Mode::Run, &options, &models, env)?;
    let setup = SessionSetup::new(&options, env).backend(&built);
    let (telemetry, trace) = (projects.telemetry.clone(), trace.cloned());
    let root = folder.to_owned();
    let executor = AgentExecutor::new("cluster", built.agents, folder)
        .commands(criteria_commands(folder, &models, switch, env))
        .sessions(
            move |builder| match config.clone().apply(builder, &context) {
                Ok(builder) => telemetry.apply(setup.apply(builder), trace.clone()),
                // Without agents, no session starts.
                Err(_) => SessionRunner::builder(&root),
            },
        );
    let executor = match &agent.model {
        Some(model) => executor.model(model),
        None => executor,
    };
    Ok(executor.self_judging())
}
