//! Commands as child processes.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use async_trait::async_trait;
use autonoe_process::{Exit, Ladder, Launch, Marker, OsSandbox, Started, Stdout, find_program};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::{CommandEnd, CommandRunner};
use crate::error::{FlowError, FlowErrorKind};

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// The variable that processes of commands are found by.
const MARKER: &str = "AUTONOE_FLOW_COMMAND";

/// As much is read at once.
const PIECE: usize = 16 * 1024;

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
/// use autonoe_flow::{CommandEnd, CommandRunner, ProcessCommands};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
/// let commands = ProcessCommands::unconfined("/").env("PATH", "/usr/bin:/bin");
///
/// let end = commands.run(&["true".to_owned()], Duration::from_secs(10)).await?;
///
/// assert_eq!(end, CommandEnd::Exited { code: 0 });
/// # Ok(())
/// # }
/// ```
pub struct ProcessCommands {
    directory: PathBuf,
    env: BTreeMap<OsString, OsString>,
    sandbox: Option<OsSandbox>,
}

impl ProcessCommands {
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
        }
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

    fn program(&self, name: &str) -> Option<PathBuf> {
        match name.contains('/') {
            true => Some(self.directory.join(name)),
            false => {
                let path = self.env.get(OsStr::new("PATH"))?;
                find_program(name, path)
            }
        }
    }

    fn launch(&self, command: &[String]) -> Result<Launch, BoxError> {
        let (name, args) = command.split_first().ok_or("there is no program to run")?;
        let program = self.program(name).ok_or_else(|| unknown(name))?;
        let number = getrandom::u64()?;
        let marker = Marker::new(MARKER, format!("{}-{number:016x}", std::process::id()))?;
        let launch = Launch::new(program, &self.directory, marker)
            .args(args)
            .envs(&self.env)
            .when_dropped(Ladder::kill_at_once());
        Ok(match &self.sandbox {
            Some(sandbox) => launch.inside(sandbox.clone()),
            None => launch,
        })
    }
}

#[async_trait]
impl CommandRunner for ProcessCommands {
    async fn run(&self, command: &[String], time: Duration) -> Result<CommandEnd, BoxError> {
        let Started {
            process,
            mut stdin,
            mut stdout,
        } = self.launch(command)?.start().await?;
        // What asks fails instead of waiting.
        let _ = stdin.shutdown().await;
        let exit = {
            let exited = process.exited();
            tokio::pin!(exited);
            let drained = drain(&mut stdout);
            tokio::pin!(drained);
            let over = tokio::time::sleep(time);
            tokio::pin!(over);
            let mut is_open = true;
            loop {
                tokio::select! {
                    biased;
                    exit = &mut exited => break Some(exit),
                    () = &mut over => break None,
                    () = &mut drained, if is_open => is_open = false,
                }
            }
        };
        // Also what it left in the background.
        let end = process.shut_down(Ladder::kill_at_once()).await;
        if !end.is_complete() {
            tracing::warn!(
                left = end.left.len(),
                "a command left processes that could not be ended"
            );
        }
        match exit {
            None => Ok(CommandEnd::TimedOut { after: time }),
            Some(Exit::Code(code)) => Ok(CommandEnd::Exited { code }),
            Some(Exit::Signal(number)) => Ok(CommandEnd::Signalled { number }),
            Some(exit) => Err(format!("the command {exit}").into()),
        }
    }

    /// A path may lead to what the flow has yet to make; a name of a program is looked for.
    fn resolve(&self, command: &[String]) -> Result<(), FlowError> {
        match command.first() {
            Some(name) if name.contains('/') || self.program(name).is_some() => Ok(()),
            name => Err(unknown(name.map_or("", String::as_str))),
        }
    }
}

fn unknown(name: &str) -> FlowError {
    let message = format!("there is no program {name:?} in the PATH that commands get");
    FlowError::new(FlowErrorKind::DependencyResolution, message)
}

/// A command that nobody listens to would wait for ever once its pipe is full.
async fn drain(stdout: &mut Stdout) {
    let mut piece = vec![0; PIECE];
    while let Ok(1..) = stdout.read(&mut piece).await {}
}

impl fmt::Debug for ProcessCommands {
    // Values may hold secrets, so they are not shown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let directory: &Path = &self.directory;
        f.debug_struct("ProcessCommands")
            .field("directory", &directory)
            .field("variables", &self.env.keys())
            .field("sandbox", &self.sandbox)
            .finish()
    }
}
