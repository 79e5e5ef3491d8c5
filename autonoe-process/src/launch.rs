//! [`Launch`], the description of a program to start, and its [`LaunchError`].

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::{fmt, io};

use rustix::fs::{Access, access};

use crate::sandbox::{OsSandbox, Wrapped};
use crate::{Marker, SandboxError, SessionFolder, ShutdownPolicy, inherited, marker};

/// Describes a program to start, its environment and its limits.
///
/// The environment starts empty: the child gets the given variables and its [`Marker`]. From the
/// environment of this process it inherits only markers that were [propagated](Marker::propagate). It
/// has a session and a process group of its own and no terminal. Its open files are its three pipes
/// and the [inherited](Self::inherit) ones. (Before Linux 5.11 and on other systems, also files
/// that were not opened as close-on-exec, which Rust does.)
///
/// ```
/// use autonoe_process::{EndedBy, Exit, ShutdownPolicy, Launch, Marker, StartedProcess};
/// use tokio::io::{AsyncReadExt, AsyncWriteExt};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let marker = Marker::new("AUTONOE_SESSION", format!("example-{}", std::process::id()))?;
/// let launch = Launch::new("/bin/sh", "/", marker)
///     .args(["-c", "read line; echo \"$GREETING, $line\" >&2; echo done; exit 3"])
///     .env("GREETING", "Good morning");
///
/// let StartedProcess { process, mut stdin, mut stdout } = launch.start().await?;
/// stdin.write_all(b"Ada\n").await?;
/// let mut output = String::new();
/// stdout.read_to_string(&mut output).await?;
///
/// assert_eq!(output, "done\n");
/// assert_eq!(process.exited().await, Exit::Code(3));
/// assert_eq!(process.stderr_tail(), "Good morning, Ada\n");
///
/// let end = process.shutdown(ShutdownPolicy::default()).await;
/// assert_eq!(end.ended_by, EndedBy::Itself);
/// assert!(end.is_complete());
/// # Ok(())
/// # }
/// ```
pub struct Launch {
    pub(crate) program: PathBuf,
    pub(crate) directory: PathBuf,
    pub(crate) marker: Marker,
    pub(crate) inherited: Vec<Arc<File>>,
    pub(crate) policy: ShutdownPolicy,
    pub(crate) folder: Option<SessionFolder>,
    pub(crate) sandbox: Option<OsSandbox>,
    args: Vec<OsString>,
    env: BTreeMap<OsString, OsString>,
    secrets: BTreeMap<OsString, OsString>,
}

impl Launch {
    /// The maximum length of a [secret](Self::secret) in bytes, which fits into an empty pipe.
    pub const SECRET_LIMIT: usize = 4096;

    /// Creates a launch of `program`, an absolute path, in `directory`.
    pub fn new(program: impl Into<PathBuf>, directory: impl Into<PathBuf>, marker: Marker) -> Self {
        Self {
            program: program.into(),
            directory: directory.into(),
            marker,
            inherited: Vec::new(),
            policy: ShutdownPolicy::interrupt_first(),
            folder: None,
            sandbox: None,
            args: Vec::new(),
            env: BTreeMap::new(),
            secrets: BTreeMap::new(),
        }
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, arg: impl Into<OsString>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<A: Into<OsString>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Sets an environment variable. The variable of the marker cannot be set.
    #[must_use]
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.env.insert(name.into(), value.into());
        self
    }

    /// Sets environment variables.
    #[must_use]
    pub fn envs<N: Into<OsString>, V: Into<OsString>>(
        self,
        variables: impl IntoIterator<Item = (N, V)>,
    ) -> Self {
        let set = |launch: Self, (name, value)| launch.env(name, value);
        variables.into_iter().fold(self, set)
    }

    /// Lets the child inherit an open file, for example a lock.
    ///
    /// No other child inherits it, even if it is started at the same time. Programs that the child
    /// starts inherit it too, unless the child prevents that. Node passes on descriptors with high
    /// numbers only, so the file gets one of 100 or more. Bun, and with it Claude Code, passes on
    /// none.
    #[must_use]
    pub fn inherit(mut self, file: Arc<File>) -> Self {
        self.inherited.push(file);
        self
    }

    /// Passes `secret` to the child through a pipe, and sets `variable` to the number of its
    /// descriptor.
    ///
    /// The secret is neither in the environment of the child nor in a file. Once the child has read
    /// it, the pipe is empty, also for processes that inherit the pipe. If the secret is longer
    /// than [`SECRET_LIMIT`](Self::SECRET_LIMIT) bytes, the start fails.
    #[must_use]
    pub fn secret(mut self, variable: impl Into<OsString>, secret: impl Into<OsString>) -> Self {
        self.secrets.insert(variable.into(), secret.into());
        self
    }

    /// Opens the pipes of the secrets and sets the variables that name them.
    pub(crate) fn open_secrets(&mut self) -> io::Result<Vec<OwnedFd>> {
        let mut descriptors = Vec::with_capacity(self.secrets.len());
        for (variable, secret) in std::mem::take(&mut self.secrets) {
            let descriptor = inherited::filled_pipe(secret.as_bytes())?;
            let number = descriptor.as_raw_fd().to_string();
            self.env.insert(variable, number.into());
            descriptors.push(descriptor);
        }
        Ok(descriptors)
    }

    /// Sets the policy for a handle that is dropped without a shutdown. The default is
    /// [`ShutdownPolicy::interrupt_first`].
    #[must_use]
    pub fn on_drop(mut self, policy: ShutdownPolicy) -> Self {
        self.policy = policy;
        self
    }

    /// Sets a folder that is removed when the last process has ended.
    #[must_use]
    pub fn folder(mut self, folder: SessionFolder) -> Self {
        self.folder = Some(folder);
        self
    }

    /// Executes the program in `sandbox`, or not at all.
    ///
    /// The child is then bubblewrap, which exits like the program. If a signal ended the program,
    /// the exit code is 128 plus the number of the signal. The steps of a [`ShutdownPolicy`] reach
    /// the program. When the child is killed or dies, everything in the sandbox dies too. When this
    /// program dies, the sandbox is killed at once, without an interrupt first.
    #[must_use]
    pub fn sandbox(mut self, sandbox: OsSandbox) -> Self {
        self.sandbox = Some(sandbox);
        self
    }

    /// Builds the command, as far as possible before the fork, and the descriptor that it inherits
    /// beside the files of the launch.
    pub(crate) fn command(&self) -> Result<(Command, Option<OwnedFd>), LaunchError> {
        if !self.program.is_absolute() {
            return Err(LaunchError::NotAbsolute {
                program: self.program.clone(),
            });
        }
        if let Some((name, _)) = self.env.iter().find(|(name, value)| !is_valid(name, value)) {
            return Err(LaunchError::Variable {
                name: name.to_string_lossy().into_owned(),
            });
        }
        let (mut command, options) = match &self.sandbox {
            Some(sandbox) => {
                // Bubblewrap would report it too, but only as text.
                LaunchError::preflight(&self.program, &self.directory)?;
                let (program, directory) = (&self.program, &self.directory);
                let wrapped = sandbox.wrap(program, &self.args, directory, &self.env)?;
                let Wrapped { command, options } = wrapped;
                (command, Some(options))
            }
            None => (self.bare_command(), None),
        };
        // A launch that sets one of these variables starts a process with its own marker.
        let inherited_markers = marker::inherited_markers().into_iter();
        for marker in
            inherited_markers.filter(|marker| !self.env.contains_key(OsStr::new(marker.name())))
        {
            command.env(marker.name(), marker.value());
        }
        command
            .env(self.marker.name(), self.marker.value())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        Ok((command, options))
    }

    fn bare_command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(&self.args)
            .current_dir(&self.directory)
            .env_clear()
            .envs(&self.env);
        command
    }
}

fn is_valid(name: &OsStr, value: &OsStr) -> bool {
    let (name, value) = (name.as_bytes(), value.as_bytes());
    !name.is_empty() && !name.contains(&b'=') && !name.contains(&0) && !value.contains(&0)
}

impl fmt::Debug for Launch {
    // Arguments and values may hold secrets, so they are not shown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Launch")
            .field("program", &self.program)
            .field("directory", &self.directory)
            .field("marker", &self.marker)
            .field("variables", &self.env.keys())
            .field("sandbox", &self.sandbox)
            .finish_non_exhaustive()
    }
}

/// Error of a program that was not started. None of its processes runs.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// The path of the program is relative.
    #[error("{program:?} is not an absolute path")]
    NotAbsolute {
        /// The path.
        program: PathBuf,
    },
    /// The program does not exist.
    #[error("there is no program {program:?}")]
    NotFound {
        /// The program.
        program: PathBuf,
    },
    /// The program exists and cannot be executed.
    #[error("{program:?} cannot be executed")]
    NotExecutable {
        /// The program.
        program: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The program exists, and the interpreter or loader that it needs does not.
    #[error("{program:?} needs an interpreter or a dynamic loader that does not exist")]
    NoInterpreter {
        /// The program.
        program: PathBuf,
    },
    /// The directory cannot be the working directory of the child.
    #[error("{directory:?} is not a directory that a program can start in")]
    Directory {
        /// The directory.
        directory: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// An environment variable cannot have this name or value.
    #[error("the environment variable {name:?} is not valid")]
    Variable {
        /// Its name.
        name: String,
    },
    /// The sandbox cannot be created.
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    /// The system refused for another reason.
    #[error("{program:?} cannot be started")]
    System {
        /// The program.
        program: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
}

impl LaunchError {
    /// Returns a stable, machine-readable code of the kind.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotAbsolute { .. } => "program_not_absolute",
            Self::NotFound { .. } => "program_not_found",
            Self::NotExecutable { .. } => "program_not_executable",
            Self::NoInterpreter { .. } => "interpreter_not_found",
            Self::Directory { .. } => "bad_directory",
            Self::Variable { .. } => "bad_variable",
            Self::Sandbox(error) => error.code(),
            Self::System { .. } => "not_started",
        }
    }

    pub(crate) fn system(program: &Path, source: io::Error) -> Self {
        let program = program.to_owned();
        Self::System { program, source }
    }

    /// Checks whether `program` could be executed in `directory`, before bubblewrap tries.
    pub(crate) fn preflight(program: &Path, directory: &Path) -> Result<(), Self> {
        let refused = |source: io::Error| Err(Self::from_system(program, directory, source));
        match (directory.metadata(), program.metadata()) {
            (Ok(directory), _) if !directory.is_dir() => {
                refused(io::ErrorKind::NotADirectory.into())
            }
            (Err(error), _) | (_, Err(error)) => refused(error),
            _ => access(program, Access::EXEC_OK).or_else(|error| refused(error.into())),
        }
    }

    /// Determines the kind of the system error `source`.
    ///
    /// The system has one error code for a directory, a program and an interpreter that do not
    /// exist.
    pub(crate) fn from_system(program: &Path, directory: &Path, source: io::Error) -> Self {
        let (program, directory) = (program.to_owned(), directory.to_owned());
        match source.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory if !directory.is_dir() => {
                Self::Directory { directory, source }
            }
            io::ErrorKind::NotFound if program.exists() => Self::NoInterpreter { program },
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Self::NotFound { program },
            io::ErrorKind::PermissionDenied if access(&directory, Access::EXEC_OK).is_err() => {
                Self::Directory { directory, source }
            }
            io::ErrorKind::PermissionDenied => Self::NotExecutable { program, source },
            _ => Self::System { program, source },
        }
    }
}
