//! Options of an ACP agent.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use autonoe_backend::Walls;
use autonoe_core::{AgentError, AgentErrorKind, InvalidValue, McpServer};
use autonoe_process::find_program;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::gemini::GEMINI_KEYS;
use crate::events::Dialect;

/// What can be chosen about an agent, the same for all sessions.
///
/// What a [`SessionSpec`](autonoe_core::SessionSpec) says for itself, such as the model, wins over
/// what is said here.
///
/// ```
/// use autonoe_acp::{AcpOptions, HomeFolder};
///
/// let environment = [("PATH".into(), "/usr/bin".into())];
/// let options = AcpOptions::new("goose", "/usr/bin/goose", environment)
///     .with_args(["acp"])
///     .with_model_argument("--model")
///     .with_home(HomeFolder::Kept("/var/lib/goose".into()));
///
/// assert_eq!(options.args, ["acp"]);
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct AcpOptions {
    /// Names the agent in reports.
    pub name: String,
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// The environment that it starts with: at least `PATH`, and the credentials.
    ///
    /// Of its credentials, the agent gets only those of `key_variables` and those that a session
    /// allows ([`SessionSpec::credential_filter`](autonoe_core::SessionSpec)).
    pub environment: BTreeMap<OsString, OsString>,
    /// Variables with the credentials of the agent itself. Most agents pass them to their tools.
    ///
    /// By default these are the keys of known model services.
    pub key_variables: Vec<String>,
    /// The model of sessions that name none; `None` leaves the choice to the agent.
    pub model: Option<String>,
    /// The argument before the name of a model. The protocol has no word for models, so without
    /// it a session that names one is not made.
    pub model_argument: Option<OsString>,
    /// MCP servers that every session has, by name.
    pub mcp_servers: BTreeMap<String, McpServer>,
    /// Where it keeps its login and conversations.
    pub home: HomeFolder,
    /// How the outer sandbox is made, for a run that has one.
    pub walls: Walls,
    /// Where the temporary folders of sessions are made.
    pub temporary: PathBuf,
    /// How long the answer to a question about a tool may take. Then the call is refused.
    pub answer_limit: Duration,
    /// How long the program may take to start.
    pub start_limit: Duration,
    /// How long it may say nothing while it works. Most agents are silent while a tool runs.
    pub silence_limit: Duration,
    /// How long the agent must be silent after `session/load` before a session sends its first
    /// prompt. Some agents send the messages of the loaded conversation after their answer to
    /// `session/load`. The default is 500 milliseconds.
    pub history_limit: Duration,
    pub(crate) preset: Preset,
}

/// Variables with the keys of known model services.
const MODEL_KEYS: [&str; 13] = [
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CODEX_API_KEY",
    "DEEPSEEK_API_KEY",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "GROQ_API_KEY",
    "MISTRAL_API_KEY",
    "OPENAI_API_KEY",
    "OPENROUTER_API_KEY",
    "XAI_API_KEY",
];

/// What is known of an agent beside the protocol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Preset {
    /// Nothing.
    #[default]
    Plain,
    /// It is Gemini CLI.
    Gemini,
}

impl Preset {
    pub(crate) fn dialect(self) -> Dialect {
        match self {
            Self::Plain => Dialect::Plain,
            Self::Gemini => Dialect::Gemini,
        }
    }
}

impl AcpOptions {
    /// Makes the options for the agent `name`, whose `program` starts with `environment`.
    pub fn new(
        name: impl Into<String>,
        program: impl Into<PathBuf>,
        environment: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Self {
        let environment: BTreeMap<_, _> = environment.into_iter().collect();
        Self {
            name: name.into(),
            program: program.into(),
            args: Vec::new(),
            model: None,
            model_argument: None,
            mcp_servers: BTreeMap::new(),
            home: HomeFolder::default(),
            walls: Walls::found_on_path(&environment),
            temporary: PathBuf::from("/tmp"),
            answer_limit: Duration::from_secs(60),
            start_limit: Duration::from_secs(120),
            silence_limit: Duration::from_secs(20 * 60),
            history_limit: Duration::from_millis(500),
            preset: Preset::Plain,
            key_variables: MODEL_KEYS.map(str::to_owned).into(),
            environment,
        }
    }

    /// Makes the options for Gemini CLI: the program `node`, and its `script` `gemini.js`.
    ///
    /// Each session has a fresh home, so the key must be in the environment.
    ///
    /// ```
    /// use autonoe_acp::AcpOptions;
    ///
    /// let environment = [("GEMINI_API_KEY".into(), "secret".into())];
    /// let options = AcpOptions::gemini("/usr/bin/node", "/opt/gemini/bundle/gemini.js", environment);
    ///
    /// assert_eq!(options.name, "gemini");
    /// assert!(!format!("{options:?}").contains("secret"));
    /// ```
    pub fn gemini(
        node: impl Into<PathBuf>,
        script: impl Into<PathBuf>,
        environment: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Self {
        let mut options = Self::new("gemini", node, environment);
        options.args = vec![script.into().into(), "--acp".into()];
        options.model_argument = Some("--model".into());
        options.home = HomeFolder::PerSession;
        options.preset = Preset::Gemini;
        options.key_variables = GEMINI_KEYS.map(str::to_owned).into();
        options
    }

    /// Makes the options for the Gemini CLI that is found by `PATH` in `environment`.
    ///
    /// # Errors
    ///
    /// There is none, or no Node.js to run it.
    pub fn gemini_on_path(
        environment: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Result<Self, AgentError> {
        let environment: BTreeMap<_, _> = environment.into_iter().collect();
        let find = |name: &str| {
            on_path(name, &environment).ok_or_else(|| {
                let message = format!("the program {name} is in no folder of PATH");
                AgentError::new(AgentErrorKind::NotAvailable, message)
                    .with_remedy("install Node.js and Gemini CLI, or say where they are")
            })
        };
        let (node, script) = (find("node")?, find("gemini")?);
        // It is a link to the script in its package.
        let script = script.canonicalize().unwrap_or(script);
        Ok(Self::gemini(node, script, environment))
    }

    /// Sets the arguments.
    #[must_use]
    pub fn with_args(mut self, args: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        self.args = args.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the model of sessions that name none.
    #[must_use]
    pub fn with_model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Sets the argument before the name of a model.
    #[must_use]
    pub fn with_model_argument(mut self, argument: impl Into<OsString>) -> Self {
        self.model_argument = Some(argument.into());
        self
    }

    /// Sets the variables with the credentials of the agent itself.
    #[must_use]
    pub fn with_key_variables(
        mut self,
        names: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        self.key_variables = names.into_iter().map(Into::into).collect();
        self
    }

    /// Adds an MCP server to every session.
    #[must_use]
    pub fn with_mcp_server(mut self, name: impl Into<String>, server: McpServer) -> Self {
        self.mcp_servers.insert(name.into(), server);
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

    /// Sets where the agent keeps its login and conversations.
    #[must_use]
    pub fn with_home(mut self, home: HomeFolder) -> Self {
        self.home = home;
        self
    }

    /// Sets how the outer sandbox is made.
    #[must_use]
    pub fn with_walls(mut self, walls: Walls) -> Self {
        self.walls = walls;
        self
    }

    /// Sets where the temporary folders of sessions are made.
    #[must_use]
    pub fn with_temporary(mut self, folder: impl Into<PathBuf>) -> Self {
        self.temporary = folder.into();
        self
    }

    /// Sets how long the agent may say nothing while it works.
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
        InvalidValue::check_time("with_answer_limit(0)", self.answer_limit)?;
        InvalidValue::check_time("with_start_limit(0)", self.start_limit)?;
        InvalidValue::check_time("with_silence_limit(0)", self.silence_limit)
    }

    /// Returns the package of a script that we know.
    pub(crate) fn package(&self) -> Option<PathBuf> {
        let script = match self.preset {
            Preset::Plain => None,
            Preset::Gemini => self.args.first().map(Path::new),
        };
        let package = script.and_then(Path::parent).and_then(Path::parent);
        package.map(Path::to_owned)
    }

    /// Returns the MCP servers of a session with `others`.
    pub(crate) fn servers(
        &self,
        others: &BTreeMap<String, McpServer>,
    ) -> BTreeMap<String, McpServer> {
        let mut servers = self.mcp_servers.clone();
        servers.extend(others.clone());
        servers
    }
}

fn on_path(name: &str, environment: &BTreeMap<OsString, OsString>) -> Option<PathBuf> {
    find_program(name, environment.get(OsStr::new("PATH"))?)
}

impl fmt::Debug for AcpOptions {
    // Arguments, environment and servers may hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AcpOptions")
            .field("name", &self.name)
            .field("program", &self.program)
            .field("environment", &self.environment.keys())
            .field("model", &self.model)
            .field("mcp_servers", &self.mcp_servers.keys())
            .field("home", &self.home)
            .field("walls", &self.walls)
            .finish_non_exhaustive()
    }
}

/// Where an agent keeps its login, its settings and its conversations: its `HOME`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum HomeFolder {
    /// Where the environment says: the login of the person who runs it is there.
    ///
    /// In an outer sandbox it can be read and not written.
    #[default]
    OfTheUser,
    /// A fresh folder for each session, removed with it. The credentials must be in the
    /// environment then, and no conversation can be resumed.
    PerSession,
    /// This folder, which is kept, and can be written in an outer sandbox as well.
    Kept(PathBuf),
}
