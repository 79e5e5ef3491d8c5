//! Command that starts the process of a member.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use autonoe_core::engine::RunSpec;
use autonoe_process::{InvalidMarker, Launch, Marker, ProcessIdentity};

use crate::folder::MemberFolder;

/// The program that serves a member. Its last argument is the path of the folder, which it serves
/// with a [`MemberServer`](crate::serve::MemberServer).
///
/// Its environment consists of the variables set here, without those of this process.
///
/// ```
/// use autonoe_harness::manager::MemberLifetime;
/// use autonoe_harness::MemberCommand;
///
/// let program = MemberCommand::new("/usr/bin/autonoe")
///     .args(["harness", "work"])
///     .env("PATH", "/usr/bin:/bin")
///     .member_lifetime(MemberLifetime::BoundToManager);
/// # drop(program);
/// ```
#[derive(Clone)]
pub struct MemberCommand {
    program: PathBuf,
    args: Vec<OsString>,
    env: BTreeMap<OsString, OsString>,
    env_for: Option<EnvFor>,
    directory: Option<PathBuf>,
    pub(super) member_lifetime: MemberLifetime,
}

/// Returns the variables for an order.
type EnvFor = Arc<dyn Fn(&RunSpec) -> BTreeMap<OsString, OsString> + Send + Sync>;

/// Environment variable that marks the processes of one start of a member.
const START_MARKER: &str = "AUTONOE_HARNESS_START";

/// Behaviour of members when the manager ends, for whatever reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum MemberLifetime {
    /// They end with it. Each receives `SIGINT` and releases its run (see
    /// `MemberServer::shutdown_signal`); a later manager resumes it.
    #[default]
    BoundToManager,
    /// They keep running, and a later manager finds them.
    Outlives,
}

impl MemberCommand {
    /// Creates a command from the absolute path of the program.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            env: BTreeMap::new(),
            env_for: None,
            directory: None,
            member_lifetime: MemberLifetime::default(),
        }
    }

    /// Adds arguments, which precede the folder.
    #[must_use]
    pub fn args<A: Into<OsString>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Sets an environment variable.
    #[must_use]
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.env.insert(name.into(), value.into());
        self
    }

    /// Sets variables that depend on the order, for example the keys of its backend, so that no
    /// member gets those of another. They override the variables that are set for all.
    ///
    /// ```
    /// use std::collections::BTreeMap;
    ///
    /// use autonoe_harness::MemberCommand;
    ///
    /// let program = MemberCommand::new("/usr/bin/autonoe").env_for(|order| {
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

    /// Sets the working directory; that of the member by default.
    #[must_use]
    pub fn directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = Some(directory.into());
        self
    }

    /// Sets the behaviour of members when the manager ends.
    #[must_use]
    pub fn member_lifetime(mut self, member_lifetime: MemberLifetime) -> Self {
        self.member_lifetime = member_lifetime;
        self
    }

    /// Builds the launch for `folder`, whose processes carry the marker `of_folder`.
    ///
    /// The processes of this start have a second marker of their own: by the time they are cleaned
    /// up, another manager may have started the next process, which must live.
    pub(super) fn launch(
        &self,
        folder: &MemberFolder,
        order: &RunSpec,
        of_folder: &Marker,
    ) -> Result<Launch, InvalidMarker> {
        static STARTS: AtomicU64 = AtomicU64::new(0);
        let number = STARTS.fetch_add(1, Ordering::Relaxed);
        let own = ProcessIdentity::current();
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

impl fmt::Debug for MemberCommand {
    // Arguments and values may contain secrets, so they are left out.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemberCommand")
            .field("program", &self.program)
            .field("variables", &self.env.keys())
            .field("member_lifetime", &self.member_lifetime)
            .finish_non_exhaustive()
    }
}
