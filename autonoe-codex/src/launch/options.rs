//! What can be chosen about the program.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use autonoe_backend::Walls;
use autonoe_core::{AgentError, AgentErrorKind, InvalidValue, McpServer, SessionSpec};
use autonoe_process::find_program;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::native_program::native;
use crate::wire::Effort;

/// What can be chosen about the program, the same for all sessions.
///
/// What a [`SessionSpec`](autonoe_core::SessionSpec) says for itself, such as the model, wins over
/// what is said here.
///
/// ```
/// use autonoe_codex::{CodexOptions, CodexProvider};
///
/// let options = CodexOptions::new("/usr/local/bin/codex", [("PATH".into(), "/usr/bin".into())])
///     .with_model("gpt-5.5")
///     .with_provider(CodexProvider::new("https://api.openai.com/v1", "OPENAI_API_KEY"));
///
/// assert_eq!(options.model.as_deref(), Some("gpt-5.5"));
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct CodexOptions {
    /// The program: the native one, not the script that npm installs as `codex`, which leaves it
    /// running when it is killed.
    pub program: PathBuf,
    /// The environment that it starts with: at least `PATH`, and the key of the provider.
    ///
    /// Neither the program nor its tools get credentials from it, unless a session allows them
    /// ([`SessionSpec::credential_filter`](autonoe_core::SessionSpec)).
    pub environment: BTreeMap<OsString, OsString>,
    /// The model of sessions that name none; `None` leaves the choice to the program.
    pub model: Option<String>,
    /// How much the model thinks in sessions that do not say it; `None` leaves it to the program.
    pub effort: Option<Effort>,
    /// Where the model is; `None` is the service that the login is for.
    pub provider: Option<CodexProvider>,
    /// Where the program finds its login and its conversations.
    pub home: CodexHome,
    /// How the outer sandbox is made, for a run that has one. Without a network in it the program
    /// cannot ask its model.
    pub walls: Walls,
    /// MCP servers that every session has, by name.
    pub mcp_servers: BTreeMap<String, McpServer>,
    /// Where the temporary folders of sessions are made.
    pub temporary: PathBuf,
    /// How long the answer to a question about a call may take. Then the call is refused.
    pub answer_limit: Duration,
    /// How long the program may take to start.
    pub start_limit: Duration,
    /// How long the program may say nothing while it works.
    pub silence_limit: Duration,
}

impl CodexOptions {
    /// Makes the options for `program`, which starts with `environment`.
    pub fn new(
        program: impl Into<PathBuf>,
        environment: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Self {
        let environment: BTreeMap<_, _> = environment.into_iter().collect();
        Self {
            program: program.into(),
            model: None,
            effort: None,
            provider: None,
            home: CodexHome::default(),
            walls: Walls::found_on_path(&environment),
            mcp_servers: BTreeMap::new(),
            temporary: PathBuf::from("/tmp"),
            answer_limit: Duration::from_secs(60),
            start_limit: Duration::from_secs(120),
            silence_limit: Duration::from_secs(20 * 60),
            environment,
        }
    }

    /// Makes the options for the program `codex` that is found by `PATH` in `environment`: the
    /// native one, also if npm has put its script there.
    ///
    /// # Errors
    ///
    /// There is none.
    pub fn found_on_path(
        environment: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Result<Self, AgentError> {
        let mut options = Self::new("codex", environment);
        let path = options.environment.get(OsStr::new("PATH"));
        let found = path.and_then(|path| find_program("codex", path));
        options.program = found.map(native).ok_or_else(|| {
            AgentError::new(
                AgentErrorKind::NotAvailable,
                "the program codex is in no folder of PATH; install Codex, or say where it is",
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

    /// Sets how much the model thinks in sessions that do not say it.
    #[must_use]
    pub fn with_effort(mut self, effort: Effort) -> Self {
        self.effort = Some(effort);
        self
    }

    /// Sets where the model is.
    #[must_use]
    pub fn with_provider(mut self, provider: CodexProvider) -> Self {
        self.provider = Some(provider);
        self
    }

    /// Sets where the program finds its login and its conversations.
    #[must_use]
    pub fn with_home(mut self, home: CodexHome) -> Self {
        self.home = home;
        self
    }

    /// Sets how the outer sandbox is made.
    #[must_use]
    pub fn with_walls(mut self, walls: Walls) -> Self {
        self.walls = walls;
        self
    }

    /// Adds an MCP server that every session has.
    #[must_use]
    pub fn with_mcp_server(mut self, name: impl Into<String>, server: McpServer) -> Self {
        self.mcp_servers.insert(name.into(), server);
        self
    }

    /// Sets where the temporary folders of sessions are made.
    #[must_use]
    pub fn with_temporary(mut self, folder: impl Into<PathBuf>) -> Self {
        self.temporary = folder.into();
        self
    }

    /// Sets how long the program may say nothing while it works.
    #[must_use]
    pub fn with_silence_limit(mut self, limit: Duration) -> Self {
        self.silence_limit = limit;
        self
    }

    /// Refuses values with which no session could do anything.
    pub(crate) fn check_values(&self) -> Result<(), InvalidValue> {
        InvalidValue::check_model("with_model(..)", self.model.as_deref())?;
        for name in self.mcp_servers.keys() {
            InvalidValue::check_name("with_mcp_server(..)", name)?;
        }
        InvalidValue::check_time("with_silence_limit(0)", self.silence_limit)
    }
}

impl fmt::Debug for CodexOptions {
    // Environment and servers may hold secrets, so only their names are shown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CodexOptions")
            .field("program", &self.program)
            .field("environment", &self.environment.keys())
            .field("model", &self.model)
            .field("effort", &self.effort)
            .field("provider", &self.provider)
            .field("home", &self.home)
            .field("walls", &self.walls)
            .field("mcp_servers", &self.mcp_servers.keys())
            .finish_non_exhaustive()
    }
}

/// Where the program finds its login and its conversations.
///
/// Every session gets a home folder of its own (`CODEX_HOME`) with a configuration that Autonoe
/// writes: no `config.toml` of a person counts, because it could start servers and hooks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum CodexHome {
    /// Nothing comes from anywhere, and only what
    /// [`SessionSpec::conversations`](autonoe_core::SessionSpec::conversations) names is kept. The
    /// model needs a [provider](super::CodexProvider) then.
    #[default]
    PerSession,
    /// The login (`auth.json`) and the conversations (`sessions`) of this folder are those of the
    /// session. `CODEX_HOME=<folder> codex login` makes the login.
    Kept(PathBuf),
}

/// A service of models that speaks OpenAI's Responses API, and the key for it.
///
/// ```
/// use autonoe_codex::CodexProvider;
///
/// let provider = CodexProvider::new("https://api.openai.com/v1", "OPENAI_API_KEY");
///
/// assert_eq!(provider.key_variable, "OPENAI_API_KEY");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct CodexProvider {
    /// Where it is, up to what comes before `/responses`.
    pub base_url: String,
    /// The variable of the environment that has the key. Neither the program nor its commands get it
    /// in their environment.
    pub key_variable: String,
    /// How often the program tries again what failed; `None` leaves it to the program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_retries: Option<u32>,
}

impl CodexProvider {
    /// Makes a provider of where it is and of the variable that has the key.
    pub fn new(base_url: impl Into<String>, key_variable: impl Into<String>) -> Self {
        Self {
            base_url: base_url.into(),
            key_variable: key_variable.into(),
            max_retries: None,
        }
    }

    /// Limits how often the program tries again what failed.
    #[must_use]
    pub fn with_max_retries(mut self, retries: u32) -> Self {
        self.max_retries = Some(retries);
        self
    }
}

/// Returns `spec` with what `options` say filled in; what a session says for itself wins.
pub(crate) fn completed(options: &CodexOptions, mut spec: SessionSpec) -> SessionSpec {
    spec.model = spec.model.or_else(|| options.model.clone());
    for (name, server) in &options.mcp_servers {
        if !spec.mcp_servers.contains_key(name) {
            spec.mcp_servers.insert(name.clone(), server.clone());
            // The run may have left out an optional server of this name.
            spec.optional_servers.remove(name);
        }
    }
    spec
}
