//! [`ClaudeOptions`], the same for all sessions, and the default values of a session from them.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use autonoe_backend::ProgramOptions;
use autonoe_core::agent::{Sandbox, ThinkingBudget};
use autonoe_core::event::InvalidValue;
use autonoe_core::gate::PermissionRule;
use autonoe_core::{AgentError, Budget, CostUsd, SessionSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::git_excludes::UserExcludes;
use crate::ClaudePermissionMode;
use crate::probe::LoginCheck;

/// Options of Claude Code that are the same for all sessions.
///
/// A [`SessionSpec`](autonoe_core::SessionSpec) takes precedence; of two limits the smaller counts.
///
/// ```
/// use autonoe_claude::{ClaudeOptions, ConfigFolder};
///
/// let mut options = ClaudeOptions::new("/usr/local/bin/claude", [("PATH".into(), "/usr/bin".into())]);
/// options.program.model = Some("sonnet".into());
/// options.max_turns = Some(50);
/// options.max_cost = Some("2.50".parse()?);
/// options.deny = vec!["Read(~/.ssh/**)".parse()?];
/// options.config = ConfigFolder::PerSession;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct ClaudeOptions {
    /// The program. Its environment needs at least `PATH` and `HOME`.
    ///
    /// Its tools do not get the credentials in it, unless a session allows them
    /// ([`SessionSpec::credential_filter`](autonoe_core::SessionSpec)). Without a network in the
    /// outer sandbox it cannot reach its model.
    pub program: ProgramOptions,
    /// The thinking budget of sessions that do not set one.
    pub thinking: Option<ThinkingBudget>,
    /// The maximum number of turns of a session.
    pub max_turns: Option<u32>,
    /// The maximum cost of a session. The program checks it after each answer of the model, so the
    /// last one may exceed it.
    pub max_cost: Option<CostUsd>,
    /// The treatment of calls that no hook decided about: the program refuses them, or it is in
    /// plan mode. Other modes allow calls on their own, and a session in them is refused.
    ///
    /// In plan mode, build 2.1.325 refuses writes even if the gate allows them; build 2.1.197 does
    /// not.
    pub permission_mode: ClaudePermissionMode,
    /// Whether the program runs its commands in its own sandbox in every session, even if the
    /// session does not require it.
    ///
    /// This sandbox does not work inside of bubblewrap, so a session that requires both is refused.
    pub own_sandbox: Sandbox,
    /// The built-in tools that a session offers. `None` offers the base tools and every tool that
    /// a permission rule names. The gate decides about each call either way.
    pub tools: Option<Vec<String>>,
    /// Calls that Claude Code itself refuses, before it calls the gate.
    pub deny: Vec<PermissionRule>,
    /// The settings files of the project that apply.
    pub setting_sources: SettingSources,
    /// The folder with its login and conversations.
    pub config: ConfigFolder,
    /// Time at which a missing login is detected.
    pub login_check: LoginCheck,
    /// The directory that sessions work in, if it is known before the first one. A probe then
    /// refuses a path that the program cannot work in.
    pub directory: Option<PathBuf>,
    /// Time that background commands may run after the last turn. Then the session stops them:
    /// a server that an agent left running never exits by itself.
    pub background_grace: Duration,
    pub(crate) user_excludes: UserExcludes,
}

impl ClaudeOptions {
    /// Creates the options for `program`, which starts with `environment`.
    pub fn new(
        program: impl Into<PathBuf>,
        environment: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Self {
        Self {
            program: ProgramOptions::new(program, environment),
            thinking: None,
            max_turns: None,
            max_cost: None,
            permission_mode: ClaudePermissionMode::DontAsk,
            own_sandbox: Sandbox::Off,
            tools: None,
            deny: Vec::new(),
            setting_sources: SettingSources::default(),
            config: ConfigFolder::default(),
            login_check: LoginCheck::default(),
            directory: None,
            background_grace: Duration::from_secs(10),
            user_excludes: UserExcludes::default(),
        }
    }

    /// Creates the options for the program `claude` in the `PATH` of `environment`.
    ///
    /// # Errors
    ///
    /// The program is not found.
    pub fn found_on_path(
        environment: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Result<Self, AgentError> {
        let mut options = Self::new("claude", environment);
        options.program.path = options.program.find("claude", "Claude Code")?;
        Ok(options)
    }

    /// Refuses values with which no session could run.
    pub(crate) fn check_values(&self) -> Result<(), InvalidValue> {
        InvalidValue::check_turns("max_turns", self.max_turns)?;
        let budget = Budget {
            cost_usd: self.max_cost,
            ..Budget::default()
        };
        budget.check("max_cost")?;
        self.program.check_values()
    }

    /// Returns the tools all of whose calls a deny rule refuses.
    pub(crate) fn refused_tools(&self) -> Vec<String> {
        let whole = |rule: &PermissionRule| {
            let rule = rule.as_str();
            rule.strip_suffix("(*)").unwrap_or(rule).to_owned()
        };
        self.deny.iter().map(whole).collect()
    }
}

/// The folder with the program's login, settings and conversations.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ConfigFolder {
    /// The folder in the environment, with the login of the user.
    ///
    /// [`SettingSources`](super::SettingSources) determines which of its settings files apply.
    #[default]
    User,
    /// A fresh folder for each session, which is removed with the session. The credentials must be
    /// in the environment, and no conversation can be resumed.
    PerSession,
    /// This folder, which is kept.
    Persistent(PathBuf),
}

/// The settings files that apply.
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

/// Returns `spec` with the defaults of `options`.
///
/// Values of the session take precedence, but limits of the options stay in force: the smaller of
/// two budgets or numbers of turns counts, and a sandbox that the options require is always
/// required.
pub(crate) fn with_defaults(options: &ClaudeOptions, mut spec: SessionSpec) -> SessionSpec {
    options.program.complete(&mut spec);
    spec.thinking = spec.thinking.or(options.thinking);
    spec.max_turns = smaller(spec.max_turns, options.max_turns);
    spec.budget.cost_usd = smaller(spec.budget.cost_usd, options.max_cost);
    if options.own_sandbox == Sandbox::Required {
        spec.sandbox = Sandbox::Required;
    }
    spec
}

fn smaller<T: Ord>(one: Option<T>, other: Option<T>) -> Option<T> {
    [one, other].into_iter().flatten().min()
}

#[cfg(test)]
mod tests {
    use autonoe_core::agent::{OptionalServers, ThinkingBudget};
    use autonoe_core::gate::{Gate, Grants, ProjectPaths};
    use autonoe_core::time::SessionKey;
    use autonoe_core::tool::{McpServer, Toolbox};
    use autonoe_core::{CostUsd, RunId};

    use super::*;

    fn spec() -> SessionSpec {
        let key = SessionKey {
            run: RunId::new("run"),
            number: 1,
        };
        let gate = Gate::new(ProjectPaths::new("/srv/project"), Grants::none());
        let mut spec = SessionSpec::new(key, "/srv/project", gate, Toolbox::new([]));
        spec.sandbox = Sandbox::Off;
        spec
    }

    fn server(command: &str) -> McpServer {
        serde_json::from_value(serde_json::json!({"command": command})).expect("a server")
    }

    fn dollars(amount: &str) -> CostUsd {
        amount.parse().expect("an amount")
    }

    fn options() -> ClaudeOptions {
        let mut options = ClaudeOptions::new("claude", []);
        options.program.model = Some("sonnet".into());
        let servers = &mut options.program.mcp_servers;
        servers.insert("search".into(), server("of the options"));
        options.thinking = Some(ThinkingBudget::default());
        options.max_turns = Some(20);
        options.max_cost = Some(dollars("2"));
        options
    }

    #[test]
    fn a_session_without_values_gets_those_of_the_options() {
        let spec = with_defaults(&options(), spec());

        assert_eq!(spec.model.as_deref(), Some("sonnet"));
        assert_eq!(spec.thinking, Some(ThinkingBudget::default()));
        assert_eq!(spec.max_turns, Some(20));
        assert_eq!(spec.budget.cost_usd, Some(dollars("2")));
        assert_eq!(spec.mcp_servers["search"], server("of the options"));
        assert_eq!(spec.sandbox, Sandbox::Off);
    }

    #[test]
    fn a_server_of_the_options_is_required_even_if_the_session_lists_it_as_optional() {
        let mut requested = spec();
        requested.optional_servers = OptionalServers::from_iter(["search", "docs"]);

        let spec = with_defaults(&options(), requested);

        assert!(!spec.optional_servers.contains("search"));
        assert!(spec.optional_servers.contains("docs"));
    }

    #[test]
    fn values_of_a_session_take_precedence() {
        let mut requested = spec();
        requested.model = Some("opus".into());
        requested.max_turns = Some(5);
        requested.budget.cost_usd = Some(dollars("0.5"));
        requested
            .mcp_servers
            .insert("search".into(), server("of the session"));

        let spec = with_defaults(&options(), requested);

        assert_eq!(spec.model.as_deref(), Some("opus"));
        assert_eq!(spec.max_turns, Some(5));
        assert_eq!(spec.budget.cost_usd, Some(dollars("0.5")));
        assert_eq!(spec.mcp_servers["search"], server("of the session"));
    }

    #[test]
    fn a_limit_of_the_options_stays_one() {
        let mut requested = spec();
        requested.max_turns = Some(50);
        requested.budget.cost_usd = Some(dollars("9"));

        let mut options = options();
        options.own_sandbox = Sandbox::Required;

        let spec = with_defaults(&options, requested);

        assert_eq!(spec.max_turns, Some(20));
        assert_eq!(spec.budget.cost_usd, Some(dollars("2")));
        assert_eq!(spec.sandbox, Sandbox::Required);
    }
}
