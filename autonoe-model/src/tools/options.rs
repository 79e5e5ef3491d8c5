//! [`BuiltInOptions`]: options, limits and construction of the built-in tools.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use autonoe_core::agent::Sandbox;
use autonoe_core::time::millis;
use autonoe_core::{Tool, TypedTool};
use autonoe_process::{Network, OsSandbox, SandboxError, refuse_bare_repositories};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::bash::Shell;
use super::{Bash, Edit, Glob, Grep, Read, ToolWorkspace, WorkspaceError, Write};

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
/// let options = BuiltInOptions::new(project).sandbox(Sandbox::Off).read_only(".autonoe");
/// let tools = built_in_tools(&options)?;
///
/// let names: Vec<_> = tools.iter().map(|tool| tool.definition().name.as_str()).collect();
/// assert_eq!(names, ["Read", "Write", "Edit", "Glob", "Grep", "Bash"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct BuiltInOptions {
    workspace: PathBuf,
    link: Option<PathBuf>,
    sandbox: Sandbox,
    bubblewrap: PathBuf,
    shell: PathBuf,
    network: Network,
    hidden: Vec<PathBuf>,
    read_only: Vec<PathBuf>,
    env: BTreeMap<OsString, OsString>,
    limits: ToolLimits,
    lock: Option<Arc<File>>,
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

    /// Sets a symlink to the workspace. Paths through it count as paths of the workspace.
    #[must_use]
    pub fn link(mut self, link: impl Into<PathBuf>) -> Self {
        self.link = Some(link.into());
        self
    }

    /// Sets whether commands must run in a sandbox. Only the operator may disable it.
    #[must_use]
    pub fn sandbox(mut self, sandbox: Sandbox) -> Self {
        self.sandbox = sandbox;
        self
    }

    /// Sets the path of bubblewrap. Default: `/usr/bin/bwrap`.
    #[must_use]
    pub fn bubblewrap(mut self, program: impl Into<PathBuf>) -> Self {
        self.bubblewrap = program.into();
        self
    }

    /// Sets the path of Bash. Default: `/bin/bash`.
    #[must_use]
    pub fn shell(mut self, program: impl Into<PathBuf>) -> Self {
        self.shell = program.into();
        self
    }

    /// Sets the network access of commands in the sandbox.
    #[must_use]
    pub fn network(mut self, network: Network) -> Self {
        self.network = network;
        self
    }

    /// Hides a file or directory from commands in the sandbox. If it is in the workspace, it is
    /// hidden from all tools, and must be an entry of the workspace's root.
    #[must_use]
    pub fn hidden(mut self, path: impl Into<PathBuf>) -> Self {
        self.hidden.push(path.into());
        self
    }

    /// Makes an entry of the workspace's root read-only for all tools.
    ///
    /// For commands, this only applies to an entry that exists when the command starts.
    #[must_use]
    pub fn read_only(mut self, path: impl Into<PathBuf>) -> Self {
        self.read_only.push(path.into());
        self
    }

    /// Sets a variable for commands. Commands only get the variables that are set here, so they get
    /// no keys unless explicitly set.
    #[must_use]
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.env.insert(name.into(), value.into());
        self
    }

    /// Sets the limits of the tools.
    #[must_use]
    pub fn limits(mut self, limits: ToolLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Lets commands inherit the lock of a run if there is no sandbox. Processes that survive the
    /// death of this program then keep the run locked as long as they live.
    ///
    /// Nothing in a sandbox survives. Commands in a sandbox do not get the lock, because they could
    /// release it.
    #[must_use]
    pub fn lock(mut self, lock: Arc<File>) -> Self {
        self.lock = Some(lock);
        self
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
    let mut hidden_elsewhere = Vec::new();
    for path in &options.hidden {
        match name_in(&workspace, path)? {
            Some(name) => workspace = workspace.hidden(name),
            None => hidden_elsewhere.push(path.clone()),
        }
    }
    for path in &options.read_only {
        let name = name_in(&workspace, path)?;
        let name = name.ok_or_else(|| BuiltInToolsError::Guarded { path: path.clone() })?;
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
        sandbox: sandbox(options, hidden_elsewhere),
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
    let below = real.strip_prefix(workspace.root());
    let below = below.or_else(|_| whole.strip_prefix(workspace.root()));
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

/// Limits of the built-in tools.
///
/// Larger outputs are cut with a note, and larger inputs are rejected. Configuration files use
/// milliseconds for times: `{"commandTimeMs": 300000}`.
///
/// ```
/// use autonoe_model::tools::ToolLimits;
///
/// let limits = ToolLimits { output_bytes: 8_000, ..ToolLimits::default() };
///
/// assert_eq!(limits.read_lines, 2_000);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ToolLimits {
    /// Maximum output of Bash, Glob and Grep, in bytes.
    pub output_bytes: usize,
    /// Maximum output of Read, in bytes.
    pub read_bytes: usize,
    /// Default number of lines that Read returns.
    pub read_lines: u64,
    /// Maximum length of a line in the output of Read and Grep, in bytes.
    pub line_bytes: usize,
    /// Maximum size of an image that Read attaches, in bytes.
    pub image_bytes: u64,
    /// Maximum size of a file that Edit changes or Write writes, in bytes.
    pub file_bytes: u64,
    /// Maximum number of files that Glob and Grep list, and default number of lines of Grep.
    pub results: usize,
    /// Maximum number of files and directories that a search visits.
    pub entries: usize,
    /// Maximum time of a search, and of Read until it reaches the requested lines.
    #[serde(rename = "searchTimeMs", with = "millis")]
    #[schemars(with = "u64", range(min = 1))]
    pub search_time: Duration,
    /// Default time limit of a command.
    #[serde(rename = "commandTimeMs", with = "millis")]
    #[schemars(with = "u64", range(min = 1))]
    pub command_time: Duration,
    /// Maximum time limit that a command may request.
    #[serde(rename = "longestCommandTimeMs", with = "millis")]
    #[schemars(with = "u64", range(min = 1))]
    pub longest_command_time: Duration,
}

impl Default for ToolLimits {
    fn default() -> Self {
        Self {
            output_bytes: 30_000,
            read_bytes: 100_000,
            read_lines: 2_000,
            line_bytes: 2_000,
            image_bytes: 5 * 1024 * 1024,
            file_bytes: 16 * 1024 * 1024,
            results: 100,
            entries: 500_000,
            search_time: Duration::from_secs(30),
            command_time: Duration::from_secs(120),
            longest_command_time: Duration::from_secs(600),
        }
    }
}

impl ToolLimits {
    /// Returns whether the time limits are positive and consistent.
    pub(crate) fn has_valid_times(&self) -> bool {
        let times = [
            self.search_time,
            self.command_time,
            self.longest_command_time,
        ];
        times.iter().all(|time| !time.is_zero()) && self.command_time <= self.longest_command_time
    }
}
