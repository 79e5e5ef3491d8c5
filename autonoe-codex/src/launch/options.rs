//! [`CodexOptions`], the same for all sessions.

use std::ffi::OsString;
use std::path::PathBuf;

use autonoe_backend::ProgramOptions;
use autonoe_core::AgentError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::StateTemplate;
use crate::Effort;
use crate::probe::resolve_native_program;

/// Options of Codex that are the same for all sessions.
///
/// A [`SessionSpec`](autonoe_core::SessionSpec) takes precedence.
///
/// ```
/// use autonoe_codex::{CodexOptions, CodexProvider};
///
/// let mut options = CodexOptions::new("/usr/local/bin/codex", [("PATH".into(), "/usr/bin".into())]);
/// options.program.model = Some("gpt-5.5".into());
/// options.provider = Some(CodexProvider::new("https://api.openai.com/v1", "OPENAI_API_KEY"));
/// ```
#[derive(Clone, Debug)]
pub struct CodexOptions {
    /// The program: the native one, not the script that npm installs as `codex`, which leaves the
    /// native one running when it is killed. Its environment needs at least `PATH`, and the key of
    /// the provider.
    ///
    /// Neither the program nor its tools get credentials from it, unless a session allows them
    /// ([`SessionSpec::credential_filter`](autonoe_core::SessionSpec)). Without a network in the
    /// outer sandbox it cannot reach its model.
    pub program: ProgramOptions,
    /// The reasoning effort of sessions that do not set it; `None` leaves it to the program.
    pub effort: Option<Effort>,
    /// The provider of the model; `None` is the service of the login.
    pub provider: Option<CodexProvider>,
    /// The source of the login and the conversations of the program.
    pub home: CodexHome,
    pub(crate) state_template: StateTemplate,
}

impl CodexOptions {
    /// Creates the options for `program`, which starts with `environment`.
    pub fn new(
        program: impl Into<PathBuf>,
        environment: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Self {
        Self {
            program: ProgramOptions::new(program, environment),
            effort: None,
            provider: None,
            home: CodexHome::default(),
            state_template: StateTemplate::default(),
        }
    }

    /// Creates the options for the program `codex` in the `PATH` of `environment`: the native one,
    /// even if `PATH` has the script of npm.
    ///
    /// # Errors
    ///
    /// The program is not found.
    pub fn found_on_path(
        environment: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Result<Self, AgentError> {
        let mut options = Self::new("codex", environment);
        options.program.path = resolve_native_program(options.program.find("codex", "Codex")?);
        Ok(options)
    }
}

/// The source of the program's login and conversations.
///
/// Every session has its own home folder (`CODEX_HOME`) with a configuration that Autonoe writes.
/// The user's `config.toml` is ignored, because it could start servers and hooks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum CodexHome {
    /// No login is used, and only the conversations in
    /// [`SessionSpec::conversations`](autonoe_core::SessionSpec::conversations) are kept. The model
    /// needs a [provider](super::CodexProvider).
    #[default]
    PerSession,
    /// The session uses the login (`auth.json`) and the conversations (`sessions`) of this folder.
    /// `CODEX_HOME=<folder> codex login` creates the login.
    Persistent(PathBuf),
}

/// A model service with OpenAI's Responses API, and its key.
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
    /// The address of the service, without `/responses`.
    pub base_url: String,
    /// The environment variable with the key. Neither the program nor its commands get it in their
    /// environment.
    pub key_variable: String,
    /// The maximum number of retries of a failed request; `None` leaves it to the program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_retries: Option<u32>,
}

impl CodexProvider {
    /// Creates a provider from its address and from the variable with the key.
    pub fn new(base_url: impl Into<String>, key_variable: impl Into<String>) -> Self {
        Self {
            base_url: base_url.into(),
            key_variable: key_variable.into(),
            max_retries: None,
        }
    }
}
