//! Commands that are run to their end.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::{
    Exit, InvalidMarker, Ladder, Launch, LaunchError, Marker, OsSandbox, Started, Stdout,
    find_program,
};

/// The variable that processes of commands are found by.
const MARKER: &str = "AUTONOE_COMMAND";

/// As much is read at once.
const PIECE: usize = 16 * 1024;

/// How long is listened on to a command that has ended, should something else hold its pipe open.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// Runs commands as child processes in a folder, and ends them with all that they start.
///
/// A program without a slash is looked for in the `PATH` of the environment
/// that was given; one with a slash is a path from the folder. There is no
/// shell between, nobody types anything, and what a command says is thrown
/// away.
///
/// A command often runs what an agent wrote: its tests, its build. Outside of a
/// sandbox that is a way around the sandbox of the agent.
///
/// ```
/// use std::time::Duration;
///
/// use autonoe_process::{CommandEnd, Commands};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), autonoe_process::CommandError> {
/// let commands = Commands::unconfined("/").env("PATH", "/usr/bin:/bin");
///
/// let end = commands.run(&["true".to_owned()], Duration::from_secs(10)).await?;
///
/// assert_eq!(end, CommandEnd::Exited { code: 0 });
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Commands {
    directory: PathBuf,
    env: BTreeMap<OsString, OsString>,
    sandbox: Option<OsSandbox>,
    inherited: Vec<Arc<File>>,
}

impl Commands {
    /// Runs commands in `directory` inside `sandbox`, with an empty environment.
    pub fn confined(directory: impl Into<PathBuf>, sandbox: OsSandbox) -> Self {
        Self {
            sandbox: Some(sandbox),
            ..Self::unconfined(directory)
        }
    }

    /// Runs commands in `directory` as this program may, with an empty environment.
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
    pub fn in_directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = directory.into();
        self
    }

    /// Sets a variable of the environment.
    #[must_use]
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.env.insert(name.into(), value.into());
        self
    }

    /// Sets variables of the environment.
    #[must_use]
    pub fn envs<N: Into<OsString>, V: Into<OsString>>(
        self,
        variables: impl IntoIterator<Item = (N, V)>,
    ) -> Self {
        let set = |commands: Self, (name, value)| commands.env(name, value);
        variables.into_iter().fold(self, set)
    }

    /// Takes variables out of the environment: those whose names are not `wanted`.
    #[must_use]
    pub fn only_env(mut self, wanted: impl Fn(&OsStr) -> bool) -> Self {
        self.env.retain(|name, _| wanted(name));
        self
    }

    /// Lets commands inherit an open file, for example a lock that is to be held until the last of
    /// them is gone, also when this program is killed.
    #[must_use]
    pub fn inherit(mut self, file: Arc<File>) -> Self {
        self.inherited.push(file);
        self
    }

    /// Finds the program that `name` means here. A path is not looked at.
    pub fn program(&self, name: &str) -> Option<PathBuf> {
        match name.contains('/') {
            true => Some(self.directory.join(name)),
            false => {
                let path = self.env.get(OsStr::new("PATH"))?;
                find_program(name, path)
            }
        }
    }

    /// Runs `command`, the program and its arguments, for at most `time`.
    ///
    /// Nothing of it lives when this returns, or when its future was dropped.
    ///
    /// # Errors
    ///
    /// It was not started, or nobody knows how it ended.
    pub async fn run(
        &self,
        command: &[String],
        time: Duration,
    ) -> Result<CommandEnd, CommandError> {
        Ok(self.attend(command, time, 0).await?.end)
    }

    /// Runs `command` as [`run`](Self::run) does, and keeps what it says.
    ///
    /// At most `limit` bytes of its standard output are kept, and the end of its standard error.
    ///
    /// # Errors
    ///
    /// It was not started, or nobody knows how it ended.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use autonoe_process::Commands;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), autonoe_process::CommandError> {
    /// let commands = Commands::unconfined("/").env("PATH", "/usr/bin:/bin");
    ///
    /// let said = commands.output(&["pwd".to_owned()], Duration::from_secs(10), 1024).await?;
    ///
    /// assert_eq!(said.stdout, b"/\n");
    /// assert!(said.is_complete);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn output(
        &self,
        command: &[String],
        time: Duration,
        limit: usize,
    ) -> Result<CommandOutput, CommandError> {
        self.attend(command, time, limit).await
    }

    async fn attend(
        &self,
        command: &[String],
        time: Duration,
        limit: usize,
    ) -> Result<CommandOutput, CommandError> {
        let Started {
            process,
            mut stdin,
            mut stdout,
        } = self.launch(command)?.start().await?;
        // What asks fails instead of waiting.
        let _ = stdin.shutdown().await;
        let mut kept = Kept::new(limit);
        let exit = {
            let exited = process.exited();
            tokio::pin!(exited);
            let drained = kept.drain(&mut stdout);
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
                // What it said last is still in the pipe; what it left behind may hold it open.
                let _ = tokio::time::timeout(LAST_WORDS, drained).await;
            }
            exit
        };
        // Also what it left in the background.
        let end = process.shut_down(Ladder::kill_at_once()).await;
        if !end.is_complete() {
            tracing::warn!(
                left = end.left.len(),
                "a command left processes that could not be ended"
            );
        }
        let how = match exit {
            None => CommandEnd::TimedOut { after: time },
            Some(Exit::Code(code)) => CommandEnd::Exited { code },
            Some(Exit::Signal(number)) => CommandEnd::Signalled { number },
            Some(Exit::Unknown) => return Err(CommandError::UnknownEnd),
        };
        Ok(CommandOutput {
            end: how,
            is_complete: kept.is_complete,
            stdout: kept.bytes,
            stderr: end.stderr_tail,
        })
    }

    fn launch(&self, command: &[String]) -> Result<Launch, CommandError> {
        let (name, args) = command.split_first().ok_or(CommandError::Empty)?;
        let unknown = || CommandError::NotFound {
            program: name.clone(),
        };
        let program = self.program(name).ok_or_else(unknown)?;
        let number = getrandom::u64()?;
        let marker = Marker::new(MARKER, format!("{}-{number:016x}", std::process::id()))?;
        let launch = Launch::new(program, &self.directory, marker)
            .args(args)
            .envs(&self.env)
            .when_dropped(Ladder::kill_at_once());
        let inherit = |launch: Launch, file: &Arc<File>| launch.inherit(file.clone());
        let launch = self.inherited.iter().fold(launch, inherit);
        Ok(match &self.sandbox {
            Some(sandbox) => launch.inside(sandbox.clone()),
            None => launch,
        })
    }
}

/// What a command said, up to a limit.
struct Kept {
    bytes: Vec<u8>,
    limit: usize,
    is_complete: bool,
}

impl Kept {
    fn new(limit: usize) -> Self {
        Self {
            bytes: Vec::new(),
            limit,
            is_complete: false,
        }
    }

    /// Reads to the end: a command that nobody listens to would wait for ever once its pipe is full.
    async fn drain(&mut self, stdout: &mut Stdout) {
        let mut piece = vec![0; PIECE];
        let mut is_cut = false;
        while let Ok(read) = stdout.read(&mut piece).await {
            if read == 0 {
                self.is_complete = !is_cut;
                return;
            }
            let room = self.limit - self.bytes.len();
            is_cut |= read > room;
            self.bytes.extend_from_slice(&piece[..read.min(room)]);
        }
    }
}

impl fmt::Debug for Commands {
    // Values may hold secrets, so they are not shown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let directory: &Path = &self.directory;
        f.debug_struct("Commands")
            .field("directory", &directory)
            .field("variables", &self.env.keys())
            .field("sandbox", &self.sandbox)
            .finish()
    }
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CommandEnd {
    /// By itself.
    Exited {
        /// Its exit code.
        code: i32,
    },
    /// By a signal.
    Signalled {
        /// The number of the signal.
        number: i32,
    },
    /// It took too long and was ended, with all that it had started.
    TimedOut {
        /// How long it had.
        after: Duration,
    },
}

impl fmt::Display for CommandEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exited { code } => write!(f, "ended with exit code {code}"),
            Self::Signalled { number } => write!(f, "was ended by signal {number}"),
            Self::TimedOut { after } => {
                write!(f, "was ended because it took more than {after:?}")
            }
        }
    }
}

/// What a command said, and how it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CommandOutput {
    /// How it ended.
    pub end: CommandEnd,
    /// What it wrote to its standard output, as far as it was kept.
    pub stdout: Vec<u8>,
    /// Whether that is all that it wrote there.
    pub is_complete: bool,
    /// The end of what it wrote to its standard error.
    pub stderr: String,
}

impl CommandOutput {
    /// Tells whether it ended with exit code 0.
    pub fn is_success(&self) -> bool {
        self.end == CommandEnd::Exited { code: 0 }
    }
}

/// Why nobody knows how a command ended.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CommandError {
    /// There is nothing to run.
    #[error("there is no program to run")]
    Empty,
    /// The program is not there.
    #[error("there is no program {program:?} in the PATH that commands get")]
    NotFound {
        /// Its name.
        program: String,
    },
    /// It could not be started.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// It could not be marked as ours.
    #[error(transparent)]
    Marker(#[from] InvalidMarker),
    /// There is no randomness to mark it with.
    #[error("the system has no random numbers")]
    Random(#[from] getrandom::Error),
    /// It ended, and nobody knows how.
    #[error("the command ended in an unknown way")]
    UnknownEnd,
}
