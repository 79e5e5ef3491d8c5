//! Which built-in tools there are, and what holds for them.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use autonoe_core::{Sandbox, Tool, TypedTool};
use autonoe_process::{Network, OsSandbox, SandboxError, refuse_bare_repositories};

use super::bash::Shell;
use super::{Bash, Edit, Glob, Grep, Read, ToolLimits, Workspace, WorkspaceError, Write};

/// What holds for the built-in tools of a session.
///
/// By default, commands run in a sandbox without a network, with an environment that has a
/// `PATH` and no keys.
///
/// ```
/// use autonoe_core::Sandbox;
/// use autonoe_model::{BuiltInOptions, built_in_tools};
///
/// # let folder = tempfile::tempdir()?;
/// # let project = folder.path();
/// // Only a person switches it off: where the whole machine is a sandbox.
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
    /// Where programs are found, unless the environment says otherwise.
    pub const PATH: &'static str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

    /// Where bubblewrap is, unless it is said.
    pub const BUBBLEWRAP: &'static str = "/usr/bin/bwrap";

    /// Makes options for tools that work in `workspace`, an absolute path.
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

    /// Sets a symlink to the workspace. Paths through it are paths of the workspace.
    #[must_use]
    pub fn link(mut self, link: impl Into<PathBuf>) -> Self {
        self.link = Some(link.into());
        self
    }

    /// Sets whether commands must run in a sandbox. Only a person switches it off.
    #[must_use]
    pub fn sandbox(mut self, sandbox: Sandbox) -> Self {
        self.sandbox = sandbox;
        self
    }

    /// Sets where bubblewrap is, instead of `/usr/bin/bwrap`.
    #[must_use]
    pub fn bubblewrap(mut self, program: impl Into<PathBuf>) -> Self {
        self.bubblewrap = program.into();
        self
    }

    /// Sets where Bash is, instead of `/bin/bash`.
    #[must_use]
    pub fn shell(mut self, program: impl Into<PathBuf>) -> Self {
        self.shell = program.into();
        self
    }

    /// Sets whether commands in the sandbox have a network.
    #[must_use]
    pub fn network(mut self, network: Network) -> Self {
        self.network = network;
        self
    }

    /// Hides a file or directory: from commands in the sandbox, and from all tools if it is
    /// in the workspace, where it must be an entry of its root.
    #[must_use]
    pub fn hidden(mut self, path: impl Into<PathBuf>) -> Self {
        self.hidden.push(path.into());
        self
    }

    /// Keeps an entry of the root of the workspace from being written, by all tools.
    ///
    /// A command is kept from it as far as it is there when the command starts.
    #[must_use]
    pub fn read_only(mut self, path: impl Into<PathBuf>) -> Self {
        self.read_only.push(path.into());
        self
    }

    /// Sets a variable for commands. They get what is set here and nothing else; no keys, then,
    /// unless somebody sets them.
    #[must_use]
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.env.insert(name.into(), value.into());
        self
    }

    /// Sets how much the tools take and give.
    #[must_use]
    pub fn limits(mut self, limits: ToolLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Lets commands inherit the lock of a run where there is no sandbox: what survives when
    /// this program is killed keeps others out as long as it lives.
    ///
    /// Nothing in a sandbox survives. Commands there do not get the lock: they could release it.
    #[must_use]
    pub fn lock(mut self, lock: Arc<File>) -> Self {
        self.lock = Some(lock);
        self
    }
}

impl std::fmt::Debug for BuiltInOptions {
    // Values of variables may be secrets, so they are not shown.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BuiltInOptions")
            .field("workspace", &self.workspace)
            .field("sandbox", &self.sandbox)
            .field("network", &self.network)
            .field("variables", &self.env.keys())
            .finish_non_exhaustive()
    }
}

/// Why there are no built-in tools.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuiltInToolsError {
    /// The workspace cannot be worked in.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    /// The sandbox is required and cannot be made.
    #[error("commands must run in a sandbox, and there is none; {}", .0.remedy())]
    Sandbox(#[source] SandboxError),
    /// A path in the workspace is to be hidden or read-only and is not an entry of its root.
    #[error("{path:?} is not an entry of the root of the workspace")]
    Guarded {
        /// The path.
        path: PathBuf,
    },
    /// Bash is not there.
    #[error("there is no Bash at {program:?}")]
    Shell {
        /// Where it was looked for.
        program: PathBuf,
    },
}

impl BuiltInToolsError {
    /// Returns what a person can do about it, if that is known.
    pub fn remedy(&self) -> Option<&'static str> {
        match self {
            Self::Sandbox(error) => Some(error.remedy()),
            Self::Shell { .. } => Some("install Bash, or say where it is"),
            Self::Workspace(_) | Self::Guarded { .. } => None,
        }
    }
}

/// Makes the built-in tools: Read, Write, Edit, Glob, Grep and Bash.
///
/// It tries the sandbox once, which takes some milliseconds and blocks the thread.
///
/// # Errors
///
/// The workspace is not there, or the sandbox cannot be made although it is required, or
/// what is to be guarded cannot be.
pub fn built_in_tools(options: &BuiltInOptions) -> Result<Vec<Arc<dyn Tool>>, BuiltInToolsError> {
    let mut workspace = Workspace::open(&options.workspace)?;
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
    if let Some(sandbox) = shell.confined() {
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
fn name_in(workspace: &Workspace, path: &Path) -> Result<Option<OsString>, BuiltInToolsError> {
    let whole = workspace.root().join(path);
    // Its directory may be reached by a link.
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
