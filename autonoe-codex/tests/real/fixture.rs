//! Fixture: a project, a scripted model, and sessions of the real program.

use std::fs;
use std::ops::Deref;
use std::path::PathBuf;
use std::sync::Arc;

use autonoe_codex::{CodexBackend, CodexOptions, CodexProvider};
use autonoe_core::agent::{OuterSandbox, Sandbox};
use autonoe_core::gate::{Gate, Grants, PermissionRule, ProjectPaths};
use autonoe_core::time::SessionKey;
use autonoe_core::tool::Toolbox;
use autonoe_core::{AgentClient, AgentClientFactory, RunId, SessionSpec, Tool};
use autonoe_process::{Marker, ProcessInfo};
use autonoe_testkit::model_server::ModelScript;
use autonoe_testkit::model_server::openai::OpenAiServer;
pub(crate) use autonoe_testkit::program::{TIMEOUT, collect_events, eventually, within};
use autonoe_testkit::program::{files_in, sessions_in};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::build::program;

/// A variable that every process of a test inherits.
const MARKER: &str = "AUTONOE_TEST_SETTING";

/// A project, and a model that follows a script.
pub(crate) struct Fixture {
    _at_last: KillOnDrop,
    _folders: TempDir,
    pub(crate) server: OpenAiServer,
    place: TestFolders,
}

/// The folders of sessions, and the connection to the model.
///
/// It is separate from the fixture because a process that a test starts uses it, too.
#[derive(Clone)]
pub(crate) struct TestFolders {
    pub(crate) folder: PathBuf,
    pub(crate) model: String,
    /// Whether the program runs in a sandbox of ours.
    pub(crate) is_sandboxed: bool,
}

impl Fixture {
    /// Runs the program in a sandbox.
    pub(crate) fn sandboxed(mut self) -> Self {
        self.place.is_sandboxed = true;
        self
    }

    /// Lets the model receive fewer requests than its script has.
    pub(crate) fn unverified(mut self) -> Self {
        self.server = self.server.unverified();
        self
    }

    pub(crate) fn new(script: impl Into<ModelScript>) -> Self {
        let folders = tempfile::tempdir().expect("a directory can be made");
        for name in ["tmp", "project"] {
            fs::create_dir(folders.path().join(name)).expect("it can be made");
        }
        let server = OpenAiServer::start(script);
        let place = TestFolders {
            folder: folders.path().canonicalize().expect("it is there"),
            model: server.api_url(),
            is_sandboxed: false,
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
        self.folder.join("project")
    }

    /// Returns the path of a file in the project.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.project().join(name)
    }

    /// Returns the files of the project, in order, without those of Autonoe.
    pub(crate) fn files(&self) -> Vec<String> {
        files_in(&self.project())
    }

    pub(crate) fn options(&self) -> CodexOptions {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let environment = [
            ("PATH".into(), path),
            (MARKER.into(), self.folder.clone().into()),
            ("PASSE_PARTOUT".into(), "dummy".into()),
        ];
        let mut provider = CodexProvider::new(&self.model, "PASSE_PARTOUT");
        provider.max_retries = Some(1);
        let mut options = CodexOptions::new(program(), environment);
        options.program.model = Some("gpt-5.5".into());
        options.program.temporary = self.folder.join("tmp");
        options.provider = Some(provider);
        options
    }

    pub(crate) fn agents(&self) -> CodexBackend {
        CodexBackend::new(self.options())
    }

    /// Returns the sandbox around the program, if it has one.
    pub(crate) fn outer_sandbox(&self) -> Option<OuterSandbox> {
        self.is_sandboxed.then(OuterSandbox::bubblewrap)
    }

    /// Returns a spec without a sandbox of the program that grants every built-in tool.
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
        spec.outer_sandbox = self.outer_sandbox();
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
        eventually("the program", || !self.programs().is_empty()).await;
        self.programs()[0]
    }

    /// Returns the process IDs of all running programs.
    pub(crate) fn programs(&self) -> Vec<u32> {
        let program = program();
        let is_it = |process: &ProcessInfo| {
            let executable = fs::read_link(format!("/proc/{}/exe", process.pid));
            executable.is_ok_and(|executable| executable == program)
        };
        let found = self.processes().into_iter().filter(is_it);
        found.map(|process| process.pid).collect()
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
