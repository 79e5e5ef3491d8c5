//! What to start, and how.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;

use crate::sandbox::{OsSandbox, Wrapped};
use crate::{Ladder, LaunchError, Marker, SessionFolder, inherited, marker};

/// What to start, and how.
///
/// The environment begins empty: the child gets the variables that were given and its
/// [`Marker`], and nothing of this process but markers that are to be
/// [handed on](Marker::hand_on). It gets a session and a process group of
/// its own and no terminal. Of open files it gets its three pipes and what is to be
/// [inherited](Self::inherit). (Before Linux 5.11 and on other systems, also those that
/// were not opened to be closed on exec, which Rust does.)
///
/// ```
/// use autonoe_process::{EndedBy, Exit, Ladder, Launch, Marker, Started};
/// use tokio::io::{AsyncReadExt, AsyncWriteExt};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let marker = Marker::new("AUTONOE_SESSION", format!("example-{}", std::process::id()))?;
/// let launch = Launch::new("/bin/sh", "/", marker)
///     .args(["-c", "read line; echo \"$GREETING, $line\" >&2; echo done; exit 3"])
///     .env("GREETING", "Good morning");
///
/// let Started { process, mut stdin, mut stdout } = launch.start().await?;
/// stdin.write_all(b"Ada\n").await?;
/// let mut said = String::new();
/// stdout.read_to_string(&mut said).await?;
///
/// assert_eq!(said, "done\n");
/// assert_eq!(process.exited().await, Exit::Code(3));
/// assert_eq!(process.stderr_tail(), "Good morning, Ada\n");
///
/// let end = process.shut_down(Ladder::default()).await;
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
    pub(crate) stderr_limit: usize,
    pub(crate) ladder: Ladder,
    pub(crate) folder: Option<SessionFolder>,
    pub(crate) sandbox: Option<OsSandbox>,
    args: Vec<OsString>,
    env: BTreeMap<OsString, OsString>,
    secrets: BTreeMap<OsString, OsString>,
}

impl Launch {
    /// The maximum length of a [secret](Self::secret) in bytes, which fits into an empty pipe.
    pub const SECRET_LIMIT: usize = 4096;

    /// How much of the standard error is kept if nothing else is said: 64 KiB.
    pub const STDERR_LIMIT: usize = 64 * 1024;

    /// Makes a launch of `program`, an absolute path, in `directory`.
    pub fn new(program: impl Into<PathBuf>, directory: impl Into<PathBuf>, marker: Marker) -> Self {
        Self {
            program: program.into(),
            directory: directory.into(),
            marker,
            inherited: Vec::new(),
            stderr_limit: Self::STDERR_LIMIT,
            ladder: Ladder::interrupt_first(),
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

    /// Sets a variable of the environment. The marker's own cannot be set.
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
        let set = |launch: Self, (name, value)| launch.env(name, value);
        variables.into_iter().fold(self, set)
    }

    /// Lets the child inherit an open file, for example a lock.
    ///
    /// No other child does, also if it is started at the same time. What the child starts
    /// inherits it too, unless the child sees to it that it does not: Node hands on what
    /// has a high number, so it gets one of 100 or more; Bun, and with it Claude Code, hands
    /// on nothing.
    #[must_use]
    pub fn inherit(mut self, file: Arc<File>) -> Self {
        self.inherited.push(file);
        self
    }

    /// Passes `secret` to the child through a pipe, and sets `variable` to the number of its
    /// descriptor.
    ///
    /// The secret is neither in the environment of the child nor in a file. When the child has read
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

    /// Sets how much of the end of the standard error is kept.
    #[must_use]
    pub fn stderr_limit(mut self, bytes: usize) -> Self {
        self.stderr_limit = bytes;
        self
    }

    /// Sets what is done when the handle is dropped without being shut down, instead of
    /// [`Ladder::interrupt_first`].
    #[must_use]
    pub fn when_dropped(mut self, ladder: Ladder) -> Self {
        self.ladder = ladder;
        self
    }

    /// Hands over a folder, to be removed when the last process is gone.
    #[must_use]
    pub fn folder(mut self, folder: SessionFolder) -> Self {
        self.folder = Some(folder);
        self
    }

    /// Has the program executed in `sandbox`, or not at all.
    ///
    /// The child is then bubblewrap, which ends as the program does; one that a signal has
    /// ended has code 128 and the number of the signal. [`Process::signal`] and the steps of a
    /// [`Ladder`] reach the program; when the child is killed or dies, all that is in the
    /// sandbox does. When this program dies, it is killed at once, and not interrupted first.
    ///
    /// [`Process::signal`]: crate::Process::signal
    #[must_use]
    pub fn inside(mut self, sandbox: OsSandbox) -> Self {
        self.sandbox = Some(sandbox);
        self
    }

    /// Makes the command, as far as it can be said without the child's help, and what it
    /// inherits beside the files of the launch.
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
                // Bubblewrap would say it too, but only in words.
                LaunchError::foresee(&self.program, &self.directory)?;
                let (program, directory) = (&self.program, &self.directory);
                let wrapped = sandbox.wrap(program, &self.args, directory, &self.env)?;
                let Wrapped { command, options } = wrapped;
                (command, Some(options))
            }
            None => (self.bare_command(), None),
        };
        // Who sets one of these variables starts something with a marker of its own.
        let handed_on = marker::handed_on_markers().into_iter();
        for marker in handed_on.filter(|marker| !self.env.contains_key(OsStr::new(marker.name()))) {
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
