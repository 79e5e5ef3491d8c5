//! [`BuiltInTools`]: factory of the built-in tools of each session.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use autonoe_core::agent::Sandbox;
use autonoe_core::event::TraceContext;
use autonoe_core::gate::ProjectPaths;
use autonoe_core::{SessionSpec, Tool};
use autonoe_process::{Network, OsSandbox, SandboxError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::limits::ToolLimits;
use super::options::{BuiltInOptions, BuiltInToolsError, built_in_tools};
use crate::known_secrets::KnownSecrets;

/// Settings of the built-in tools in a configuration file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct ToolsConfig {
    /// Network access of commands in the sandbox.
    pub network: NetworkAccess,
    /// Names of additional environment variables for commands.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub variables: BTreeSet<String>,
    /// Limits of the tools.
    pub limits: ToolLimits,
}

/// Network access of commands in the sandbox.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum NetworkAccess {
    /// No network, not even loopback.
    #[default]
    Off,
    /// Network of this machine, including its own servers.
    Shared,
}

impl From<NetworkAccess> for Network {
    fn from(access: NetworkAccess) -> Self {
        match access {
            NetworkAccess::Off => Self::Off,
            NetworkAccess::Shared => Self::Shared,
        }
    }
}

/// Creates the built-in tools of each session: in its directory, in the sandbox that it requests,
/// and with an environment without keys.
///
/// ```
/// use autonoe_model::BuiltInTools;
///
/// let tools = BuiltInTools::new()
///     .env("PATH", "/usr/bin:/bin")
///     .env("COPY_OF_THE_KEY", "sk-123")
///     .secret("sk-123");
///
/// // Secrets never reach a command, whatever variable contains them.
/// assert!(!format!("{tools:?}").contains("COPY_OF_THE_KEY"));
/// ```
#[derive(Clone)]
pub struct BuiltInTools {
    bubblewrap: Option<PathBuf>,
    shell: Option<PathBuf>,
    network: Network,
    limits: ToolLimits,
    env: BTreeMap<OsString, OsString>,
    available: BTreeMap<OsString, OsString>,
    hidden: Vec<PathBuf>,
    secrets: KnownSecrets,
}

impl Default for BuiltInTools {
    fn default() -> Self {
        Self::new()
    }
}

impl BuiltInTools {
    /// Creates tools whose commands have no network.
    pub fn new() -> Self {
        Self {
            bubblewrap: None,
            shell: None,
            network: Network::Off,
            limits: ToolLimits::default(),
            env: BTreeMap::new(),
            available: BTreeMap::new(),
            hidden: Vec::new(),
            secrets: KnownSecrets::default(),
        }
    }

    /// Sets the path of bubblewrap. Default: `/usr/bin/bwrap`.
    #[must_use]
    pub fn bubblewrap(mut self, program: impl Into<PathBuf>) -> Self {
        self.bubblewrap = Some(program.into());
        self
    }

    /// Sets the path of Bash. Default: `/bin/bash`.
    #[must_use]
    pub fn shell(mut self, program: impl Into<PathBuf>) -> Self {
        self.shell = Some(program.into());
        self
    }

    /// Sets the network access of commands in the sandbox.
    #[must_use]
    pub fn network(mut self, network: impl Into<Network>) -> Self {
        self.network = network.into();
        self
    }

    /// Sets the limits of the tools.
    #[must_use]
    pub fn limits(mut self, limits: ToolLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets a variable for commands, unless its value contains a secret.
    #[must_use]
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.env.insert(name.into(), value.into());
        self
    }

    /// Sets a variable for commands of sessions whose credential filter allows it by name.
    #[must_use]
    pub fn available(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.available.insert(name.into(), value.into());
        self
    }

    /// Hides a file or directory outside of the project from commands in the sandbox.
    #[must_use]
    pub fn hidden(mut self, path: impl Into<PathBuf>) -> Self {
        self.hidden.push(path.into());
        self
    }

    /// Withholds every variable that contains `secret` from commands, including those of sessions.
    #[must_use]
    pub fn secret(mut self, secret: impl Into<OsString>) -> Self {
        self.secrets.add(secret);
        self
    }

    /// Starts an empty sandbox once, to check whether it works on this machine.
    ///
    /// Takes some milliseconds and blocks the thread.
    ///
    /// # Errors
    ///
    /// The sandbox cannot be started.
    pub fn try_sandbox(&self) -> Result<(), SandboxError> {
        let program = self
            .bubblewrap
            .as_deref()
            .unwrap_or(Path::new(BuiltInOptions::BUBBLEWRAP));
        OsSandbox::new(program).network(self.network).check()
    }

    /// Creates the tools of a session.
    ///
    /// # Errors
    ///
    /// Same as [`built_in_tools`].
    pub fn for_session(&self, spec: &SessionSpec) -> Result<Vec<Arc<dyn Tool>>, BuiltInToolsError> {
        let mut options = BuiltInOptions {
            sandbox: spec.sandbox,
            network: self.network,
            read_only: ProjectPaths::STATE_FOLDERS.map(PathBuf::from).into(),
            limits: self.limits.clone(),
            lock: spec.lock.clone(),
            ..BuiltInOptions::new(&spec.cwd)
        };
        let project_paths = spec.gate.project_paths();
        let below = spec.cwd.strip_prefix(&project_paths.project).ok();
        if let (Some(link), Some(below)) = (&project_paths.project_link, below) {
            options.link = Some(link.join(below));
        }
        if let Some(program) = &self.bubblewrap {
            options.bubblewrap.clone_from(program);
        }
        if let Some(program) = &self.shell {
            options.shell.clone_from(program);
        }
        // Without a sandbox, paths cannot be hidden.
        if spec.sandbox == Sandbox::Required {
            options.hidden.clone_from(&self.hidden);
        }
        let trace = spec.trace.iter().flat_map(TraceContext::environment);
        let session = spec.environment.iter();
        let added = session.map(|(name, value)| (name.into(), value.into()));
        let allowed = self
            .available
            .iter()
            .filter(|(name, _)| spec.credential_filter.allows(name));
        let own = allowed.chain(&self.env);
        let all = own
            .map(|(name, value)| (name.clone(), value.clone()))
            .chain(trace.map(|(name, value)| (name.into(), value.into())))
            .chain(added);
        let without_secrets = all.filter(|(_, value)| !self.secrets.occur_in(value));
        options.env.extend(without_secrets);
        built_in_tools(&options)
    }
}

impl std::fmt::Debug for BuiltInTools {
    // Values of variables may be secrets and are not printed.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let visible_name = |(name, value): (&OsString, &OsString)| {
            (!self.secrets.occur_in(value)).then(|| name.clone())
        };
        f.debug_struct("BuiltInTools")
            .field("network", &self.network)
            .field(
                "variables",
                &Vec::from_iter(self.env.iter().filter_map(visible_name)),
            )
            .finish_non_exhaustive()
    }
}
