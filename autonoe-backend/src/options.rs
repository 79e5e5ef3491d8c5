//! [`ProgramOptions`] that all backends around a program share, and validation of their values.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use autonoe_core::agent::AgentErrorKind;
use autonoe_core::event::InvalidValue;
use autonoe_core::spec::SpecError;
use autonoe_core::tool::McpServer;
use autonoe_core::{AgentError, SessionSpec};
use autonoe_process::find_program;

use crate::SandboxConfig;
use crate::launch::remove_abandoned_sessions;

/// Options of a program that are the same for all sessions.
///
/// A [`SessionSpec`] that names a model or an MCP server takes precedence.
///
/// ```
/// use autonoe_backend::ProgramOptions;
///
/// let mut options = ProgramOptions::new("/usr/bin/agent", [("API_KEY".into(), "secret".into())]);
/// options.model = Some("large".into());
///
/// assert!(!format!("{options:?}").contains("secret"));
/// ```
#[derive(Clone)]
pub struct ProgramOptions {
    /// The executable.
    pub path: PathBuf,
    /// The environment that it starts with: at least `PATH`, and the credentials.
    pub environment: BTreeMap<OsString, OsString>,
    /// The model of sessions that name none; `None` leaves the choice to the program.
    pub model: Option<String>,
    /// MCP servers that every session has, by name.
    pub mcp_servers: BTreeMap<String, McpServer>,
    /// The outer sandbox, for a run that has one.
    pub sandbox: SandboxConfig,
    /// The directory in which the temporary folders of sessions are created. The default is `/tmp`.
    pub temporary: PathBuf,
    /// The longest that the gate may take to decide about a call. Then the call is denied.
    pub answer_limit: Duration,
    /// The longest that the program may take to start.
    pub start_limit: Duration,
    /// The longest that the program may send nothing during a turn.
    pub silence_limit: Duration,
    /// Folders whose abandoned sessions were removed, with the prefix of their names.
    swept: Arc<Mutex<BTreeSet<(PathBuf, &'static str)>>>,
}

/// Fields that the specs of all such backends have. `None` keeps the default.
#[derive(Clone, Debug, Default)]
pub struct ProgramFields {
    /// The model of sessions that name none.
    pub model: Option<String>,
    /// The outer sandbox.
    pub sandbox: SandboxConfig,
    /// MCP servers that every session has, by name.
    pub mcp_servers: BTreeMap<String, McpServer>,
    /// The directory for the temporary folders of sessions.
    pub temporary: Option<PathBuf>,
    /// The maximum silence of the program during a turn, in seconds.
    pub silence_seconds: Option<u64>,
}

impl ProgramOptions {
    /// Creates the options of the program at `path`, which starts with `environment`.
    pub fn new(
        path: impl Into<PathBuf>,
        environment: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Self {
        let environment: BTreeMap<_, _> = environment.into_iter().collect();
        Self {
            path: path.into(),
            model: None,
            mcp_servers: BTreeMap::new(),
            sandbox: SandboxConfig::found_on_path(&environment),
            temporary: PathBuf::from("/tmp"),
            answer_limit: Duration::from_secs(60),
            start_limit: Duration::from_secs(120),
            silence_limit: Duration::from_secs(20 * 60),
            swept: Arc::default(),
            environment,
        }
    }

    /// Returns where `PATH` of the environment finds the program `name`, which comes with `product`.
    ///
    /// # Errors
    ///
    /// No folder of `PATH` has it.
    pub fn find(&self, name: &str, product: &str) -> Result<PathBuf, AgentError> {
        let path = self.environment.get(OsStr::new("PATH"));
        let found = path.and_then(|path| find_program(name, path));
        found.ok_or_else(|| {
            let message = format!(
                "the program {name} is not on PATH; install {product}, or add its folder to PATH"
            );
            AgentError::new(AgentErrorKind::NotAvailable, message)
        })
    }

    /// Refuses values with which no session could run.
    ///
    /// # Errors
    ///
    /// A name is blank, or a limit is zero.
    pub fn check_values(&self) -> Result<(), InvalidValue> {
        InvalidValue::check_model("program.model", self.model.as_deref())?;
        for name in self.mcp_servers.keys() {
            InvalidValue::check_name("program.mcp_servers", name)?;
        }
        InvalidValue::check_time("program.answer_limit", self.answer_limit)?;
        InvalidValue::check_time("program.start_limit", self.start_limit)?;
        InvalidValue::check_time("program.silence_limit", self.silence_limit)
    }

    /// Applies the fields of a spec.
    pub fn apply(&mut self, fields: ProgramFields) {
        self.model = fields.model;
        self.mcp_servers = fields.mcp_servers;
        let found_on_path = self.sandbox.bubblewrap.take();
        self.sandbox = fields.sandbox;
        self.sandbox.bubblewrap = self.sandbox.bubblewrap.take().or(found_on_path);
        if let Some(temporary) = fields.temporary {
            self.temporary = temporary;
        }
        if let Some(seconds) = fields.silence_seconds {
            self.silence_limit = Duration::from_secs(seconds);
        }
    }

    /// Removes the sessions of killed hosts whose folders have names with `prefix`, once for these
    /// options and their clones.
    pub(crate) async fn remove_abandoned_sessions(&self, prefix: &'static str) {
        let folder = (self.temporary.clone(), prefix);
        let is_first = {
            let mut swept = self.swept.lock().unwrap_or_else(PoisonError::into_inner);
            swept.insert(folder)
        };
        if is_first {
            remove_abandoned_sessions(&self.temporary, prefix).await;
        }
    }

    /// Adds the model and the MCP servers to a session that does not set them.
    pub fn complete(&self, spec: &mut SessionSpec) {
        if spec.model.is_none() {
            spec.model.clone_from(&self.model);
        }
        for (name, server) in &self.mcp_servers {
            if !spec.mcp_servers.contains_key(name) {
                spec.mcp_servers.insert(name.clone(), server.clone());
                // The run may have left out an optional server of this name.
                spec.optional_servers.remove(name);
            }
        }
    }
}

impl fmt::Debug for ProgramOptions {
    // Environment and servers may hold secrets, so only their names are shown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProgramOptions")
            .field("path", &self.path)
            .field("environment", &self.environment.keys())
            .field("model", &self.model)
            .field("mcp_servers", &self.mcp_servers.keys())
            .field("sandbox", &self.sandbox)
            .finish_non_exhaustive()
    }
}

/// Refuses a blank model in the spec with the tag `tag`.
///
/// # Errors
///
/// The name is blank.
pub fn check_model(tag: &str, model: Option<&str>) -> Result<(), SpecError> {
    match model {
        Some(model) if model.trim().is_empty() => Err(SpecError::new(
            tag,
            "model is blank; name one, or leave it out to use the program's default",
        )),
        _ => Ok(()),
    }
}

/// Refuses zero as the limit `field` of the spec with the tag `tag`.
///
/// # Errors
///
/// The limit is zero.
pub fn check_limit<N: Default + PartialEq>(
    tag: &str,
    field: &str,
    limit: Option<N>,
) -> Result<(), SpecError> {
    match limit {
        Some(limit) if limit == N::default() => Err(SpecError::new(
            tag,
            format!("{field} is 0, so nothing could run; give more, or leave it out"),
        )),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_with_which_nothing_could_run_are_refused_by_their_names() {
        let server: McpServer = serde_json::from_str(r#"{"command": "node"}"#).expect("a server");
        let options = ProgramOptions::new("/usr/bin/agent", []);
        assert!(options.check_values().is_ok());
        for (name, refused) in [
            (
                "program.model",
                ProgramOptions {
                    model: Some(" ".into()),
                    ..options.clone()
                },
            ),
            (
                "program.mcp_servers",
                ProgramOptions {
                    mcp_servers: [(String::new(), server)].into(),
                    ..options.clone()
                },
            ),
            (
                "program.answer_limit",
                ProgramOptions {
                    answer_limit: Duration::ZERO,
                    ..options.clone()
                },
            ),
            (
                "program.start_limit",
                ProgramOptions {
                    start_limit: Duration::ZERO,
                    ..options.clone()
                },
            ),
            (
                "program.silence_limit",
                ProgramOptions {
                    silence_limit: Duration::ZERO,
                    ..options
                },
            ),
        ] {
            let error = refused.check_values().expect_err(name);

            assert_eq!(error.call, name);
        }
    }

    #[test]
    fn fields_override_the_values_that_they_set() {
        let mut options = ProgramOptions::new("/usr/bin/agent", []);
        options.sandbox = SandboxConfig::new(Some("/usr/bin/bwrap".into()));
        let (silence_limit, temporary) = (options.silence_limit, options.temporary.clone());

        options.apply(ProgramFields::default());

        let unchanged = SandboxConfig::new(Some("/usr/bin/bwrap".into()));
        assert_eq!(options.sandbox, unchanged);
        assert_eq!(
            (options.silence_limit, &options.temporary),
            (silence_limit, &temporary)
        );

        let sandbox = SandboxConfig::new(Some("/opt/bwrap".into()));
        options.apply(ProgramFields {
            sandbox: sandbox.clone(),
            silence_seconds: Some(60),
            ..ProgramFields::default()
        });

        assert_eq!(options.sandbox, sandbox);
        assert_eq!(options.silence_limit, Duration::from_secs(60));
    }

    #[test]
    fn a_blank_model_and_a_limit_of_nothing_are_refused() {
        for (model, fits) in [(None, true), (Some("opus"), true), (Some(" "), false)] {
            assert_eq!(check_model("claude", model).is_ok(), fits, "{model:?}");
        }
        for (limit, fits) in [(None, true), (Some(1), true), (Some(0), false)] {
            assert_eq!(check_limit("claude", "maxTurns", limit).is_ok(), fits);
        }
        assert_eq!(
            check_limit("claude", "maxTurns", Some(0))
                .expect_err("zero")
                .reason(),
            "maxTurns is 0, so nothing could run; give more, or leave it out",
        );
    }
}
