//! Tests of sessions with MCP servers, which are real processes.

mod calls;
mod failures;
mod own_server;
mod remote;
mod shutdown;

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use autonoe_core::agent::Sandbox;
use autonoe_core::gate::{Gate, Grants, ProjectPaths};
use autonoe_core::time::SessionKey;
use autonoe_core::tool::{McpServer, Toolbox};
use autonoe_core::{AgentClient, AgentClientFactory, RunId, SessionSpec};
use autonoe_model::ModelAgentOptions;
use serde_json::{Value, json};

use crate::agent::fixture::{ScriptedModel, Turn, agents, calls, text_reply, turn_of};

/// Time limit of each wait.
const DEADLINE: Duration = Duration::from_secs(60);

/// Script of the test servers.
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/agent/mcp/server.py");

/// Folder of the servers, and the run that identifies their processes.
struct Place {
    folder: PathBuf,
    run: String,
    /// Removes the folder at the end, if this process owns it.
    _folder: Option<tempfile::TempDir>,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        Self::at(folder.path()).owning(folder)
    }

    /// Uses a folder that another process removes.
    fn at(folder: impl Into<PathBuf>) -> Self {
        let folder = folder.into();
        let name = folder.file_name().expect("it has one");
        let run = format!("run{}", name.to_string_lossy());
        Self {
            folder,
            run,
            _folder: None,
        }
    }

    fn owning(mut self, folder: tempfile::TempDir) -> Self {
        self._folder = Some(folder);
        self
    }

    /// Returns a session with servers of the given behaviours, with all tools granted.
    fn spec(&self, servers: &[(&str, &str)]) -> SessionSpec {
        let key = SessionKey {
            run: RunId::new(&self.run),
            number: 1,
        };
        let rule = "mcp__web__*".parse().expect("a rule");
        let gate = Gate::new(
            ProjectPaths::new(&self.folder),
            Grants::none().with_rule(rule),
        );
        let mut spec = SessionSpec::new(key, &self.folder, gate, Toolbox::new([]));
        spec.sandbox = Sandbox::Off;
        for (name, mode) in servers {
            spec.mcp_servers.insert((*name).to_owned(), server(mode));
        }
        spec.environment.insert("OF_RUN".into(), self.run.clone());
        spec
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Waits until a server has written the file `name`, and returns its content.
    async fn content_of(&self, name: &str) -> String {
        let path = self.path(name);
        eventually(name, || path.exists()).await;
        fs::read_to_string(path).expect("readable")
    }

    /// Counts the running processes of servers.
    fn processes(&self) -> usize {
        let mark = format!("OF_RUN={}\0", self.run);
        let entries = fs::read_dir("/proc").expect("Linux").flatten();
        let has_mark = |path: PathBuf| {
            let bytes = fs::read(path.join("environ")).unwrap_or_default();
            String::from_utf8_lossy(&bytes).contains(&mark)
        };
        entries.filter(|entry| has_mark(entry.path())).count()
    }

    async fn eventually_nothing_is_left(&self) {
        eventually("the end of the last process", || self.processes() == 0).await;
    }
}

/// Returns a server with the given behaviour.
///
/// `mute` and `garbage` never become ready, and tests let their start time run out. The shell runs
/// them because it starts faster than Python.
fn server(mode: &str) -> McpServer {
    let in_shell = |script: &str| json!({"command": "sh", "args": ["-c", script]});
    let server = match mode {
        // Without the last command, the shell could replace itself with `sleep`.
        "mute" => in_shell("setsid sleep 600 & : > begun; sleep 600; true"),
        "garbage" => in_shell("while :; do echo 'npm warn: nothing works'; sleep 1; done"),
        _ => json!({"command": "python3", "args": [SCRIPT, mode], "env": {"OWN": "1"}}),
    };
    serde_json::from_value(server).expect("a server")
}

/// Waits until `is_so`, and fails after the time limit.
async fn eventually(condition: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < DEADLINE, "waited in vain for {condition}");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// Waits for `future`, and fails after the time limit.
async fn within<T>(future: impl Future<Output = T>) -> T {
    let answer = tokio::time::timeout(DEADLINE, future).await;
    answer.expect("it does not take as long as that")
}

/// Creates the client of a session on `model`.
fn client(
    model: &Arc<ScriptedModel>,
    spec: SessionSpec,
    change: impl FnOnce(&mut ModelAgentOptions),
) -> Box<dyn AgentClient> {
    let agents = agents(model, [], change);
    agents.create(spec).expect("it can be made")
}

/// Runs the calls in a separate session, and returns the turn and the model.
async fn session(
    spec: SessionSpec,
    tool_calls: &[(&str, &str, Value)],
    change: impl FnOnce(&mut ModelAgentOptions),
) -> (Turn, Arc<ScriptedModel>) {
    let model = ScriptedModel::new([calls(tool_calls), text_reply("Done.")]);
    let mut client = client(&model, spec, change);
    let turn = within(turn_of(client.as_mut(), "Begin.")).await;
    within(client.dispose()).await.expect("it ends");
    (turn, model)
}
