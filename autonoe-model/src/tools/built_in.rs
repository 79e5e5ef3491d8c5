//! [`BuiltInOptions`]: options and construction of the built-in tools.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use autonoe_core::agent::Sandbox;
use autonoe_core::event::TraceContext;
use autonoe_core::gate::ProjectPaths;
use autonoe_core::{SessionSpec, Tool, TypedTool};
use autonoe_process::{Network, OsSandbox, SandboxError, refuse_bare_repositories};

use super::bash::{Bash, Shell};
use super::config::ToolLimits;
use super::file_tool::FileTools;
use super::workspace::{ToolWorkspace, WorkspaceError};
use super::{edit, glob, grep, read, write};
use crate::transport::SecretSet;

/// Options of the built-in tools.
///
/// By default, commands run in a sandbox without a network, with an environment that has a `PATH`
/// and no keys.
///
/// ```
/// use autonoe_core::agent::Sandbox;
/// use autonoe_model::{BuiltInOptions, built_in_tools};
///
/// # let folder = tempfile::tempdir()?;
/// # let project = folder.path();
/// // Only the operator disables it: where the whole machine is a sandbox.
/// let options = BuiltInOptions {
///     sandbox: Sandbox::Off,
///     read_only: vec![".autonoe".into()],
///     ..BuiltInOptions::default()
/// };
/// let tools = built_in_tools(project, &options)?;
///
/// let names: Vec<_> = tools.iter().map(|tool| tool.definition().name.as_str()).collect();
/// assert_eq!(names, ["Read", "Write", "Edit", "Glob", "Grep", "Bash"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct BuiltInOptions {
    /// Symlink to the workspace. Paths through it count as paths of the workspace.
    pub link: Option<PathBuf>,
    /// Whether commands must run in a sandbox. Only the operator may disable it.
    pub sandbox: Sandbox,
    /// Path of bubblewrap.
    pub bubblewrap: PathBuf,
    /// Path of Bash.
    pub shell: PathBuf,
    /// Network access of commands in the sandbox.
    pub network: Network,
    /// Files and directories that commands in the sandbox cannot see. Those in the workspace are
    /// hidden from all tools, and must be entries of the workspace's root.
    pub hidden: Vec<PathBuf>,
    /// Entries of the workspace's root that are read-only for all tools.
    ///
    /// For commands, this only applies to entries that exist when the command starts.
    pub read_only: Vec<PathBuf>,
    /// All variables of commands. Those of this process are not passed on.
    pub env: BTreeMap<OsString, OsString>,
    /// Variables for commands of sessions whose credential filter allows them by name, unless
    /// `env` sets them.
    pub available: BTreeMap<OsString, OsString>,
    /// Values that commands must not see: a variable that contains one has its default or is
    /// withheld, including those of sessions.
    pub secrets: SecretSet,
    /// Limits of the tools.
    pub limits: ToolLimits,
    /// Lock of a run that commands inherit if there is no sandbox. Processes that survive the
    /// death of this program then keep the run locked as long as they live.
    ///
    /// Nothing in a sandbox survives. Commands in a sandbox do not get the lock, because they could
    /// release it.
    pub lock: Option<Arc<File>>,
}

impl BuiltInOptions {
    /// Default `PATH` of commands.
    pub const PATH: &'static str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

    /// Starts an empty sandbox once, to check whether it works on this machine.
    ///
    /// Takes some milliseconds and blocks the thread.
    ///
    /// # Errors
    ///
    /// The sandbox cannot be started.
    pub fn try_sandbox(&self) -> Result<(), SandboxError> {
        let sandbox = OsSandbox::new(&self.bubblewrap);
        sandbox.network(self.network).check()
    }

    /// Creates the tools of a session: in its directory, in the sandbox that it requests, with its
    /// lock and its variables. Its state folders are read-only as well.
    ///
    /// # Errors
    ///
    /// Same as [`built_in_tools`].
    pub fn for_session(&self, spec: &SessionSpec) -> Result<Vec<Arc<dyn Tool>>, BuiltInToolsError> {
        let mut options = Self {
            sandbox: spec.sandbox,
            lock: spec.lock.clone(),
            ..self.clone()
        };
        let state_folders = ProjectPaths::STATE_FOLDERS.map(PathBuf::from);
        options.read_only.extend(state_folders);
        let project_paths = spec.gate.project_paths();
        let below = spec.cwd.strip_prefix(&project_paths.project).ok();
        if let (Some(link), Some(below)) = (&project_paths.project_link, below) {
            options.link = Some(link.join(below));
        }
        // Without a sandbox, paths cannot be hidden.
        if spec.sandbox == Sandbox::Off {
            options.hidden.clear();
        }
        for (name, value) in &self.available {
            if spec.credential_filter.allows(name) {
                let value = || value.clone();
                options.env.entry(name.clone()).or_insert_with(value);
            }
        }
        let trace = spec.trace.iter().flat_map(TraceContext::environment);
        let session = spec.environment.iter();
        options.env.extend(
            trace
                .map(|(name, value)| (name.into(), value.into()))
                .chain(session.map(|(name, value)| (name.into(), value.into()))),
        );
        built_in_tools(&spec.cwd, &options)
    }
}

impl Default for BuiltInOptions {
    fn default() -> Self {
        Self {
            link: None,
            sandbox: Sandbox::Required,
            bubblewrap: "/usr/bin/bwrap".into(),
            shell: "/bin/bash".into(),
            network: Network::Off,
            hidden: Vec::new(),
            read_only: Vec::new(),
            env: default_env(),
            available: BTreeMap::new(),
            secrets: SecretSet::default(),
            limits: ToolLimits::default(),
            lock: None,
        }
    }
}

fn default_env() -> BTreeMap<OsString, OsString> {
    let env = [
        ("PATH", BuiltInOptions::PATH),
        ("HOME", "/tmp"),
        ("LANG", "C.UTF-8"),
        ("TERM", "dumb"),
    ];
    env.map(|(name, value)| (name.into(), value.into())).into()
}

/// Returns the variables of commands. One with a secret has its default, if any: a short secret may
/// occur in a `PATH`, and programs need one.
fn without_secrets(options: &BuiltInOptions) -> BTreeMap<OsString, OsString> {
    let defaults = default_env();
    let visible = options.env.iter().filter_map(|(name, value)| {
        let value = if options.secrets.occur_in(value) {
            defaults.get(name)?
        } else {
            value
        };
        Some((name.clone(), value.clone()))
    });
    visible.collect()
}

impl std::fmt::Debug for BuiltInOptions {
    // Values of variables may be secrets and are not printed.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let visible = self
            .env
            .iter()
            .filter(|(_, value)| !self.secrets.occur_in(value));
        f.debug_struct("BuiltInOptions")
            .field("sandbox", &self.sandbox)
            .field("network", &self.network)
            .field("variables", &Vec::from_iter(visible.map(|(name, _)| name)))
            .finish_non_exhaustive()
    }
}

/// Error of [`built_in_tools`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuiltInToolsError {
    /// The workspace cannot be used.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    /// The sandbox is required and cannot be started.
    #[error("commands must run in a sandbox, but none is available; {}", .0.remedy())]
    Sandbox(#[source] SandboxError),
    /// A hidden or read-only path in the workspace is not an entry of its root.
    #[error("{path:?} is not an entry of the root of the workspace")]
    Guarded {
        /// Path of the entry.
        path: PathBuf,
    },
    /// Bash does not exist.
    #[error("there is no Bash at {program:?}")]
    Shell {
        /// Path of Bash.
        program: PathBuf,
    },
}

impl BuiltInToolsError {
    /// Returns what the operator can do about it, if known.
    pub fn remedy(&self) -> Option<&'static str> {
        match self {
            Self::Sandbox(error) => Some(error.remedy()),
            Self::Shell { .. } => Some("install Bash, or set `shell` to its path"),
            Self::Workspace(_) | Self::Guarded { .. } => None,
        }
    }
}

/// Creates the built-in tools in `workspace`, an absolute path: Read, Write, Edit, Glob, Grep and
/// Bash.
///
/// Starts the sandbox once as a check, which takes some milliseconds and blocks the thread.
///
/// # Errors
///
/// The workspace does not exist, a required sandbox cannot be started, or a path cannot be
/// protected.
pub fn built_in_tools(
    workspace: &Path,
    options: &BuiltInOptions,
) -> Result<Vec<Arc<dyn Tool>>, BuiltInToolsError> {
    let mut workspace = ToolWorkspace::open(workspace)?;
    workspace.aliases.extend(options.link.clone());
    let mut hidden_outside = Vec::new();
    for path in &options.hidden {
        match name_in(&workspace, path)? {
            Some(name) => drop(workspace.hidden.insert(name)),
            None => hidden_outside.push(path.clone()),
        }
    }
    for path in &options.read_only {
        let name = name_in(&workspace, path)?
            .ok_or_else(|| BuiltInToolsError::Guarded { path: path.clone() })?;
        workspace.read_only.insert(name);
    }
    if !options.shell.is_file() {
        let program = options.shell.clone();
        return Err(BuiltInToolsError::Shell { program });
    }

    let workspace = Arc::new(workspace);
    let mut env = without_secrets(options);
    refuse_bare_repositories(&mut env);
    let shell = Shell {
        program: options.shell.clone(),
        workspace: workspace.clone(),
        env,
        sandbox: sandbox(options, hidden_outside),
        network: options.network,
        lock: options.lock.clone(),
    };
    if let Some(sandbox) = shell.current_sandbox() {
        sandbox.check().map_err(BuiltInToolsError::Sandbox)?;
    }
    let limits = options.limits.clone();
    let files = Arc::new(FileTools {
        workspace,
        limits: limits.clone(),
    });
    Ok(vec![
        read::tool(&files),
        write::tool(&files),
        edit::tool(&files),
        glob::tool(&files),
        grep::tool(&files),
        Bash { shell, limits }.into_tool(),
    ])
}

fn sandbox(options: &BuiltInOptions, hidden: Vec<PathBuf>) -> Option<OsSandbox> {
    match options.sandbox {
        Sandbox::Off => None,
        Sandbox::Required => {
            let sandbox = OsSandbox::new(&options.bubblewrap).network(options.network);
            Some(hidden.into_iter().fold(sandbox, OsSandbox::hidden))
        }
    }
}

/// Returns the name of `path` in the root of the workspace; `None` if it is elsewhere.
fn name_in(workspace: &ToolWorkspace, path: &Path) -> Result<Option<OsString>, BuiltInToolsError> {
    let whole = workspace.root().join(path);
    // The parent directory may be a link.
    let real = match (whole.parent().map(Path::canonicalize), whole.file_name()) {
        (Some(Ok(parent)), Some(name)) => parent.join(name),
        _ => whole.clone(),
    };
    let below = real
        .strip_prefix(workspace.root())
        .or_else(|_| whole.strip_prefix(workspace.root()));
    let Ok(below) = below else {
        return Ok(None);
    };
    let parts: Vec<&OsStr> = below.iter().collect();
    match parts[..] {
        [name] if name != ".." => Ok(Some(name.to_owned())),
        _ => Err(BuiltInToolsError::Guarded {
            path: path.to_owned(),
        }),
    }
}
