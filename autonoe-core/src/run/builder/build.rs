//! Builds the runner, the sessions or the gate from what was set.

use std::sync::Arc;

use super::SessionRunnerBuilder;
use crate::domain::{InvalidValue, Workflow};
use crate::guard::built_in_guards;
use crate::port::{Gate, Grants, PreToolUseHook, RandomIds, Toolbox};
use crate::run::Sessions;
use crate::run::build_error::BuildError;
use crate::run::equipment::taken_name;
use crate::run::runner::{Parts, SessionRunner, Work};

impl SessionRunnerBuilder {
    /// Puts the runner together.
    ///
    /// # Errors
    ///
    /// A part is missing or does not fit.
    pub fn build(mut self) -> Result<SessionRunner, BuildError> {
        let (repository, instructions) = (self.repository.take(), self.instructions.take());
        let workflow = Workflow::new(self.limits.mode);
        let selector = self.instruction_selector.take();
        let parts = self.into_parts()?;
        let missing = |part| BuildError::Missing { part };
        Ok(SessionRunner {
            parts: Arc::new(parts),
            work: Work {
                repository: repository.ok_or(missing("repository"))?,
                instructions: instructions.ok_or(missing("instructions"))?,
                instruction_selector: selector.unwrap_or_else(|| Arc::new(workflow)),
            },
        })
    }

    /// Puts the parts together for a caller that decides by itself which session comes next.
    ///
    /// Instructions and their selector are not used there. Without a repository there is no ledger, and sessions have
    /// no deliverable tools. Of the limits, those of one session and the budget hold.
    ///
    /// # Errors
    ///
    /// A part is missing or does not fit.
    pub fn build_sessions(mut self) -> Result<Sessions, BuildError> {
        let repository = self.repository.take();
        Ok(Sessions::new(Arc::new(self.into_parts()?), repository))
    }

    /// Makes the gate that sessions of the run have, without tools of their own.
    ///
    /// It answers what a run would allow; no agent is needed for that.
    ///
    /// ```
    /// use autonoe_core::{SessionRunner, ToolCall, Verdict};
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
    /// # Ok::<(), autonoe_core::BuildError>(())
    /// # })?;
    /// # Ok::<(), autonoe_core::BuildError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The Bash policy cannot be made or is for another run, or a value makes no sense.
    pub fn build_gate(self) -> Result<Gate, BuildError> {
        self.check_values()?;
        let (guards, grants) = (self.all_guards()?, self.grants());
        let gate = Gate::new(self.project_paths, grants).with_time_limit(self.hook_time_limit)?;
        let gate = guards.into_iter().fold(gate, Gate::with_guard);
        Ok(self.hooks.into_iter().fold(gate, Gate::with_hook))
    }

    fn all_guards(&self) -> Result<Vec<Arc<dyn PreToolUseHook>>, BuildError> {
        let credentials = self.credentials.clone();
        let scope = self.project_paths.policy_scope(self.limits.mode);
        let judge = self.bash.judge(scope)?;
        let mut guards = built_in_guards(judge, &self.project_paths, credentials);
        guards.extend(self.guards.iter().cloned());
        Ok(guards)
    }

    fn grants(&self) -> Grants {
        Grants::baseline(self.limits.mode).with_rules(self.rules.iter().cloned())
    }

    /// Refuses values with which no run could do anything.
    fn check_values(&self) -> Result<(), InvalidValue> {
        let (limits, sessions) = (&self.limits, &self.session_limits);
        if limits.max_iterations == Some(0) {
            let reason = "it lets no session run; give at least 1, or leave it out for no limit";
            return Err(InvalidValue::new("max_iterations(0)", reason));
        }
        InvalidValue::check_turns("max_turns(0)", self.max_turns)?;
        InvalidValue::check_budget("budget(..)", &limits.budget)?;
        for model in [&self.models.planning, &self.models.implementation] {
            InvalidValue::check_model("models(..)", model.as_deref())?;
        }
        InvalidValue::check_backoff("quota_backoff(..)", &limits.quota_backoff)?;
        InvalidValue::check_time("hook_time_limit(0)", self.hook_time_limit)?;
        InvalidValue::check_time("idle_limit(0)", sessions.idle)?;
        InvalidValue::check_time("dispose_limit(0)", sessions.dispose)?;
        for name in self.mcp_servers.keys() {
            InvalidValue::check_name("mcp_server(..)", name)?;
        }
        for name in self.environment.keys() {
            InvalidValue::check_name("environment(..)", name)?;
        }
        Ok(())
    }

    fn into_parts(self) -> Result<Parts, BuildError> {
        self.check_values()?;
        if !self.project_paths.project.is_absolute() {
            return Err(BuildError::RelativeProject {
                path: self.project_paths.project,
            });
        }
        if let Some(name) = self
            .mcp_servers
            .keys()
            .find(|name| *name == Toolbox::SERVER)
        {
            return Err(BuildError::ReservedServerName { name: name.clone() });
        }
        if let Some(name) = taken_name(&self.tools) {
            return Err(BuildError::ReservedToolName { name });
        }
        let (guards, grants) = (self.all_guards()?, self.grants());
        let ids = match self.ids {
            Some(ids) => ids,
            None => Arc::new(RandomIds::new()?),
        };
        Ok(Parts {
            agents: self.agents.ok_or(BuildError::Missing { part: "agents" })?,
            clock: self.clock,
            ids,
            observers: self.observers,
            guards,
            hooks: self.hooks,
            hook_time_limit: self.hook_time_limit,
            grants,
            tools: self.tools,
            tool_data: self.tool_data,
            tool_server: self.tool_server,
            project_paths: self.project_paths,
            workspace: self.workspace,
            limits: self.limits,
            session_limits: self.session_limits,
            max_turns: self.max_turns,
            models: self.models,
            thinking: self.thinking,
            system_prompt: self.system_prompt,
            conversations: self.conversations,
            project_memory: self.project_memory,
            mcp_servers: self.mcp_servers,
            optional_servers: self.optional_servers,
            sandbox: self.sandbox,
            outer_sandbox: self.outer_sandbox,
            environment: self.environment,
            credential_filter: self.credential_filter,
            lock: self.lock,
            journal: self.journal,
            ledger_history: self.ledger_history,
            trace: self.trace,
            trace_content: self.trace_content,
        })
    }
}
