//! [`AgentConfig`], the typed content of `.autonoe/agent.json`.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};

use super::field_values::{
    backend, commands, hooks, one_of, present, processes, rules, tools, variables,
};
use super::fields::{IgnoredField, ignored_fields, with_example};
use super::servers::{server_name_problem, servers};
use super::strict::{below, read_part};
use super::{ConfigError, ConfigErrorKind, ConfigFile, NamedBackend, Profiles, Source};
use crate::gate::PermissionRule;
use crate::spec::{HookSpec, SpecPort, spec_schema};
use crate::tool::McpServer;

/// The permissions of agents in a project, beyond the security baseline: `.autonoe/agent.json`.
///
/// A file only adds: no value removes a rule, a hook or a guard of the baseline, or changes the
/// sandbox. A broken file is an error and is never ignored. An unknown top-level field is ignored
/// with a warning, unless its name resembles a field that restricts agents, or another kind of
/// restriction.
///
/// ```
/// use std::path::Path;
///
/// use autonoe_core::gate::policy::Profile;
/// use autonoe_core::project::AgentConfig;
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
/// # Ok::<(), autonoe_core::project::ConfigError>(())
/// ```
#[derive(Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[non_exhaustive]
pub struct AgentConfig {
    /// The schema of this file, for editors. Autonoe ignores it.
    // Each `with` below keeps null out of the schema: a field is present or left out.
    #[serde(
        rename = "$schema",
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    #[schemars(with = "String")]
    pub schema: Option<String>,
    /// The languages whose commands agents may run: one, or a list. All of them by default.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    #[schemars(with = "Profiles")]
    pub profile: Option<Profiles>,
    /// Additional commands that agents may run: a list for run mode, or lists by mode.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    #[schemars(with = "AllowCommandsConfig")]
    pub allow_commands: Option<AllowCommandsConfig>,
    /// Processes that agents may end with pkill, in addition to those of the profiles.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "processes")]
    pub allow_pkill_targets: Vec<String>,
    /// Grants beyond the baseline.
    #[serde(skip_serializing_if = "Permissions::is_empty")]
    pub permissions: Permissions,
    /// Credentials in the environment that reach the agents' tools.
    #[serde(skip_serializing_if = "EnvironmentConfig::is_empty")]
    pub environment: EnvironmentConfig,
    /// Additional tools that agents may use, by name: Task, mcp__server__tool, mcp__server__*.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "tools")]
    #[schemars(with = "Vec<String>")]
    pub allowed_tools: Vec<PermissionRule>,
    /// MCP servers by name. Left out: the built-in browser. Empty: none. Otherwise these and the
    /// built-in browser, which an entry named playwright replaces. In run mode, agents may use all
    /// tools of a server listed here, unless permissions or allowedTools name some of them.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "servers")]
    #[schemars(with = "BTreeMap<String, McpServer>")]
    pub mcp_servers: Option<BTreeMap<String, McpServer>>,
    /// Hooks that check tool calls after the guards.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "hooks")]
    #[schemars(schema_with = "hooks_schema")]
    pub hooks: Vec<Arc<dyn HookSpec>>,
    /// Whether agents get the memory files of the project, such as CLAUDE.md, AGENTS.md or
    /// GEMINI.md. They do by default.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    #[schemars(with = "bool")]
    pub project_memory: Option<bool>,
    /// The backend of the agents, unless the operator names another one at the start of a run: a
    /// short name or a spec. The sandbox of agents cannot be configured here.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "backend")]
    #[schemars(with = "NamedBackend")]
    pub backend: Option<NamedBackend>,
    /// The file of this configuration; `None` if it was created in code.
    #[serde(skip)]
    file: Option<Arc<ConfigFile>>,
    #[serde(skip)]
    warnings: Vec<String>,
}

/// Grants beyond the baseline.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Permissions {
    /// Permission rules.
    #[serde(deserialize_with = "rules")]
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
    #[serde(deserialize_with = "variables")]
    pub allow: Vec<String>,
}

impl EnvironmentConfig {
    fn is_empty(&self) -> bool {
        self.allow.is_empty()
    }
}

/// Commands that agents may run in addition to those of the profiles.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
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
    #[serde(deserialize_with = "commands")]
    pub base: Vec<String>,
    /// In run mode.
    #[serde(deserialize_with = "commands")]
    pub run: Vec<String>,
    /// In sync mode.
    #[serde(deserialize_with = "commands")]
    pub sync: Vec<String>,
}

impl<'de> Deserialize<'de> for AllowCommandsConfig {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Commands(#[serde(deserialize_with = "commands")] Vec<String>);

        let expected = "a list of command names, or an object of such lists";
        one_of(from, expected, |value| match value {
            Value::Array(_) => Some(read_part(value).map(|Commands(names)| Self::RunOnly(names))),
            Value::Object(_) => Some(read_part(value).map(Self::Tiered)),
            _ => None,
        })
    }
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
    /// Parses a configuration from `text`; `file` is its path, for messages.
    ///
    /// # Errors
    ///
    /// The text is not valid JSON, or a field or value in it is invalid.
    pub fn parse(text: &str, file: &Path) -> Result<Self, ConfigError> {
        Self::read(ConfigFile::parse(text, file)?)
    }

    fn read(mut file: ConfigFile) -> Result<Self, ConfigError> {
        let (config, ignored) =
            Self::read_fields(&mut file).map_err(|error| with_example(error, &file))?;
        Ok(Self {
            file: Some(Arc::new(file)),
            warnings: ignored.into_iter().map(|field| field.warning).collect(),
            ..config
        })
    }

    fn read_fields(file: &mut ConfigFile) -> Result<(Self, Vec<IgnoredField>), ConfigError> {
        let ignored = ignored_fields(file)?;
        file.remove_fields(ignored.iter().map(|field| field.name.as_str()));
        let config: Self = file.read("")?.unwrap_or_default();
        for name in config.mcp_servers.iter().flatten().map(|(name, _)| name) {
            if let Some(problem) = server_name_problem(name) {
                let error = ConfigError::new(ConfigErrorKind::InvalidValue, problem);
                return Err(file.at_key(&below("/mcpServers", name), error));
            }
        }
        Ok((config, ignored))
    }

    /// Returns a warning for each field of the file that has no effect, with its position and a
    /// suggestion. Show them to the operator.
    ///
    /// ```
    /// use std::path::Path;
    ///
    /// use autonoe_core::project::AgentConfig;
    ///
    /// let text = r#"{"sandbox": {"enabled": false}}"#;
    /// let config = AgentConfig::parse(text, Path::new(".autonoe/agent.json"))?;
    ///
    /// assert_eq!(
    ///     config.warnings(),
    ///     [".autonoe/agent.json:1:2: /sandbox: the unknown field `sandbox` has no effect; \
    ///       only the operator who starts a run can switch the sandbox off"]
    /// );
    /// # Ok::<(), autonoe_core::project::ConfigError>(())
    /// ```
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Reads a configuration from a file, or returns `None` if there is no file.
    ///
    /// ```
    /// use autonoe_core::project::AgentConfig;
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
    /// The file cannot be read as a configuration, or is larger than 1 MiB.
    pub fn load(path: impl AsRef<Path>) -> Result<Option<Self>, ConfigError> {
        let file = ConfigFile::load(path)?;
        file.map(Self::read).transpose()
    }

    /// Returns the file of this configuration; `None` if it was created in code. The fields that
    /// have no effect are not in it.
    pub fn file(&self) -> Option<&ConfigFile> {
        self.file.as_deref()
    }

    /// Returns the source of the value at the JSON pointer `pointer`.
    pub fn source(&self, pointer: &str) -> Source {
        match &self.file {
            Some(file) => Source::File {
                path: file.path().to_owned(),
                line: file.line(pointer),
            },
            None => Source::Program,
        }
    }

    /// Adds the position of the value at `pointer` to `error`.
    pub(super) fn with_position(&self, pointer: &str, error: ConfigError) -> ConfigError {
        match &self.file {
            Some(file) => file.at_value(pointer, error),
            None => error.at_pointer(pointer),
        }
    }
}

impl fmt::Debug for AgentConfig {
    // Servers may contain secrets, so they are not shown.
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

/// Returns the schema of a list of the hooks that this program knows.
pub(super) fn hooks_schema(generator: &mut SchemaGenerator) -> Schema {
    let hook = spec_schema(SpecPort::Hook, generator).to_value();
    Schema::try_from(json!({"type": "array", "items": hook})).unwrap_or_default()
}
