//! [`EffectiveConfig`], the merged configuration of a run.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use autonoe_security::{Destructive, PolicyConfig, Profile};

use super::explain::{format_sandbox, format_server};
use super::field_values::{command_problem, name_problem, variable_problem};
use super::fields::GUARDS;
use super::playwright::{self, PLAYWRIGHT, PLAYWRIGHT_MCP_TOOLS};
use super::servers::server_name_problem;
use super::strict::below;
use super::{
    AgentConfig, AllowCommandsConfig, ConfigError, ConfigErrorKind, ConfigLine, NamedBackend,
    SandboxSwitch, Source,
};
use crate::agent::{CredentialFilter, SessionField};
use crate::gate::{Grants, PermissionRule};
use crate::run::SessionRunnerBuilder;
use crate::spec::{HookSpec, SpecContext};
use crate::time::Mode;
use crate::tool::McpServer;

/// The merged configuration of a run: the security baseline, the built-in defaults, and the
/// additions of the project's [`AgentConfig`].
///
/// | setting | merge rule |
/// | --- | --- |
/// | permissions, tools, hooks | baseline and file |
/// | guards | always active |
/// | profiles | those of the file, otherwise all |
/// | commands | those of the file for the mode |
/// | variables with credentials | those of the file |
/// | MCP servers | the file has priority over the built-in browser |
/// | tools of the file's MCP servers | all in run mode, or those that rules of the file name |
/// | sandbox | the [`SandboxSwitch`], never the file |
/// | project memory | on, unless the file turns it off |
/// | backend | that of the file, unless the operator names one |
///
/// ```
/// use std::path::Path;
///
/// use autonoe_core::project::{AgentConfig, EffectiveConfig, SandboxSwitch};
/// use autonoe_core::Mode;
///
/// let text = r#"{"profile": "node", "mcpServers": {}}"#;
/// let config = AgentConfig::parse(text, Path::new(".autonoe/agent.json"))?;
///
/// let effective = EffectiveConfig::merge(Some(config), Mode::Run, SandboxSwitch::default())?;
///
/// assert!(effective.mcp_servers().is_empty());
/// assert!(effective.to_string().contains(".autonoe/agent.json:1"));
/// # Ok::<(), autonoe_core::project::ConfigError>(())
/// ```
#[derive(Clone)]
pub struct EffectiveConfig {
    config: AgentConfig,
    mode: Mode,
    sandbox: SandboxSwitch,
    grants: Grants,
    mcp_servers: BTreeMap<String, McpServer>,
    bash: PolicyConfig,
    credential_filter: CredentialFilter,
    lines: Vec<ConfigLine>,
}

impl EffectiveConfig {
    /// Merges the baseline of `mode` and the built-in defaults with `config`.
    ///
    /// # Errors
    ///
    /// A configuration that was created in code contains an invalid name; one that was read from a
    /// file has been checked.
    pub fn merge(
        config: Option<AgentConfig>,
        mode: Mode,
        sandbox: SandboxSwitch,
    ) -> Result<Self, ConfigError> {
        let mut merged = Self {
            config: config.unwrap_or_default(),
            mode,
            sandbox,
            grants: Grants::baseline(mode),
            mcp_servers: BTreeMap::new(),
            bash: PolicyConfig::default(),
            credential_filter: CredentialFilter::default(),
            lines: Vec::new(),
        };
        merged.add_line("sandbox", format_sandbox(sandbox), sandbox.source().into());
        if let Some((backend, source)) = merged.backend() {
            let name = backend.name().to_owned();
            merged.add_line("backend", name, source);
        }
        merged.explain_project_memory();
        merged.merge_bash()?;
        for rule in Grants::baseline(mode).rules() {
            merged.add_line("permissions.allow", rule.as_str(), Source::Baseline);
        }
        let allow = merged.config.permissions.allow.clone();
        merged.merge_rules("permissions.allow", "/permissions/allow", allow);
        merged.merge_environment()?;
        let tools = merged.config.allowed_tools.clone();
        merged.merge_rules("allowedTools", "/allowedTools", tools);
        merged.merge_servers()?;
        for guard in GUARDS {
            merged.add_line("hooks", guard, Source::Baseline);
        }
        for (index, hook) in merged.config.hooks.clone().iter().enumerate() {
            let source = merged.config.source(&format!("/hooks/{index}"));
            merged.add_line("hooks", hook.typetag_name(), source);
        }
        Ok(merged)
    }

    /// Sets whether `rm` and `mv` inside the project, `git clean` and `git push --force` are
    /// allowed. Only the caller can allow them, never the file.
    #[must_use]
    pub fn destructive(mut self, destructive: Destructive) -> Self {
        let text = match destructive {
            Destructive::Allowed => "allowed",
            Destructive::Forbidden => "forbidden",
        };
        self.lines.retain(|line| line.key != "destructive");
        self.add_line("destructive", text, Source::Program);
        self.bash.destructive = destructive;
        self
    }

    /// Returns the mode of the run.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Returns whether a sandbox is required, and the source of that setting.
    pub fn sandbox(&self) -> SandboxSwitch {
        self.sandbox
    }

    /// Returns all grants, including the baseline.
    pub fn grants(&self) -> &Grants {
        &self.grants
    }

    /// Returns the MCP servers of every session, without the server of the deliverable tools.
    pub fn mcp_servers(&self) -> &BTreeMap<String, McpServer> {
        &self.mcp_servers
    }

    /// Returns whether `server` is the built-in browser. If the browser cannot start, a run warns
    /// and continues without it; every other server is required.
    pub fn is_optional_server(&self, server: &str) -> bool {
        let listed = self.config.mcp_servers.as_ref();
        server == PLAYWRIGHT && listed.is_none_or(|listed| !listed.contains_key(server))
    }

    /// Returns the hooks that the configuration adds after the guards.
    pub fn hooks(&self) -> &[Arc<dyn HookSpec>] {
        &self.config.hooks
    }

    /// Returns the configuration of the project that was merged; an empty one if there was none.
    pub fn agent_config(&self) -> &AgentConfig {
        &self.config
    }

    /// Returns the backend that the file names, and its position.
    ///
    /// A run ignores it: the caller that creates the run chooses its agents.
    pub fn backend(&self) -> Option<(&NamedBackend, Source)> {
        let backend = self.config.backend.as_ref()?;
        Some((backend, self.config.source("/backend")))
    }

    /// Returns whether agents get the memory files of the project, such as `CLAUDE.md` or
    /// `AGENTS.md`.
    pub fn project_memory(&self) -> bool {
        self.config.project_memory.unwrap_or(true)
    }

    /// Returns the session fields that the configuration needs, except for the sandbox: whether a
    /// backend must have its own depends on the outer sandbox.
    ///
    /// ```
    /// use std::path::Path;
    ///
    /// use autonoe_core::agent::SessionField;
    /// use autonoe_core::project::{AgentConfig, EffectiveConfig, SandboxSwitch};
    /// use autonoe_core::{Capabilities, Mode};
    ///
    /// let text = r#"{"mcpServers": {"docs": {"command": "docs-server"}}}"#;
    /// let file = AgentConfig::parse(text, Path::new(".autonoe/agent.json"))?;
    /// let config = EffectiveConfig::merge(Some(file), Mode::Run, SandboxSwitch::default())?;
    /// assert_eq!(config.session_fields(), [SessionField::McpServers]);
    ///
    /// let refused = Capabilities::new("parrots").require(config.session_fields());
    /// assert!(refused.is_err());
    ///
    /// // Sessions can do without the built-in browser.
    /// let config = EffectiveConfig::merge(None, Mode::Run, SandboxSwitch::default())?;
    /// assert!(config.session_fields().is_empty());
    /// # Ok::<(), autonoe_core::project::ConfigError>(())
    /// ```
    pub fn session_fields(&self) -> Vec<SessionField> {
        let mut servers = self.mcp_servers.keys();
        let needs_servers = servers.any(|name| !self.is_optional_server(name));
        let servers = needs_servers.then_some(SessionField::McpServers);
        let memory = (!self.project_memory()).then_some(SessionField::ProjectMemory);
        servers.into_iter().chain(memory).collect()
    }

    /// Returns the configuration of the Bash policy. Its profiles are always listed.
    pub fn bash(&self) -> &PolicyConfig {
        &self.bash
    }

    /// Returns the filter that decides which credentials reach the agents' tools.
    pub fn credential_filter(&self) -> &CredentialFilter {
        &self.credential_filter
    }

    /// Returns a warning for each field of the file that has no effect; see
    /// [`AgentConfig::warnings`].
    pub fn warnings(&self) -> &[String] {
        self.config.warnings()
    }

    /// Returns every value with its source. `Display` shows the same.
    pub fn explain(&self) -> &[ConfigLine] {
        &self.lines
    }

    /// Applies mode, Bash policy, grants, hooks, MCP servers, credential filter, sandbox and
    /// project memory to a run.
    ///
    /// ```
    /// use autonoe_core::gate::ProjectPaths;
    /// use autonoe_core::project::{EffectiveConfig, SandboxSwitch};
    /// use autonoe_core::spec::SpecContext;
    /// use autonoe_core::{Mode, SessionRunner};
    ///
    /// let effective = EffectiveConfig::merge(None, Mode::Run, SandboxSwitch::default())?;
    /// let context = SpecContext::new(ProjectPaths::new("/srv/project"));
    ///
    /// let builder = effective.apply(SessionRunner::builder("/srv/project"), &context)?;
    /// # drop(builder);
    /// # Ok::<(), autonoe_core::project::ConfigError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// A hook cannot be built.
    pub fn apply(
        self,
        builder: SessionRunnerBuilder,
        context: &SpecContext,
    ) -> Result<SessionRunnerBuilder, ConfigError> {
        let mut builder = builder
            .mode(self.mode)
            .sandbox(self.sandbox.sandbox())
            .project_memory(self.project_memory())
            .credential_filter(self.credential_filter().clone())
            .bash_policy(self.bash().clone());
        // The runner adds the baseline itself, so that no caller can forget it.
        for rule in self.grants.rules() {
            builder = builder.grant(rule.clone());
        }
        for (index, spec) in self.config.hooks.iter().enumerate() {
            let hook = spec.build(context).map_err(|error| {
                let error = ConfigError::new(ConfigErrorKind::Hook, error.to_string())
                    .hint("fix the hook or remove it".to_owned());
                self.config.with_position(&format!("/hooks/{index}"), error)
            })?;
            builder = builder.hook(hook);
        }
        for (name, server) in &self.mcp_servers {
            builder = if self.is_optional_server(name) {
                builder.optional_mcp_server(name, server.clone())
            } else {
                builder.mcp_server(name, server.clone())
            };
        }
        Ok(builder)
    }

    fn add_line(&mut self, key: impl Into<String>, value: impl Into<String>, source: Source) {
        self.lines.push(ConfigLine::new(key, value, source));
    }

    fn explain_project_memory(&mut self) {
        let source = match self.config.project_memory {
            Some(_) => self.config.source("/projectMemory"),
            None => Source::Default,
        };
        let text = if self.project_memory() { "on" } else { "off" };
        self.add_line("projectMemory", text, source);
    }

    fn merge_bash(&mut self) -> Result<(), ConfigError> {
        let (profiles, source) = match &self.config.profile {
            Some(profiles) => (profiles.selected(), self.config.source("/profile")),
            None => (BTreeSet::from(Profile::ALL), Source::Default),
        };
        let names: Vec<&str> = profiles.iter().map(|profile| profile.name()).collect();
        let text = if names.is_empty() {
            "(none)".to_owned()
        } else {
            names.join(", ")
        };
        self.add_line("profile", text, source);
        self.bash.profiles = Some(profiles);
        if let Some(listed) = &self.config.allow_commands {
            self.bash.allow_commands = listed.into();
        }
        for (pointer, names) in self.mode_commands() {
            self.add_names("allowCommands", &pointer, &names, command_problem)?;
        }
        let targets = self.config.allow_pkill_targets.clone();
        let list = "/allowPkillTargets";
        self.add_names("allowPkillTargets", list, &targets, name_problem)?;
        self.bash.allow_pkill_targets.extend(targets);
        Ok(())
    }

    /// Returns the lists of commands that are allowed in this mode, with their pointers.
    fn mode_commands(&self) -> Vec<(String, Vec<String>)> {
        let list = |pointer: &str, names: &Vec<String>| (pointer.to_owned(), names.clone());
        match (&self.config.allow_commands, self.mode) {
            (None, _) | (Some(AllowCommandsConfig::RunOnly(_)), Mode::Sync) => Vec::new(),
            (Some(AllowCommandsConfig::RunOnly(names)), Mode::Run) => {
                vec![list("/allowCommands", names)]
            }
            (Some(AllowCommandsConfig::Tiered(tiers)), Mode::Run) => vec![
                list("/allowCommands/base", &tiers.base),
                list("/allowCommands/run", &tiers.run),
            ],
            (Some(AllowCommandsConfig::Tiered(tiers)), Mode::Sync) => vec![
                list("/allowCommands/base", &tiers.base),
                list("/allowCommands/sync", &tiers.sync),
            ],
        }
    }

    /// Adds a line for each of `names`, for which `problem` must return `None`.
    fn add_names(
        &mut self,
        key: &str,
        list: &str,
        names: &[String],
        problem: fn(&str) -> Option<&'static str>,
    ) -> Result<(), ConfigError> {
        for (index, name) in names.iter().enumerate() {
            let pointer = format!("{list}/{index}");
            if let Some(problem) = problem(name) {
                let message = format!("{name:?}: {problem}");
                return Err(self.invalid(&pointer, message));
            }
            let source = self.config.source(&pointer);
            self.add_line(key, name, source);
        }
        Ok(())
    }

    fn merge_environment(&mut self) -> Result<(), ConfigError> {
        let names = self.config.environment.allow.clone();
        let list = "/environment/allow";
        self.add_names("environment.allow", list, &names, variable_problem)?;
        let filter = CredentialFilter::default();
        self.credential_filter = names.into_iter().fold(filter, CredentialFilter::allow);
        Ok(())
    }

    fn merge_rules(&mut self, key: &str, list: &str, rules: Vec<PermissionRule>) {
        for (index, rule) in rules.into_iter().enumerate() {
            let source = self.config.source(&format!("{list}/{index}"));
            self.add_line(key, rule.as_str(), source);
            self.grants = std::mem::take(&mut self.grants).with_rule(rule);
        }
    }

    fn merge_servers(&mut self) -> Result<(), ConfigError> {
        let listed = self.config.mcp_servers.clone();
        if listed.as_ref().is_none_or(|servers| !servers.is_empty()) {
            self.add_server(PLAYWRIGHT.to_owned(), playwright::server(), Source::BuiltIn);
        }
        for (name, server) in listed.into_iter().flatten() {
            let pointer = below("/mcpServers", &name);
            if let Some(problem) = server_name_problem(&name) {
                return Err(self.invalid(&pointer, problem));
            }
            let source = self.config.source(&pointer);
            self.grant_server_tools(&name, &source);
            self.add_server(name, server, source);
        }
        if self.mcp_servers.contains_key(PLAYWRIGHT) {
            let grants = std::mem::take(&mut self.grants);
            self.grants = grants.with_rules(playwright::rules());
            for tool in PLAYWRIGHT_MCP_TOOLS {
                self.add_line("allowedTools", *tool, Source::BuiltIn);
            }
        }
        Ok(())
    }

    /// Grants all tools of a server of the file in run mode, unless a rule of the file names the
    /// server: then only the named tools are granted. The tools of the browser have their own list.
    fn grant_server_tools(&mut self, server: &str, source: &Source) {
        let config = &self.config;
        let mut rules = config.permissions.allow.iter().chain(&config.allowed_tools);
        let is_restricted = rules.any(|rule| names_server(rule, server));
        if is_restricted || server == PLAYWRIGHT || self.mode == Mode::Sync {
            return;
        }
        let all_tools = format!("mcp__{server}__*");
        self.grants = std::mem::take(&mut self.grants).with_tool(&all_tools);
        self.add_line("allowedTools", all_tools, source.clone());
    }

    /// Adds a server. A sync never has a browser, because it could change what it verifies.
    fn add_server(&mut self, name: String, server: McpServer, source: Source) {
        let key = format!("mcpServers.{name}");
        self.lines.retain(|line| line.key != key);
        if name == PLAYWRIGHT && self.mode == Mode::Sync {
            self.add_line(key, "(off in sync mode)", source);
            return;
        }
        self.add_line(key, format_server(&server), source);
        self.mcp_servers.insert(name, server);
    }

    fn invalid(&self, pointer: &str, message: String) -> ConfigError {
        let error = ConfigError::new(ConfigErrorKind::InvalidValue, message);
        self.config.with_position(pointer, error)
    }
}

/// Returns whether `rule` is about tools of `server`.
fn names_server(rule: &PermissionRule, server: &str) -> bool {
    let rest = rule.as_str().strip_prefix("mcp__");
    let rest = rest.and_then(|rest| rest.strip_prefix(server));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with("__"))
}
