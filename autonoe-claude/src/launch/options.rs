//! Options of Claude Code, the same for all sessions.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use autonoe_backend::Walls;
use autonoe_core::{
    AgentError, AgentErrorKind, Budget, CostUsd, InvalidValue, McpServer, PermissionRule, Sandbox,
    ThinkingBudget,
};
use autonoe_process::find_program;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::probe::LoginCheck;
use crate::wire::PermissionMode;

/// What can be chosen about the program, the same for all sessions.
///
/// What a [`SessionSpec`](autonoe_core::SessionSpec) says for itself, such as the model,
/// wins over what is said here; of two limits the smaller counts.
///
/// ```
/// use std::time::Duration;
///
/// use autonoe_claude::{ClaudeOptions, ConfigFolder};
///
/// let options = ClaudeOptions::new("/usr/local/bin/claude", [("PATH".into(), "/usr/bin".into())])
///     .with_model("sonnet")
///     .with_max_turns(50)
///     .with_max_cost("2.50".parse()?)
///     .with_deny(["Read(~/.ssh/**)".parse()?])
///     .with_config(ConfigFolder::PerSession)
///     .with_silence_limit(Duration::from_secs(600));
///
/// assert_eq!(options.max_turns, Some(50));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct ClaudeOptions {
    /// The program.
    pub program: PathBuf,
    /// The environment that it starts with: at least `PATH` and `HOME`, and the credentials.
    ///
    /// Its tools do not get the credentials, unless a session allows them
    /// ([`SessionSpec::credential_filter`](autonoe_core::SessionSpec)).
    pub environment: BTreeMap<OsString, OsString>,
    /// The model of sessions that name none; `None` leaves the choice to the program.
    pub model: Option<String>,
    /// How much agents may think in sessions that do not say so.
    pub thinking: Option<ThinkingBudget>,
    /// How many turns a session may take.
    pub max_turns: Option<u32>,
    /// What a session may cost. It is looked at after each answer of the model, so the last one
    /// may go beyond it.
    pub max_cost: Option<CostUsd>,
    /// What the program does about calls that no hook decided about: it refuses them, or it is in
    /// plan mode. Other modes allow by themselves, and a session in them is not made.
    ///
    /// In plan mode build 2.1.325 refuses to write even what the gate allows; build 2.1.197 does not.
    pub permission_mode: PermissionMode,
    /// Whether the program keeps its commands in its own sandbox in every session, also in one
    /// that does not ask for it.
    ///
    /// It cannot be made inside of bubblewrap, so a session that asks for both is not made.
    pub own_sandbox: Sandbox,
    /// How the outer sandbox is made, for a run that has one. Without a network in it the program
    /// cannot ask its model.
    pub walls: Walls,
    /// The built-in tools that a session offers. `None` offers the base tools and every tool that
    /// a permission rule names. The gate decides about each call either way.
    pub tools: Option<Vec<String>>,
    /// Calls that Claude Code itself refuses, before it calls the gate.
    pub deny: Vec<PermissionRule>,
    /// MCP servers that every session has, by name.
    pub mcp_servers: BTreeMap<String, McpServer>,
    /// Which settings files of the project count.
    pub setting_sources: SettingSources,
    /// Where it keeps its login and conversations.
    pub config: ConfigFolder,
    /// When it is noticed that it is not logged in.
    pub login_check: LoginCheck,
    /// The directory that sessions work in, if it is known before the first one. A probe then
    /// refuses a path that the program cannot work in.
    pub directory: Option<PathBuf>,
    /// Where the temporary folders of sessions are made.
    pub temporary: PathBuf,
    /// How long the answer to a question about a tool may take. Then the call is refused.
    pub answer_limit: Duration,
    /// How long the program may take to start.
    pub start_limit: Duration,
    /// How long the program may say nothing while it works.
    pub silence_limit: Duration,
    /// How long background commands may run after the last turn. Then the session stops them:
    /// a server that an agent left running never exits by itself.
    pub background_grace: Duration,
}

impl ClaudeOptions {
    /// Makes the options for `program`, which starts with `environment`.
    pub fn new(
        program: impl Into<PathBuf>,
        environment: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Self {
        let environment: BTreeMap<_, _> = environment.into_iter().collect();
        Self {
            program: program.into(),
            model: None,
            thinking: None,
            max_turns: None,
            max_cost: None,
            permission_mode: PermissionMode::DontAsk,
            own_sandbox: Sandbox::Off,
            walls: Walls::found_on_path(&environment),
            tools: None,
            deny: Vec::new(),
            mcp_servers: BTreeMap::new(),
            setting_sources: SettingSources::default(),
            config: ConfigFolder::default(),
            login_check: LoginCheck::default(),
            directory: None,
            temporary: PathBuf::from("/tmp"),
            answer_limit: Duration::from_secs(60),
            start_limit: Duration::from_secs(120),
            silence_limit: Duration::from_secs(20 * 60),
            background_grace: Duration::from_secs(10),
            environment,
        }
    }

    /// Makes the options for the program `claude` that is found by `PATH` in `environment`.
    ///
    /// # Errors
    ///
    /// There is none.
    pub fn found_on_path(
        environment: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Result<Self, AgentError> {
        let mut options = Self::new("claude", environment);
        let path = options.environment.get(OsStr::new("PATH"));
        let found = path.and_then(|path| find_program("claude", path));
        options.program = found.ok_or_else(|| {
            AgentError::new(
                AgentErrorKind::NotAvailable,
                "the program claude is in no folder of PATH; install Claude Code, or say where it is",
            )
        })?;
        Ok(options)
    }

    /// Sets the model of sessions that name none.
    #[must_use]
    pub fn with_model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Sets how much agents may think in sessions that do not say so.
    #[must_use]
    pub fn with_thinking(mut self, thinking: ThinkingBudget) -> Self {
        self.thinking = Some(thinking);
        self
    }

    /// Limits the turns of a session.
    #[must_use]
    pub fn with_max_turns(mut self, turns: u32) -> Self {
        self.max_turns = Some(turns);
        self
    }

    /// Limits what a session may cost.
    #[must_use]
    pub fn with_max_cost(mut self, cost: CostUsd) -> Self {
        self.max_cost = Some(cost);
        self
    }

    /// Sets what the program does about calls that no hook decided about.
    #[must_use]
    pub fn with_permission_mode(mut self, mode: PermissionMode) -> Self {
        self.permission_mode = mode;
        self
    }

    /// Sets whether the program keeps its commands in its own sandbox in every session.
    #[must_use]
    pub fn with_own_sandbox(mut self, sandbox: Sandbox) -> Self {
        self.own_sandbox = sandbox;
        self
    }

    /// Sets how the outer sandbox is made.
    #[must_use]
    pub fn with_walls(mut self, walls: Walls) -> Self {
        self.walls = walls;
        self
    }

    /// Sets the built-in tools that a session offers.
    #[must_use]
    pub fn with_tools(mut self, tools: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.tools = Some(tools.into_iter().map(Into::into).collect());
        self
    }

    /// Sets the calls that Claude Code itself refuses.
    #[must_use]
    pub fn with_deny(mut self, rules: impl IntoIterator<Item = PermissionRule>) -> Self {
        self.deny = rules.into_iter().collect();
        self
    }

    /// Adds an MCP server that every session has.
    #[must_use]
    pub fn with_mcp_server(mut self, name: impl Into<String>, server: McpServer) -> Self {
        self.mcp_servers.insert(name.into(), server);
        self
    }

    /// Sets which settings files count.
    #[must_use]
    pub fn with_setting_sources(mut self, sources: SettingSources) -> Self {
        self.setting_sources = sources;
        self
    }

    /// Sets where the program keeps its login and conversations.
    #[must_use]
    pub fn with_config(mut self, config: ConfigFolder) -> Self {
        self.config = config;
        self
    }

    /// Sets when it is noticed that the program is not logged in.
    #[must_use]
    pub fn with_login_check(mut self, check: LoginCheck) -> Self {
        self.login_check = check;
        self
    }

    /// Sets where the temporary folders of sessions are made.
    #[must_use]
    pub fn with_temporary(mut self, folder: impl Into<PathBuf>) -> Self {
        self.temporary = folder.into();
        self
    }

    /// Sets how long the answer to a question about a tool may take.
    #[must_use]
    pub fn with_answer_limit(mut self, limit: Duration) -> Self {
        self.answer_limit = limit;
        self
    }

    /// Sets how long the program may take to start.
    #[must_use]
    pub fn with_start_limit(mut self, limit: Duration) -> Self {
        self.start_limit = limit;
        self
    }

    /// Sets how long the program may say nothing while it works.
    #[must_use]
    pub fn with_silence_limit(mut self, limit: Duration) -> Self {
        self.silence_limit = limit;
        self
    }

    /// Sets how long background commands may run after the last turn.
    #[must_use]
    pub fn with_background_grace(mut self, grace: Duration) -> Self {
        self.background_grace = grace;
        self
    }

    /// Refuses values with which no session could do anything.
    pub(crate) fn check_values(&self) -> Result<(), InvalidValue> {
        InvalidValue::check_model("with_model(..)", self.model.as_deref())?;
        InvalidValue::check_turns("with_max_turns(0)", self.max_turns)?;
        let budget = Budget {
            cost_usd: self.max_cost,
            ..Budget::default()
        };
        InvalidValue::check_budget("with_max_cost(0)", &budget)?;
        for name in self.mcp_servers.keys() {
            InvalidValue::check_name("with_mcp_server(..)", name)?;
        }
        InvalidValue::check_time("with_answer_limit(0)", self.answer_limit)?;
        InvalidValue::check_time("with_start_limit(0)", self.start_limit)?;
        InvalidValue::check_time("with_silence_limit(0)", self.silence_limit)
    }

    /// Returns the tools all of whose calls a rule refuses.
    pub(crate) fn refused_tools(&self) -> Vec<String> {
        let whole = |rule: &PermissionRule| {
            let rule = rule.as_str();
            rule.strip_suffix("(*)").unwrap_or(rule).to_owned()
        };
        self.deny.iter().map(whole).collect()
    }
}

impl fmt::Debug for ClaudeOptions {
    // Environment and servers may hold secrets, so only their names are shown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rules: Vec<_> = self.deny.iter().map(PermissionRule::as_str).collect();
        f.debug_struct("ClaudeOptions")
            .field("program", &self.program)
            .field("environment", &self.environment.keys())
            .field("model", &self.model)
            .field("permission_mode", &self.permission_mode)
            .field("max_turns", &self.max_turns)
            .field("max_cost", &self.max_cost)
            .field("own_sandbox", &self.own_sandbox)
            .field("walls", &self.walls)
            .field("tools", &self.tools)
            .field("deny", &rules)
            .field("mcp_servers", &self.mcp_servers.keys())
            .field("setting_sources", &self.setting_sources)
            .field("config", &self.config)
            .finish_non_exhaustive()
    }
}

/// Where the program keeps its login, its settings and its conversations.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ConfigFolder {
    /// Where the environment says: the login of the person who runs it is there.
    ///
    /// Its settings files count only as far as
    /// [`SettingSources`](super::SettingSources) says.
    #[default]
    OfTheUser,
    /// A fresh folder for each session, removed with it. The credentials must be in the
    /// environment then, and no conversation can be resumed.
    PerSession,
    /// This folder, which is kept.
    Kept(PathBuf),
}

/// Which settings files count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum SettingSources {
    /// None: no settings, no `CLAUDE.md`, no `.mcp.json`.
    #[default]
    None,
    /// Those of the project. Its hooks, its environment and its `CLAUDE.md` then apply.
    Project,
}

impl SettingSources {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Project => "project",
        }
    }
}
