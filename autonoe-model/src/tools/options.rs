//! [`BuiltInOptions`]: options and construction of the built-in tools.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use autonoe_core::agent::Sandbox;
use autonoe_core::{Tool, TypedTool};
use autonoe_process::{Network, OsSandbox, SandboxError, refuse_bare_repositories};

use super::bash::{Bash, Shell};
use super::edit::Edit;
use super::glob::Glob;
use super::grep::Grep;
use super::limits::ToolLimits;
use super::read::Read;
use super::workspace::{ToolWorkspace, WorkspaceError};
use super::write::Write;

/// Options of the built-in tools of a session.
///
/// By default, commands run in a sandbox without a network, with an environment that has a `PATH`
/// and no keys.
///
/// ```
/// use autonoe_core::agent::Sandbox;
/// use autonoe_model::tools::BuiltInOptions;
/// use autonoe_model::built_in_tools;
///
/// # let folder = tempfile::tempdir()?;
/// # let project = folder.path();
/// // Only the operator disables it: where the whole machine is a sandbox.
/// let options = BuiltInOptions {
///     sandbox: Sandbox::Off,
///     read_only: vec![".autonoe".into()],
///     ..BuiltInOptions::new(project)
/// };
/// let tools = built_in_tools(&options)?;
///
/// let names: Vec<_> = tools.iter().map(|tool| tool.definition().name.as_str()).collect();
/// assert_eq!(names, ["Read", "Write", "Edit", "Glob", "Grep", "Bash"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct BuiltInOptions {
    /// Absolute path of the workspace.
    pub workspace: PathBuf,
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

    /// Default path of bubblewrap.
    pub const BUBBLEWRAP: &'static str = "/usr/bin/bwrap";

    /// Creates options for tools in `workspace`, an absolute path.
    pub fn new(workspace: impl Into<PathBuf>) -> Self {
        let env = [
            ("PATH", Self::PATH),
            ("HOME", "/tmp"),
            ("LANG", "C.UTF-8"),
            ("TERM", "dumb"),
        ];
        Self {
            workspace: workspace.into(),
            link: None,
            sandbox: Sandbox::Required,
            bubblewrap: Self::BUBBLEWRAP.into(),
            shell: "/bin/bash".into(),
            network: Network::Off,
            hidden: Vec::new(),
            read_only: Vec::new(),
            env: env.map(|(name, value)| (name.into(), value.into())).into(),
            limits: ToolLimits::default(),
            lock: None,
        }
    }
}

impl std::fmt::Debug for BuiltInOptions {
    // Values of variables may be secrets and are not printed.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BuiltInOptions")
            .field("workspace", &self.workspace)
            .field("sandbox", &self.sandbox)
            .field("network", &self.network)
            .field("variables", &self.env.keys())
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

/// Creates the built-in tools: Read, Write, Edit, Glob, Grep and Bash.
///
/// Starts the sandbox once as a check, which takes some milliseconds and blocks the thread.
///
/// # Errors
///
/// The workspace does not exist, a required sandbox cannot be started, or a path cannot be
/// protected.
pub fn built_in_tools(options: &BuiltInOptions) -> Result<Vec<Arc<dyn Tool>>, BuiltInToolsError> {
    let mut workspace = ToolWorkspace::open(&options.workspace)?;
    if let Some(link) = &options.link {
        workspace = workspace.alias(link);
    }
    let mut hidden_outside = Vec::new();
    for path in &options.hidden {
        match name_in(&workspace, path)? {
            Some(name) => workspace = workspace.hidden(name),
            None => hidden_outside.push(path.clone()),
        }
    }
    for path in &options.read_only {
        let name = name_in(&workspace, path)?
            .ok_or_else(|| BuiltInToolsError::Guarded { path: path.clone() })?;
        workspace = workspace.read_only(name);
    }
    if !options.shell.is_file() {
        let program = options.shell.clone();
        return Err(BuiltInToolsError::Shell { program });
    }

    let workspace = Arc::new(workspace);
    let mut env = options.env.clone();
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
    let limits = &options.limits;
    Ok(vec![
        Read::new(workspace.clone(), limits.clone()).into_tool(),
        Write::new(workspace.clone(), limits.clone()).into_tool(),
        Edit::new(workspace.clone(), limits.clone()).into_tool(),
        Glob::new(workspace.clone(), limits.clone()).into_tool(),
        Grep::new(workspace, limits.clone()).into_tool(),
        Bash::new(Arc::new(shell), limits.clone()).into_tool(),
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
