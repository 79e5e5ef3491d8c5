//! [`AcpOptions`] of an agent, the same for all sessions.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use autonoe_backend::ProgramOptions;
use autonoe_core::AgentError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::events::Dialect;

/// Variables with the credentials of Gemini CLI, which its tools do not need.
pub(super) const GEMINI_KEYS: [&str; 3] =
    [API_KEY, "GOOGLE_API_KEY", "GOOGLE_APPLICATION_CREDENTIALS"];

/// The variable with the API key.
pub(super) const API_KEY: &str = "GEMINI_API_KEY";

/// Options of an agent that are the same for all sessions.
///
/// A [`SessionSpec`](autonoe_core::SessionSpec) takes precedence.
///
/// ```
/// use autonoe_acp::{AcpOptions, HomeFolder};
///
/// let environment = [("PATH".into(), "/usr/bin".into())];
/// let mut options = AcpOptions::new("goose", "/usr/bin/goose", environment);
/// options.args = vec!["acp".into()];
/// options.model_argument = Some("--model".into());
/// options.home = HomeFolder::Persistent("/var/lib/goose".into());
/// ```
#[derive(Clone)]
pub struct AcpOptions {
    /// The name of the agent in reports.
    pub name: String,
    /// The program. Its environment needs at least `PATH`, and the credentials.
    ///
    /// The agent gets only the credentials of `key_variables` and those that a session allows
    /// ([`SessionSpec::credential_filter`](autonoe_core::SessionSpec)).
    ///
    /// Most agents are silent while a tool runs, so the silence limit must be longer than the
    /// longest tool call.
    pub program: ProgramOptions,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Variables with the credentials of the agent itself. Most agents pass them to their tools.
    ///
    /// By default these are the keys of known model services.
    pub key_variables: Vec<String>,
    /// The argument before the name of a model. The protocol has no field for models, so without
    /// this argument a session that names a model is refused.
    pub model_argument: Option<OsString>,
    /// The home folder with its login and conversations.
    pub home: HomeFolder,
    /// Time that the agent must be silent after `session/load` before a session sends its first
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

/// Knowledge about an agent beyond the protocol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Preset {
    /// None.
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
    /// Creates the options for the agent `name`, whose `program` starts with `environment`.
    pub fn new(
        name: impl Into<String>,
        program: impl Into<PathBuf>,
        environment: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Self {
        Self {
            name: name.into(),
            program: ProgramOptions::new(program, environment),
            args: Vec::new(),
            model_argument: None,
            home: HomeFolder::default(),
            history_limit: Duration::from_millis(500),
            preset: Preset::Plain,
            key_variables: MODEL_KEYS.map(str::to_owned).into(),
        }
    }

    /// Creates the options for Gemini CLI: the program `node`, and its `script` `gemini.js`.
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

    /// Creates the options for the Gemini CLI in the `PATH` of `environment`.
    ///
    /// # Errors
    ///
    /// Gemini CLI is not found, or Node.js to run it is not.
    pub fn gemini_on_path(
        environment: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Result<Self, AgentError> {
        let mut options = Self::gemini("node", "gemini", environment);
        options.program.path = options.program.find("node", "Node.js")?;
        let script = options.program.find("gemini", "Gemini CLI")?;
        // It is a symlink to the script in its package.
        options.args[0] = script.canonicalize().unwrap_or(script).into();
        Ok(options)
    }

    /// Returns the package of the script of a known agent.
    pub(crate) fn package(&self) -> Option<PathBuf> {
        let script = match self.preset {
            Preset::Plain => None,
            Preset::Gemini => self.args.first().map(Path::new),
        };
        let package = script.and_then(Path::parent).and_then(Path::parent);
        package.map(Path::to_owned)
    }
}

impl fmt::Debug for AcpOptions {
    // Arguments may hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AcpOptions")
            .field("name", &self.name)
            .field("program", &self.program)
            .field("home", &self.home)
            .finish_non_exhaustive()
    }
}

/// The home folder (`HOME`) with an agent's login, settings and conversations.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum HomeFolder {
    /// The home in the environment, with the login of the user.
    ///
    /// In an outer sandbox it is read-only.
    #[default]
    User,
    /// A fresh folder for each session, which is removed with the session. The credentials must be
    /// in the environment, and no conversation can be resumed.
    PerSession,
    /// This folder, which is kept. It is writable in an outer sandbox as well.
    Persistent(PathBuf),
}
