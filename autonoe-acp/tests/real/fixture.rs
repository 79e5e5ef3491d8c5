//! Fixture: a project, a scripted model, and sessions of the real program.

use std::fs;
use std::ops::Deref;
use std::path::{Path, PathBuf};

use autonoe_acp::{AcpBackend, AcpOptions};
use autonoe_core::agent::Sandbox;
use autonoe_core::gate::{Gate, Grants, PermissionRule, ProjectPaths};
use autonoe_core::time::SessionKey;
use autonoe_core::tool::Toolbox;
use autonoe_core::{AgentClient, AgentClientFactory, AgentError, RunId, SessionSpec, StreamEvent};
use autonoe_process::{Marker, ProcessInfo, find_program};
use autonoe_testkit::model_server::gemini::GeminiServer;
use autonoe_testkit::model_server::{ModelScript, Turn};
pub(crate) use autonoe_testkit::program::{TIMEOUT, collect_events, eventually, within};
use autonoe_testkit::program::{names_in, sessions_in};
use serde_json::json;
use tempfile::TempDir;

/// A variable that every process of a test inherits.
const MARKER: &str = "AUTONOE_TEST_SETTING";

/// A project, and a model that follows a script.
pub(crate) struct Fixture {
    _at_last: KillOnDrop,
    _folders: TempDir,
    pub(crate) server: GeminiServer,
    place: TestFolders,
}

/// The folders of sessions.
///
/// It is separate from the fixture because a process that a test starts uses it, too.
#[derive(Clone)]
pub(crate) struct TestFolders {
    pub(crate) folder: PathBuf,
    pub(crate) model: String,
}

impl Fixture {
    pub(crate) fn new(script: impl Into<ModelScript>) -> Self {
        let folders = tempfile::tempdir().expect("a directory can be made");
        for name in ["tmp", "project"] {
            fs::create_dir(folders.path().join(name)).expect("it can be made");
        }
        let server = GeminiServer::start(script);
        let place = TestFolders {
            folder: folders.path().canonicalize().expect("it is there"),
            model: server.url(),
        };
        Self {
            _at_last: KillOnDrop(place.marker()),
            _folders: folders,
            server,
            place,
        }
    }

    /// Lets the model receive fewer requests than its script has.
    pub(crate) fn unverified(mut self) -> Self {
        self.server = self.server.unverified();
        self
    }

    /// Returns the tool results that the model received, in order.
    pub(crate) fn tool_results(&self) -> Vec<String> {
        let requests = self.server.log().main_requests();
        let results = requests.iter().flat_map(|request| request.tool_results());
        results.map(|result| result.text.clone()).collect()
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

/// Returns the pinned script, or fails the test if it is not installed.
fn script() -> PathBuf {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
    let clis = workspace.expect("it is a member").join("target/clis");
    let script = clis.join("gemini-cli-0.61.0/bundle/gemini.js");
    let found = script.canonicalize();
    found.unwrap_or_else(|_| {
        let script = script.display();
        panic!("{script} is missing: run `cargo xtask clis` to install it")
    })
}

impl TestFolders {
    pub(crate) fn project(&self) -> PathBuf {
        self.folder.join("project")
    }

    /// Returns the path of a file in the project.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.project().join(name)
    }

    /// Returns the names in the project.
    pub(crate) fn names(&self) -> Vec<String> {
        names_in(&self.project())
    }

    pub(crate) fn options(&self) -> AcpOptions {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let node = find_program("node", &path).expect("Node.js is installed");
        let environment = [
            ("PATH".into(), path),
            (MARKER.into(), self.folder.clone().into()),
            ("GEMINI_API_KEY".into(), "dummy".into()),
            ("GOOGLE_GEMINI_BASE_URL".into(), self.model.clone().into()),
        ];
        let mut options = AcpOptions::gemini(node, script(), environment);
        options.program.model = Some("gemini-2.5-flash".into());
        options.program.temporary = self.folder.join("tmp");
        options
    }

    pub(crate) fn agents(&self) -> AcpBackend {
        AcpBackend::new(self.options())
    }

    /// Returns a spec without a sandbox that grants every built-in tool.
    pub(crate) fn spec(&self) -> SessionSpec {
        let rules = ["Bash", "Read", "Write", "Edit"].map(|rule| rule.parse::<PermissionRule>());
        self.spec_with(Grants::none().with_rules(rules.into_iter().flatten()))
    }

    /// Returns a spec without a sandbox, with `grants`.
    pub(crate) fn spec_with(&self, grants: Grants) -> SessionSpec {
        let key = SessionKey {
            run: RunId::new("run"),
            number: 1,
        };
        let gate = Gate::new(ProjectPaths::new(self.project()), grants);
        let mut spec = SessionSpec::new(key, self.project(), gate, Toolbox::new([]));
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

    /// Returns the existing session folders.
    pub(crate) fn session_folders(&self) -> Vec<String> {
        sessions_in(&self.folder.join("tmp"))
    }
}

/// Plays one turn in a session of its own, and returns its events and its error.
pub(crate) async fn one_turn(fixture: &Fixture) -> (Vec<StreamEvent>, Option<AgentError>) {
    let mut client = fixture.client(fixture.spec());
    let output = collect_events(client.as_mut(), "Go on.").await;
    within(client.dispose()).await.expect("it ends");
    fixture.assert_nothing_is_left();
    output
}

/// Returns a model turn that runs a command.
pub(crate) fn shell(command: &str) -> Turn {
    Turn::tool("run_shell_command", json!({"command": command}))
}

/// Returns a model turn that writes a file.
pub(crate) fn write(path: &str, content: &str) -> Turn {
    Turn::tool("write_file", json!({"file_path": path, "content": content}))
}
