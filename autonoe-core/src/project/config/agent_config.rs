//! The configuration file as typed values.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::check::check;
use super::cursor::Cursor;
use super::document::{Document, read};
use super::hook_schema::hooks_schema;
use super::{ConfigError, ConfigErrorKind, NamedBackend, Profiles, Source};
use crate::port::{HookSpec, McpServer, PermissionRule};
use crate::project::json_words::placeless_complaint;

/// What agents may do in a project, beyond the security baseline: `.autonoe/agent.json`.
///
/// A file only adds: no value in it removes a rule, a hook or a guard of the
/// baseline, or touches the sandbox. A broken file is an error and is never
/// ignored. An unknown field at the top is ignored with a warning, unless its
/// name resembles a field that restricts agents, or a restriction of another kind.
///
/// ```
/// use std::path::Path;
///
/// use autonoe_core::{AgentConfig, Profile};
///
/// let text = r#"{
///     "profile": ["node", "python"],
///     "allowCommands": ["docker"],
///     "permissions": {"allow": ["WebFetch(domain:docs.rs)"]},
///     "allowedTools": ["Task"]
/// }"#;
///
/// let config = AgentConfig::parse(text, Path::new(".autonoe/agent.json"))?;
///
/// let profiles = config.profile.expect("two are chosen").selected();
/// assert!(profiles.contains(&Profile::Node) && !profiles.contains(&Profile::Go));
/// # Ok::<(), autonoe_core::ConfigError>(())
/// ```
#[derive(Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[non_exhaustive]
pub struct AgentConfig {
    /// The schema of this file, for editors. It is not looked at.
    // Each `with` below keeps null out of the schema: a field is there, or it is left out.
    #[serde(rename = "$schema", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub schema: Option<String>,
    /// The languages whose commands agents may run: one, or a list. All of them by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Profiles")]
    pub profile: Option<Profiles>,
    /// Commands that agents may run besides: a list for run mode, or lists by mode.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "AllowCommandsConfig")]
    pub allow_commands: Option<AllowCommandsConfig>,
    /// Processes that agents may end with pkill, beside those of the profiles.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allow_pkill_targets: Vec<String>,
    /// What agents are granted beyond the baseline.
    #[serde(skip_serializing_if = "Permissions::is_empty")]
    pub permissions: Permissions,
    /// Credentials in the environment that reach the agents' tools.
    #[serde(skip_serializing_if = "EnvironmentConfig::is_empty")]
    pub environment: EnvironmentConfig,
    /// Tools that agents may use besides, by name: Task, mcp__server__tool, mcp__server__*.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<String>")]
    pub allowed_tools: Vec<PermissionRule>,
    /// MCP servers by name. Left out: the built-in browser. Empty: none. Else these and
    /// the built-in browser, which the name playwright replaces. In run mode, agents may use all
    /// tools of a server here, unless permissions or allowedTools name some of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "BTreeMap<String, McpServer>")]
    pub mcp_servers: Option<BTreeMap<String, McpServer>>,
    /// Hooks that look at tool calls, behind the guards.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "hooks_schema")]
    pub hooks: Vec<Arc<dyn HookSpec>>,
    /// Whether agents get the memory files of the project, such as CLAUDE.md, AGENTS.md or
    /// GEMINI.md. They do by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "bool")]
    pub project_memory: Option<bool>,
    /// What runs the agents, unless whoever starts a run names another backend: a short name, or
    /// a spec. What agents are kept in cannot be said here.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "NamedBackend")]
    pub backend: Option<NamedBackend>,
    /// The text that this was read from; none when it was made in code.
    #[serde(skip)]
    document: Option<Arc<Document>>,
    #[serde(skip)]
    warnings: Vec<String>,
}

/// What agents are granted beyond the baseline.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Permissions {
    /// Permission rules.
    pub allow: Vec<PermissionRule>,
}

impl Permissions {
    fn is_empty(&self) -> bool {
        self.allow.is_empty()
    }
}

/// Credentials in the environment that reach the agents' tools.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct EnvironmentConfig {
    /// Names of variables that agents' tools get although they look like credentials: `NPM_TOKEN`.
    /// A `*` matches any text.
    pub allow: Vec<String>,
}

impl EnvironmentConfig {
    fn is_empty(&self) -> bool {
        self.allow.is_empty()
    }
}

/// Commands that agents may run beside those of the profiles.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "AllowCommands")]
pub enum AllowCommandsConfig {
    /// In run mode only.
    RunOnly(Vec<String>),
    /// By mode.
    Tiered(TieredCommandsConfig),
}

/// Commands by mode.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "TieredCommands")]
pub struct TieredCommandsConfig {
    /// In both modes.
    pub base: Vec<String>,
    /// In run mode.
    pub run: Vec<String>,
    /// In sync mode.
    pub sync: Vec<String>,
}

impl From<&AllowCommandsConfig> for autonoe_security::AllowCommands {
    fn from(listed: &AllowCommandsConfig) -> Self {
        let set = |names: &Vec<String>| names.iter().cloned().collect();
        match listed {
            AllowCommandsConfig::RunOnly(names) => Self::List(set(names)),
            AllowCommandsConfig::Tiered(TieredCommandsConfig { base, run, sync }) => {
                Self::Tiered(autonoe_security::TieredCommands {
                    base: set(base),
                    run: set(run),
                    sync: set(sync),
                })
            }
        }
    }
}

impl AgentConfig {
    /// Reads a configuration from `text`; `file` is where it came from, for messages.
    ///
    /// # Errors
    ///
    /// The text is not JSON, or says something that is not understood.
    pub fn parse(text: &str, file: &Path) -> Result<Self, ConfigError> {
        let document = Document::parse(text, file)?;
        let ignored = check(&Cursor::root(&document))?;
        let invalid = |error: serde_json::Error| {
            let error =
                ConfigError::new(ConfigErrorKind::InvalidValue, placeless_complaint(&error));
            document.at_value("", error)
        };
        let mut fields: Map<String, Value> =
            serde_json::from_str(&document.text).map_err(invalid)?;
        for field in &ignored {
            fields.remove(&field.name);
        }
        let config: Self = serde_json::from_value(Value::Object(fields)).map_err(invalid)?;
        Ok(Self {
            document: Some(Arc::new(document)),
            warnings: ignored.into_iter().map(|field| field.warning).collect(),
            ..config
        })
    }

    /// Returns a warning for each field of the file that has no effect, with its place and a
    /// suggestion. Show them to the operator.
    ///
    /// ```
    /// use std::path::Path;
    ///
    /// use autonoe_core::AgentConfig;
    ///
    /// let text = r#"{"sandbox": {"enabled": false}}"#;
    /// let config = AgentConfig::parse(text, Path::new(".autonoe/agent.json"))?;
    ///
    /// assert_eq!(
    ///     config.warnings(),
    ///     [".autonoe/agent.json:1:2: /sandbox: the unknown field `sandbox` has no effect; \
    ///       only the operator who starts a run can switch the sandbox off"]
    /// );
    /// # Ok::<(), autonoe_core::ConfigError>(())
    /// ```
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Reads a configuration from a file, or returns `None` if there is no file.
    ///
    /// ```
    /// use autonoe_core::AgentConfig;
    ///
    /// # let project = tempfile::tempdir()?;
    /// let path = project.path().join("agent.json");
    /// assert!(AgentConfig::load(&path)?.is_none());
    ///
    /// std::fs::write(&path, "{}")?;
    /// assert!(AgentConfig::load(&path)?.is_some());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// There is something that cannot be read as a configuration, or that is
    /// larger than 1 MiB.
    pub fn load(path: impl AsRef<Path>) -> Result<Option<Self>, ConfigError> {
        let path = path.as_ref();
        match read(path)? {
            Some(text) => Self::parse(&text, path).map(Some),
            None => Ok(None),
        }
    }

    /// Returns where the value at `pointer` comes from.
    pub(super) fn source(&self, pointer: &str) -> Source {
        match &self.document {
            Some(document) => Source::File {
                path: document.file.clone(),
                line: document.line_of(pointer),
            },
            None => Source::Program,
        }
    }

    /// Places `error` at the value at `pointer`.
    pub(super) fn place(&self, pointer: &str, error: ConfigError) -> ConfigError {
        match &self.document {
            Some(document) => document.at_value(pointer, error),
            None => error.at_pointer(pointer),
        }
    }
}

impl fmt::Debug for AgentConfig {
    // Servers may hold secrets, so they are not shown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentConfig")
            .field("profile", &self.profile)
            .field("allow_commands", &self.allow_commands)
            .field("allow_pkill_targets", &self.allow_pkill_targets)
            .field("permissions", &self.permissions)
            .field("environment", &self.environment)
            .field("allowed_tools", &self.allowed_tools)
            .field("project_memory", &self.project_memory)
            .field("backend", &self.backend)
            .finish_non_exhaustive()
    }
}
