//! [`AgentOptions`]: the agent of a command, and [`ComposedAgent`], which is ready for a project.

use std::sync::Arc;

use autonoe_core::agent::{SessionField, ThinkingBudget};
use autonoe_core::gate::policy::Destructive;
use autonoe_core::project::{OpenProject, OpenProjectOptions, SandboxSwitch};
use autonoe_core::run::Models;
use autonoe_core::{AgentClientFactory, Mode, Project};

use crate::{
    AppError, BackendChoice, ChosenBackend, Env, ModelsFile, SessionSetup, load_config,
    sandbox_switch,
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

/// An agent that is ready for the sessions of a project.
pub struct ComposedAgent {
    pub backend: BackendChoice,
    pub agents: Arc<dyn AgentClientFactory>,
    pub setup: SessionSetup,
    /// The project with its mode, sandbox and configuration.
    pub project: OpenProjectOptions,
    /// Warnings about the project and the backend.
    pub warnings: Vec<String>,
}

impl AgentOptions {
    /// Returns the policy for destructive commands.
    pub fn destructive(&self) -> Destructive {
        if self.is_destructive {
            Destructive::Allowed
        } else {
            Destructive::Forbidden
        }
    }

    /// Returns whether the sandbox is on, by these options or by the environment.
    pub fn sandbox(&self, env: &Env) -> SandboxSwitch {
        sandbox_switch(self.no_sandbox, env)
    }

    pub fn models(&self) -> Models {
        Models {
            planning: self.plan_model.clone(),
            implementation: self.model.clone(),
        }
    }

    /// Returns the session fields that the options set.
    pub(crate) fn session_fields(&self) -> impl Iterator<Item = SessionField> {
        let names_model = self.model.is_some() || self.plan_model.is_some();
        let model = names_model.then_some(SessionField::Model);
        let thinking = self.thinking.map(|_| SessionField::Thinking);
        model.into_iter().chain(thinking)
    }

    /// Loads the configuration of `project`, and composes the agent for it.
    ///
    /// # Errors
    ///
    /// The configuration is invalid, or the backend cannot run with these options.
    pub fn compose(
        &self,
        project: &Project,
        mode: Mode,
        models: &ModelsFile,
        env: &Env,
    ) -> Result<ComposedAgent, AppError> {
        let config = load_config(project)?;
        let backend = ChosenBackend::select(self.backend.as_ref(), project, &config)?;
        let built = backend.build(project, &config, mode, self, models, env)?;
        Ok(ComposedAgent {
            backend: backend.choice,
            setup: SessionSetup::new(self, env).backend(&built),
            agents: built.agents,
            project: OpenProject::options(project)
                .mode(mode)
                .sandbox(self.sandbox(env))
                .destructive(self.destructive())
                .config(config),
            warnings: built.warnings,
        })
    }
}
