//! A project, a scripted model, and a session of the real program between them.

use std::fs;
use std::ops::Deref;
use std::path::{Path, PathBuf};

use autonoe_acp::{AcpAgents, AcpOptions};
use autonoe_core::{
    AgentClient, AgentClientFactory, AgentError, Gate, Grants, PermissionRule, ProjectPaths, RunId,
    Sandbox, SessionKey, SessionSpec, StreamEvent, Toolbox,
};
use autonoe_process::{Marker, ProcessInfo, find_program};
use autonoe_testkit::model_server::gemini::GeminiServer;
use autonoe_testkit::model_server::{Script, Turn};
pub(crate) use autonoe_testkit::program::{PATIENCE, events_of, eventually, within};
use autonoe_testkit::program::{names_in, sessions_in};
use serde_json::json;
use tempfile::TempDir;

/// A variable that everything inherits which a test starts.
const MARKER: &str = "AUTONOE_TEST_SETTING";

/// A project, and a model that follows a script.
pub(crate) struct Setting {
    _at_last: AtLast,
    _folders: TempDir,
    pub(crate) server: GeminiServer,
    place: Place,
}

/// Where sessions take place.
///
/// It is apart from the setting because a process that a test starts works there too.
#[derive(Clone)]
pub(crate) struct Place {
    pub(crate) folder: PathBuf,
    pub(crate) model: String,
}

impl Setting {
    pub(crate) fn new(script: impl Into<Script>) -> Self {
        let folders = tempfile::tempdir().expect("a directory can be made");
        for name in ["tmp", "project"] {
            fs::create_dir(folders.path().join(name)).expect("it can be made");
        }
        let server = GeminiServer::start(script);
        let place = Place {
            folder: folders.path().canonicalize().expect("it is there"),
            model: server.url(),
        };
        Self {
            _at_last: AtLast(place.marker()),
            _folders: folders,
            server,
            place,
        }
    }

    /// Makes a setting whose model may be asked less than its script has.
    pub(crate) fn unverified(mut self) -> Self {
        self.server = self.server.unverified();
        self
    }

    /// Returns what the model was told about its calls, in order.
    pub(crate) fn told(&self) -> Vec<String> {
        let requests = self.server.log().main_requests();
        let results = requests.iter().flat_map(|request| request.tool_results());
        results.map(|result| result.text.clone()).collect()
    }
}

impl Deref for Setting {
    type Target = Place;

    fn deref(&self) -> &Place {
        &self.place
    }
}

/// Ends what a test that has failed left running.
struct AtLast(Marker);

impl Drop for AtLast {
    fn drop(&mut self) {
        self.0.kill_all(PATIENCE);
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

impl Place {
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
        AcpOptions::gemini(node, script(), environment)
            .with_model("gemini-2.5-flash")
            .with_temporary(self.folder.join("tmp"))
    }

    pub(crate) fn agents(&self) -> AcpAgents {
        AcpAgents::new(self.options())
    }

    /// A spec without a sandbox, in which every built-in tool is granted.
    pub(crate) fn spec(&self) -> SessionSpec {
        let rules = ["Bash", "Read", "Write", "Edit"].map(|rule| rule.parse::<PermissionRule>());
        self.spec_with(Grants::none().with_rules(rules.into_iter().flatten()))
    }

    /// A spec without a sandbox, in which `grants` hold.
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

    /// Returns what everything has that was started here.
    fn marker(&self) -> Marker {
        Marker::new(MARKER, self.folder.to_string_lossy()).expect("it can be one")
    }

    /// Returns what runs of all that was started here, by the environment that it inherited.
    pub(crate) fn processes(&self) -> Vec<ProcessInfo> {
        self.marker().processes()
    }

    /// Waits for a tool to write the file `name` of the project.
    pub(crate) async fn written(&self, name: &str) {
        let file = self.file(name);
        eventually(name, || file.exists()).await;
    }

    /// Fails if a process or a folder of a session is left.
    pub(crate) fn assert_nothing_is_left(&self) {
        assert_eq!(self.processes(), []);
        assert_eq!(self.session_folders(), Vec::<String>::new());
    }

    /// Returns the folders of sessions that are there.
    pub(crate) fn session_folders(&self) -> Vec<String> {
        sessions_in(&self.folder.join("tmp"))
    }
}

/// Plays one turn in a session of its own, and returns all that comes of it.
pub(crate) async fn one_turn(setting: &Setting) -> (Vec<StreamEvent>, Option<AgentError>) {
    let mut client = setting.client(setting.spec());
    let heard = events_of(client.as_mut(), "Go on.").await;
    within(client.dispose()).await.expect("it ends");
    setting.assert_nothing_is_left();
    heard
}

/// The model runs a command.
pub(crate) fn shell(command: &str) -> Turn {
    Turn::tool("run_shell_command", json!({"command": command}))
}

/// The model writes a file.
pub(crate) fn write(path: &str, content: &str) -> Turn {
    Turn::tool("write_file", json!({"file_path": path, "content": content}))
}
