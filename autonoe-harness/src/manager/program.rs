//! The program that serves a sub-harness.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use autonoe_core::RunSpec;
use autonoe_process::{InvalidMarker, Launch, Marker, ProcessIdentity};

use crate::HarnessFolder;

/// The program that serves a sub-harness. It is given the path of the folder as its last argument,
/// and serves it with a [`Serving`](crate::Serving).
///
/// Its environment is what is set here, and nothing of this process.
///
/// ```
/// use autonoe_harness::{SubHarnessProgram, Survival};
///
/// let program = SubHarnessProgram::new("/usr/bin/autonoe")
///     .args(["harness", "work"])
///     .env("PATH", "/usr/bin:/bin")
///     .survival(Survival::DiesWithManager);
/// # drop(program);
/// ```
#[derive(Clone)]
pub struct SubHarnessProgram {
    program: PathBuf,
    args: Vec<OsString>,
    env: BTreeMap<OsString, OsString>,
    env_for: Option<EnvFor>,
    directory: Option<PathBuf>,
    pub(super) survival: Survival,
}

/// Says which variables an order needs.
type EnvFor = Arc<dyn Fn(&RunSpec) -> BTreeMap<OsString, OsString> + Send + Sync>;

/// The variable that finds what one start of a sub-harness has left.
const START_MARKER: &str = "AUTONOE_HARNESS_START";

/// What becomes of sub-harnesses when the manager ends, however it does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Survival {
    /// They end with it. Each is sent `SIGINT`, at which it lets go of its run (see
    /// [`Serving::until`](crate::Serving::until)); a manager that comes later goes on with it.
    #[default]
    DiesWithManager,
    /// They go on, and a manager that comes later finds them.
    Outlives,
}

impl SubHarnessProgram {
    /// Makes a program of its absolute path.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            env: BTreeMap::new(),
            env_for: None,
            directory: None,
            survival: Survival::default(),
        }
    }

    /// Adds arguments, which stand before the folder.
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

    /// Sets variables that depend on the order, for example the keys of the backend that it names,
    /// so that no sub-harness gets those of another. They count before those that are set for all.
    ///
    /// ```
    /// use std::collections::BTreeMap;
    ///
    /// use autonoe_harness::SubHarnessProgram;
    ///
    /// let program = SubHarnessProgram::new("/usr/bin/autonoe").env_for(|order| {
    ///     let backend = order.input["work"]["backend"].as_str().unwrap_or_default();
    ///     BTreeMap::from([("BACKEND".into(), backend.into())])
    /// });
    /// # drop(program);
    /// ```
    #[must_use]
    pub fn env_for(
        mut self,
        variables: impl Fn(&RunSpec) -> BTreeMap<OsString, OsString> + Send + Sync + 'static,
    ) -> Self {
        self.env_for = Some(Arc::new(variables));
        self
    }

    /// Sets the directory that it is started in; that of the sub-harness by default.
    #[must_use]
    pub fn directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = Some(directory.into());
        self
    }

    /// Sets what becomes of sub-harnesses when the manager ends.
    #[must_use]
    pub fn survival(mut self, survival: Survival) -> Self {
        self.survival = survival;
        self
    }

    /// Launches it for `folder`, which finds all that has `of_folder`.
    ///
    /// What this start has left is found by a marker of its own: by then another manager may have
    /// started the next process, and that must live.
    pub(super) fn launch(
        &self,
        folder: &HarnessFolder,
        order: &RunSpec,
        of_folder: &Marker,
    ) -> Result<Launch, InvalidMarker> {
        static STARTS: AtomicU64 = AtomicU64::new(0);
        let number = STARTS.fetch_add(1, Ordering::Relaxed);
        let own = ProcessIdentity::own();
        let since = own.as_ref().map_or("", ProcessIdentity::started);
        let pid = std::process::id();
        let start = format!("{}-{pid}-{since}-{number}", of_folder.value());
        let of_start = Marker::new(START_MARKER, start)?;
        let directory = self.directory.as_deref();
        let directory = directory.unwrap_or_else(|| folder.path());
        let of_order = self.env_for.as_ref().map(|variables| variables(order));
        Ok(Launch::new(&self.program, directory, of_start)
            .args(self.args.iter().cloned())
            .arg(folder.path())
            .envs(&self.env)
            .envs(of_order.unwrap_or_default())
            .env(of_folder.name(), of_folder.value()))
    }
}

impl fmt::Debug for SubHarnessProgram {
    // Arguments and values may hold secrets, so they are not shown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SubHarnessProgram")
            .field("program", &self.program)
            .field("variables", &self.env.keys())
            .field("survival", &self.survival)
            .finish_non_exhaustive()
    }
}
