//! Fixture: a project, a scripted model, and sessions of the real program.

use std::fs;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use autonoe_claude::{ClaudeBackend, ClaudeOptions, ConfigFolder};
use autonoe_core::agent::Sandbox;
use autonoe_core::gate::{Gate, Grants, PermissionRule, ProjectPaths};
use autonoe_core::time::SessionKey;
use autonoe_core::tool::Toolbox;
use autonoe_core::{AgentClient, AgentClientFactory, RunId, SessionSpec, Tool};
use autonoe_process::{Marker, ProcessInfo};
use autonoe_testkit::model_server::anthropic::{AnthropicServer, ModelScript};
pub(crate) use autonoe_testkit::program::{TIMEOUT, collect_events, eventually, within};
use autonoe_testkit::program::{files_in, sessions_in};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::build::Build;

/// The default name of the project.
pub(crate) const PROJECT: &str = "project";

/// A variable that every process of a test inherits.
pub(crate) const MARKER: &str = "AUTONOE_TEST_SETTING";

/// A project, and a model that follows a script.
pub(crate) struct Fixture {
    _at_last: KillOnDrop,
    _folders: TempDir,
    pub(crate) server: AnthropicServer,
    place: TestFolders,
}

/// The folders of sessions, the build, and the connection to the model.
///
/// It is separate from the fixture because a process that a test starts uses it, too.
#[derive(Clone)]
pub(crate) struct TestFolders {
    pub(crate) folder: PathBuf,
    /// The name of the project in the folder.
    pub(crate) project: &'static str,
    pub(crate) model: String,
    pub(crate) build: Build,
    pub(crate) login: Login,
}

/// The credentials of the program. The model does not check them.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Login {
    ApiKey,
    Subscription,
    None,
}

impl Fixture {
    pub(crate) fn new(build: Build, script: impl Into<ModelScript>) -> Self {
        Self::with_login(build, script, Login::ApiKey)
    }

    /// Creates a fixture with another name of the project. `script` gets the path of the project.
    pub(crate) fn in_project(
        build: Build,
        name: &'static str,
        script: impl FnOnce(&Path) -> ModelScript,
    ) -> Self {
        Self::create(build, Login::ApiKey, name, script)
    }

    /// Creates a fixture outside of `/tmp`. `script` gets the path of the project.
    pub(crate) fn outside_tmp(build: Build, script: impl FnOnce(&Path) -> ModelScript) -> Self {
        let folders = tempfile::tempdir_in("/var/tmp").expect("a directory can be made");
        Self::create_in(folders, build, Login::ApiKey, PROJECT, script)
    }

    /// Lets the model receive fewer requests than its script has.
    pub(crate) fn unverified(mut self) -> Self {
        self.server = self.server.unverified();
        self
    }

    pub(crate) fn with_login(build: Build, script: impl Into<ModelScript>, login: Login) -> Self {
        Self::create(build, login, PROJECT, |_| script.into())
    }

    fn create(
        build: Build,
        login: Login,
        project: &'static str,
        script: impl FnOnce(&Path) -> ModelScript,
    ) -> Self {
        let folders = tempfile::tempdir().expect("a directory can be made");
        Self::create_in(folders, build, login, project, script)
    }

    fn create_in(
        folders: TempDir,
        build: Build,
        login: Login,
        project: &'static str,
        script: impl FnOnce(&Path) -> ModelScript,
    ) -> Self {
        let folder = folders.path().canonicalize().expect("it is there");
        for name in ["home", "tmp", project] {
            fs::create_dir_all(folder.join(name)).expect("it can be made");
        }
        let server = AnthropicServer::start(script(&folder.join(project)));
        let place = TestFolders {
            model: server.url(),
            folder,
            project,
            build,
            login,
        };
        Self {
            _at_last: KillOnDrop(place.marker()),
            _folders: folders,
            server,
            place,
        }
    }
}

impl Deref for Fixture {
    type Target = TestFolders;

    fn deref(&self) -> &TestFolders {
        &self.place
    }
}

/// Kills the processes that a failed test left running.
struct KillOnDrop(Marker);

impl Drop for KillOnDrop {
    fn drop(&mut self) {
        self.0.kill_all(TIMEOUT);
    }
}

impl TestFolders {
    pub(crate) fn project(&self) -> PathBuf {
        self.folder.join(self.project)
    }

    /// Returns the path of a file in the project.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.project().join(name)
    }

    /// Returns the files of the project, in order, without those of Autonoe.
    pub(crate) fn files(&self) -> Vec<String> {
        files_in(&self.project())
    }

    pub(crate) fn options(&self) -> ClaudeOptions {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut environment = vec![
            ("PATH".into(), path),
            (MARKER.into(), self.folder.clone().into()),
            ("HOME".into(), self.folder.join("home").into()),
            ("ANTHROPIC_BASE_URL".into(), self.model.clone().into()),
        ];
        let credential = match self.login {
            Login::ApiKey => Some("ANTHROPIC_API_KEY"),
            Login::Subscription => Some("CLAUDE_CODE_OAUTH_TOKEN"),
            Login::None => None,
        };
        environment.extend(credential.map(|name| (name.into(), "dummy".into())));
        let mut options = ClaudeOptions::new(self.build.program(), environment);
        options.config = ConfigFolder::PerSession;
        options.program.temporary = self.folder.join("tmp");
        options
    }

    pub(crate) fn agents(&self) -> ClaudeBackend {
        ClaudeBackend::new(self.options())
    }

    /// Returns a spec without a sandbox that grants every built-in tool.
    pub(crate) fn spec(&self, tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> SessionSpec {
        let key = SessionKey {
            run: RunId::new("run"),
            number: 1,
        };
        let tools = Toolbox::new(tools);
        let rules = ["Bash", "Read", "Write", "Edit"].map(|rule| rule.parse::<PermissionRule>());
        let grants = Grants::none().with_rules(rules.into_iter().flatten());
        let gate = Gate::new(
            ProjectPaths::new(self.project()),
            grants.with_toolbox(&tools),
        );
        let mut spec = SessionSpec::new(key, self.project(), gate, tools);
        spec.sandbox = Sandbox::Off;
        spec
    }

    pub(crate) fn client(&self, spec: SessionSpec) -> Box<dyn AgentClient> {
        self.agents().create(spec).expect("it can be made")
    }

    /// Returns the marker of every process that was started here.
    fn marker(&self) -> Marker {
        Marker::new(MARKER, self.folder.to_string_lossy()).expect("it can be one")
    }

    /// Returns the running processes that were started here, by the environment that they
    /// inherited.
    pub(crate) fn processes(&self) -> Vec<ProcessInfo> {
        self.marker().processes()
    }

    /// Waits until the program runs, and returns its process ID.
    pub(crate) async fn program(&self) -> u32 {
        let program = self.build.program().canonicalize().expect("it is there");
        let is_it = |process: &ProcessInfo| {
            let executable = fs::read_link(format!("/proc/{}/exe", process.pid));
            executable.is_ok_and(|executable| executable == program)
        };
        let find = || self.processes().into_iter().find(is_it);
        eventually("the program", || find().is_some()).await;
        find().expect("it was there").pid
    }

    /// Waits until a tool has written the file `name` of the project.
    pub(crate) async fn written(&self, name: &str) {
        let file = self.file(name);
        eventually(name, || file.exists()).await;
    }

    /// Fails if a process or a folder of a session is left.
    pub(crate) fn assert_nothing_is_left(&self) {
        assert_eq!(self.processes(), []);
        assert_eq!(self.session_folders(), Vec::<String>::new());
    }

    /// Waits until no process and no folder of a session is left.
    pub(crate) async fn eventually_nothing_is_left(&self) {
        eventually("the end of the last process", || {
            self.processes().is_empty()
        })
        .await;
        eventually("the end of the last folder", || {
            self.session_folders().is_empty()
        })
        .await;
    }

    /// Returns the existing session folders.
    pub(crate) fn session_folders(&self) -> Vec<String> {
        sessions_in(&self.folder.join("tmp"))
    }
}

/// Sends a signal to one process.
pub(crate) fn send(signal: Signal, process: u32) {
    let process = Pid::from_raw(process.try_into().expect("small"));
    kill_process(process.expect("not zero"), signal).expect("it lives");
}
