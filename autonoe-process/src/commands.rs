//! [`ProcessRunner`] runs commands to completion.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::{
    Exit, InvalidMarker, Launch, LaunchError, Marker, OsSandbox, ShutdownPolicy, StartedProcess,
    Stdout, find_program,
};

/// The environment variable that marks the processes of commands.
const MARKER: &str = "AUTONOE_COMMAND";

/// Bytes per read.
const CHUNK_LEN: usize = 16 * 1024;

/// Time limit for reading the rest of the output of a command that has ended, because another
/// process may hold its pipe open.
const DRAIN_LIMIT: Duration = Duration::from_secs(2);

/// Runs commands as child processes in a directory, and ends them together with all processes that
/// they start.
///
/// A program name without a slash is searched for in the `PATH` of the given environment; one with
/// a slash is a path relative to the directory. There is no shell in between. Standard input is
/// closed. [`run`](Self::run) discards the output of a command.
///
/// A command often runs code that an agent wrote, such as tests or a build. Without a sandbox, such
/// a command bypasses the sandbox of the agent.
///
/// ```
/// use std::time::Duration;
///
/// use autonoe_process::{CommandOutcome, ProcessRunner};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), autonoe_process::CommandError> {
/// let commands = ProcessRunner::unconfined("/").env("PATH", "/usr/bin:/bin");
///
/// let end = commands.run(&["true".to_owned()], Duration::from_secs(10)).await?;
///
/// assert_eq!(end, CommandOutcome::Exited { code: 0 });
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct ProcessRunner {
    directory: PathBuf,
    env: BTreeMap<OsString, OsString>,
    sandbox: Option<OsSandbox>,
    inherited: Vec<Arc<File>>,
}

impl ProcessRunner {
    /// Runs commands in `directory` inside `sandbox`, with an empty environment.
    pub fn confined(directory: impl Into<PathBuf>, sandbox: OsSandbox) -> Self {
        Self {
            sandbox: Some(sandbox),
            ..Self::unconfined(directory)
        }
    }

    /// Runs commands in `directory` with the permissions of this program, with an empty
    /// environment.
    pub fn unconfined(directory: impl Into<PathBuf>) -> Self {
        Self {
            directory: directory.into(),
            env: BTreeMap::new(),
            sandbox: None,
            inherited: Vec::new(),
        }
    }

    /// Runs commands in another directory.
    #[must_use]
    pub fn directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = directory.into();
        self
    }

    /// Sets an environment variable.
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
        let set = |commands: Self, (name, value)| commands.env(name, value);
        variables.into_iter().fold(self, set)
    }

    /// Removes the environment variables whose names are not `wanted`.
    #[must_use]
    pub fn retain_env(mut self, predicate: impl Fn(&OsStr) -> bool) -> Self {
        self.env.retain(|name, _| predicate(name));
        self
    }

    /// Lets commands inherit an open file, for example a lock that must be held until the last of
    /// them has ended, even if this program is killed.
    #[must_use]
    pub fn inherit(mut self, file: Arc<File>) -> Self {
        self.inherited.push(file);
        self
    }

    /// Returns the path of the program `name`. A name with a slash is not checked for existence.
    pub fn find_program(&self, name: &str) -> Option<PathBuf> {
        if name.contains('/') {
            Some(self.directory.join(name))
        } else {
            let path = self.env.get(OsStr::new("PATH"))?;
            find_program(name, path)
        }
    }

    /// Runs `command`, the program and its arguments, for at most `time`.
    ///
    /// No process of the command is alive when this returns, or after its future was dropped.
    ///
    /// # Errors
    ///
    /// The command was not started, or its exit status is unknown.
    pub async fn run(
        &self,
        command: &[String],
        time: Duration,
    ) -> Result<CommandOutcome, CommandError> {
        Ok(self.output(command, time, 0).await?.end)
    }

    /// Runs `command` like [`run`](Self::run), and captures its output.
    ///
    /// At most `limit` bytes of its standard output are kept, and the end of its standard error.
    ///
    /// # Errors
    ///
    /// The command was not started, or its exit status is unknown.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use autonoe_process::ProcessRunner;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), autonoe_process::CommandError> {
    /// let commands = ProcessRunner::unconfined("/").env("PATH", "/usr/bin:/bin");
    ///
    /// let output = commands.output(&["pwd".to_owned()], Duration::from_secs(10), 1024).await?;
    ///
    /// assert_eq!(output.stdout, b"/\n");
    /// assert!(output.is_complete);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn output(
        &self,
        command: &[String],
        time: Duration,
        limit: usize,
    ) -> Result<CommandOutput, CommandError> {
        let StartedProcess {
            process,
            mut stdin,
            mut stdout,
        } = self.launch(command)?.start().await?;
        // A command that reads input fails instead of waiting.
        let _ = stdin.shutdown().await;
        let mut buffer = OutputBuffer::new(limit);
        let exit = {
            let exited = process.exited();
            tokio::pin!(exited);
            let drained = buffer.drain(&mut stdout);
            tokio::pin!(drained);
            let over = tokio::time::sleep(time);
            tokio::pin!(over);
            let mut is_open = true;
            let exit = loop {
                tokio::select! {
                    biased;
                    exit = &mut exited => break Some(exit),
                    () = &mut over => break None,
                    () = &mut drained, if is_open => is_open = false,
                }
            };
            if exit.is_some() && is_open && limit > 0 {
                // The last output is still in the pipe, which a leftover process may hold open.
                let _ = tokio::time::timeout(DRAIN_LIMIT, drained).await;
            }
            exit
        };
        // This also ends the processes that it left in the background.
        let end = process.shutdown(ShutdownPolicy::kill_at_once()).await;
        if !end.is_complete() {
            tracing::warn!(
                left = end.left.len(),
                "some processes of a command could not be killed"
            );
        }
        let end_state = match exit {
            None => CommandOutcome::TimedOut { after: time },
            Some(Exit::Code(code)) => CommandOutcome::Exited { code },
            Some(Exit::Signal(number)) => CommandOutcome::Signalled { number },
            Some(Exit::Unknown) => return Err(CommandError::UnknownEnd),
        };
        Ok(CommandOutput {
            end: end_state,
            is_complete: buffer.is_complete,
            stdout: buffer.bytes,
            stderr: end.stderr_tail,
        })
    }

    fn launch(&self, command: &[String]) -> Result<Launch, CommandError> {
        let (name, args) = command.split_first().ok_or(CommandError::Empty)?;
        let unknown = || CommandError::NotFound {
            program: name.clone(),
        };
        let program = self.find_program(name).ok_or_else(unknown)?;
        let number = getrandom::u64()?;
        let marker = Marker::new(MARKER, format!("{}-{number:016x}", std::process::id()))?;
        let launch = Launch::new(program, &self.directory, marker)
            .args(args)
            .envs(&self.env)
            .on_drop(ShutdownPolicy::kill_at_once());
        let inherit = |launch: Launch, file: &Arc<File>| launch.inherit(file.clone());
        let launch = self.inherited.iter().fold(launch, inherit);
        Ok(match &self.sandbox {
            Some(sandbox) => launch.sandbox(sandbox.clone()),
            None => launch,
        })
    }
}

/// The output of a command, up to a limit.
struct OutputBuffer {
    bytes: Vec<u8>,
    limit: usize,
    is_complete: bool,
}

impl OutputBuffer {
    fn new(limit: usize) -> Self {
        Self {
            bytes: Vec::new(),
            limit,
            is_complete: false,
        }
    }

    /// Reads to the end: a command would block for ever once its pipe is full.
    async fn drain(&mut self, stdout: &mut Stdout) {
        let mut chunk = vec![0; CHUNK_LEN];
        let mut is_cut = false;
        while let Ok(read) = stdout.read(&mut chunk).await {
            if read == 0 {
                self.is_complete = !is_cut;
                return;
            }
            let room = self.limit - self.bytes.len();
            is_cut |= read > room;
            self.bytes.extend_from_slice(&chunk[..read.min(room)]);
        }
    }
}

impl fmt::Debug for ProcessRunner {
    // Values may hold secrets, so they are not shown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let directory: &Path = &self.directory;
        f.debug_struct("ProcessRunner")
            .field("directory", &directory)
            .field("variables", &self.env.keys())
            .field("sandbox", &self.sandbox)
            .finish()
    }
}

/// Outcome of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CommandOutcome {
    /// It exited.
    Exited {
        /// Its exit code.
        code: i32,
    },
    /// A signal ended it.
    Signalled {
        /// The number of the signal.
        number: i32,
    },
    /// It exceeded its time limit and was killed, with all processes that it had started.
    TimedOut {
        /// The time limit.
        after: Duration,
    },
}

impl fmt::Display for CommandOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exited { code } => write!(f, "ended with exit code {code}"),
            Self::Signalled { number } => write!(f, "was killed by signal {number}"),
            Self::TimedOut { after } => {
                write!(f, "was killed after the time limit of {after:?}")
            }
        }
    }
}

/// Output and outcome of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CommandOutput {
    /// The outcome.
    pub end: CommandOutcome,
    /// Its standard output, up to the limit.
    pub stdout: Vec<u8>,
    /// Whether `stdout` is the whole standard output.
    pub is_complete: bool,
    /// The end of its standard error.
    pub stderr: String,
}

impl CommandOutput {
    /// Returns whether the command exited with code 0.
    pub fn is_success(&self) -> bool {
        self.end == CommandOutcome::Exited { code: 0 }
    }
}

/// Error of a command that was not started, or whose exit status is unknown.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CommandError {
    /// The command is empty.
    #[error("there is no program to run")]
    Empty,
    /// The program was not found.
    #[error("there is no program {program:?} in the PATH that commands get")]
    NotFound {
        /// Its name.
        program: String,
    },
    /// The command could not be started.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// The command could not be marked.
    #[error(transparent)]
    Marker(#[from] InvalidMarker),
    /// The system has no random number for the marker.
    #[error("the operating system returned no random numbers")]
    Random(#[from] getrandom::Error),
    /// The command ended, and its exit status is unknown.
    #[error("the command ended without an exit code or a signal")]
    UnknownEnd,
}
