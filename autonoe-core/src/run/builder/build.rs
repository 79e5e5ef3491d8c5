//! Builds the runner or the gate from a [`SessionRunnerBuilder`].

use std::sync::Arc;

use super::SessionRunnerBuilder;
use crate::event::InvalidValue;
use crate::gate::built_in_guards;
use crate::gate::{Gate, Grants, PreToolUseHook};
use crate::run::Workflow;
use crate::run::build_error::BuildError;
use crate::run::runner::{RunInputs, RunParts, SessionRunner};
use crate::run::session_setup::duplicate_tool_name;
use crate::time::RandomIds;
use crate::tool::Toolbox;

impl SessionRunnerBuilder {
    /// Builds the runner.
    ///
    /// # Errors
    ///
    /// A required part is missing, or a value is invalid.
    pub fn build(mut self) -> Result<SessionRunner, BuildError> {
        let (repository, instructions) = (self.repository.take(), self.instructions.take());
        let workflow = Workflow::new(self.settings.limits.mode);
        let selector = self.instruction_selector.take();
        let parts = self.into_parts()?;
        let missing = |part| BuildError::Missing { part };
        Ok(SessionRunner {
            parts: Arc::new(parts),
            work: RunInputs {
                repository: repository.ok_or(missing("repository"))?,
                instructions: instructions.ok_or(missing("instructions"))?,
                instruction_selector: selector.unwrap_or_else(|| Arc::new(workflow)),
            },
        })
    }

    /// Builds the gate of the run's sessions, without tools of their own.
    ///
    /// It shows which calls a run would allow; no agent is needed.
    ///
    /// ```
    /// use autonoe_core::gate::policy::Verdict;
    /// use autonoe_core::{SessionRunner, ToolCall};
    /// use serde_json::json;
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
    /// let gate = SessionRunner::builder("/srv/project")
    ///     .bash_security(|_: &str| Verdict::Allow)
    ///     .build_gate()?;
    ///
    /// let bash = |command: &str| {
    ///     ToolCall::new("Bash", json!({ "command": command })).in_dir("/srv/project")
    /// };
    /// assert!(gate.decide(&bash("ls")).await.is_allowed());
    /// assert!(!gate.decide(&bash("rm -r .autonoe")).await.is_allowed());
    /// # Ok::<(), autonoe_core::run::BuildError>(())
    /// # })?;
    /// # Ok::<(), autonoe_core::run::BuildError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The Bash policy is invalid or belongs to another run, or a value is invalid.
    pub fn build_gate(self) -> Result<Gate, BuildError> {
        self.check_values()?;
        let (guards, grants) = (self.all_guards()?, self.grants());
        let gate = Gate::new(self.settings.project_paths, grants)
            .with_time_limit(self.settings.hook_time_limit)?;
        let gate = guards.into_iter().fold(gate, Gate::with_guard);
        Ok(self.settings.hooks.into_iter().fold(gate, Gate::with_hook))
    }

    fn all_guards(&self) -> Result<Vec<Arc<dyn PreToolUseHook>>, BuildError> {
        let scope = self
            .settings
            .project_paths
            .policy_scope(self.settings.limits.mode);
        let validator = self.bash.validator(scope)?;
        let mut guards = built_in_guards(validator, &self.settings.project_paths);
        guards.extend(self.guards.iter().cloned());
        Ok(guards)
    }

    fn grants(&self) -> Grants {
        Grants::baseline(self.settings.limits.mode).with_rules(self.rules.iter().cloned())
    }

    /// Refuses values that would make every run useless.
    fn check_values(&self) -> Result<(), InvalidValue> {
        let (limits, sessions) = (&self.settings.limits, &self.settings.session_limits);
        if limits.max_iterations == Some(0) {
            let reason = "0 lets no session run; give at least 1, or leave it out for no limit";
            return Err(InvalidValue::new("max_iterations(0)", reason));
        }
        InvalidValue::check_turns("max_turns(0)", self.settings.max_turns)?;
        limits.budget.check("budget(..)")?;
        for model in [
            &self.settings.models.planning,
            &self.settings.models.implementation,
        ] {
            InvalidValue::check_model("models(..)", model.as_deref())?;
        }
        limits.quota_backoff.check("quota_backoff(..)")?;
        InvalidValue::check_time("hook_time_limit(0)", self.settings.hook_time_limit)?;
        InvalidValue::check_time("idle_limit(0)", sessions.idle)?;
        InvalidValue::check_time("dispose_limit(0)", sessions.dispose)?;
        for name in self.settings.mcp_servers.keys() {
            InvalidValue::check_name("mcp_server(..)", name)?;
        }
        for name in self.settings.environment.keys() {
            InvalidValue::check_name("environment(..)", name)?;
        }
        Ok(())
    }

    pub(crate) fn into_parts(self) -> Result<RunParts, BuildError> {
        self.check_values()?;
        if !self.settings.project_paths.project.is_absolute() {
            return Err(BuildError::RelativeProject {
                path: self.settings.project_paths.project,
            });
        }
        if let Some(name) = self
            .settings
            .mcp_servers
            .keys()
            .find(|name| *name == Toolbox::SERVER)
        {
            return Err(BuildError::ReservedServerName { name: name.clone() });
        }
        if let Some(name) = duplicate_tool_name(&self.settings.tools) {
            return Err(BuildError::ReservedToolName { name });
        }
        let (guards, grants) = (self.all_guards()?, self.grants());
        let ids = match self.ids {
            Some(ids) => ids,
            None => Arc::new(RandomIds::new()?),
        };
        Ok(RunParts {
            agents: self.agents.ok_or(BuildError::Missing { part: "agents" })?,
            ids,
            guards,
            grants,
            settings: self.settings,
        })
    }
}
