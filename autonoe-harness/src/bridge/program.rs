//! A program that is talked to.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use autonoe_core::{Failure, Retry};
use autonoe_process::{
    Action, Ladder, Launch, LaunchError, Marker, ProcessIdentity, Signal, Started,
};

use crate::manager::may_pass;

/// How much of what a program complained of is told.
const COMPLAINT: usize = 2_000;

/// A program that is talked to over its standard input and output.
///
/// Its environment is what is set here, and nothing of this process. When it is not needed any more
/// its input is closed, at which it lets go of all that it does; what does not end then is
/// interrupted, and at last killed with all that it has started. When this process dies, it has the
/// end of its input and `SIGINT`.
///
/// ```
/// use autonoe_harness::PipedProgram;
///
/// let program = PipedProgram::new("/usr/bin/autonoe", "/srv/shop")
///     .args(["session-host"])
///     .env("PATH", "/usr/bin:/bin");
/// # drop(program);
/// ```
#[derive(Clone)]
pub struct PipedProgram {
    program: PathBuf,
    directory: PathBuf,
    args: Vec<OsString>,
    env: BTreeMap<OsString, OsString>,
    patience: Duration,
}

impl PipedProgram {
    /// The variable by which is found what such a program has left. A program that starts others
    /// hands it on to them (see `autonoe_process::Marker::hand_on`).
    pub const MARKER: &str = "AUTONOE_BRIDGE";

    /// How long a program has to let go, if nothing else is said.
    pub const PATIENCE: Duration = Duration::from_secs(20);

    /// Makes a program of its absolute path and the directory that it stands in.
    pub fn new(program: impl Into<PathBuf>, directory: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            directory: directory.into(),
            args: Vec::new(),
            env: BTreeMap::new(),
            patience: Self::PATIENCE,
        }
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<A: Into<OsString>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
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
        let set = |program: Self, (name, value)| program.env(name, value);
        variables.into_iter().fold(self, set)
    }

    /// Sets how long it has to let go of what it does before it is interrupted.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Returns its path.
    pub fn path(&self) -> &Path {
        &self.program
    }

    /// Returns what is done to end it.
    pub(super) fn ladder(&self) -> Ladder {
        Ladder::kill_at_once()
            .then(Action::CloseStdin, self.patience)
            .then(Action::Signal(Signal::Interrupt), Duration::from_secs(5))
            .then(Action::Signal(Signal::Terminate), Duration::from_secs(2))
    }

    /// Starts it.
    pub(super) async fn start(&self) -> Result<Started, LaunchError> {
        let marker = marker().map_err(|error| LaunchError::System {
            program: self.program.clone(),
            source: std::io::Error::other(error),
        })?;
        let launch = Launch::new(&self.program, &self.directory, marker)
            .args(self.args.iter().cloned())
            .envs(&self.env)
            .when_dropped(self.ladder());
        launch.start().await
    }
}

/// Makes a marker that no other start has.
fn marker() -> Result<Marker, autonoe_process::InvalidMarker> {
    static STARTS: AtomicU64 = AtomicU64::new(0);
    let number = STARTS.fetch_add(1, Ordering::Relaxed);
    let own = ProcessIdentity::own();
    let since = own.as_ref().map_or("", ProcessIdentity::started);
    let value = format!("{}-{since}-{number}", std::process::id());
    Marker::new(PipedProgram::MARKER, value)
}

/// Writes down why a program was not started.
pub(super) fn not_started(error: &LaunchError) -> Failure {
    let retry = match may_pass(error) {
        true => Retry::MayHelp,
        false => Retry::Useless,
    };
    Failure::from_error(error.code(), error, retry)
}

/// Returns the end of what a program complained of, as a part of a sentence.
pub(super) fn complaint(stderr: &str) -> String {
    let stderr = stderr.trim();
    if stderr.is_empty() {
        return String::new();
    }
    let from = stderr.ceil_char_boundary(stderr.len().saturating_sub(COMPLAINT));
    format!("; it complained: {}", &stderr[from..])
}

impl fmt::Debug for PipedProgram {
    // Arguments and values may hold secrets, so they are not shown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PipedProgram")
            .field("program", &self.program)
            .field("directory", &self.directory)
            .field("variables", &self.env.keys())
            .finish_non_exhaustive()
    }
}
