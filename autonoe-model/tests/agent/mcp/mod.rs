//! Sessions with MCP servers, which are real processes.

mod calling;
mod ending;
mod failing;
mod own_server;
mod remote;

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use autonoe_core::{
    AgentClient, AgentClientFactory, Gate, Grants, McpServer, ProjectPaths, RunId, Sandbox,
    SessionKey, SessionSpec, Toolbox,
};
use autonoe_model::ModelAgentOptions;
use serde_json::{Value, json};

use crate::agent::setting::{ScriptedModel, Turn, agents, calls, says, turn_of};

/// How long anything may take that is waited for.
const DEADLINE: Duration = Duration::from_secs(60);

/// What servers are told to do.
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/agent/mcp/server.py");

/// A folder that servers work in, and a run that their processes are found by.
struct Place {
    folder: PathBuf,
    run: String,
    /// Removes the folder at the end, if it is ours.
    _folder: Option<tempfile::TempDir>,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        Self::at(folder.path()).owning(folder)
    }

    /// The place in a folder that somebody else removes.
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

    /// A session with servers that behave as is said, of which everything is granted.
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
        for (name, how) in servers {
            spec.mcp_servers.insert((*name).to_owned(), server(how));
        }
        spec.environment.insert("OF_RUN".into(), self.run.clone());
        spec
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Waits until a server has written the file `name`, and returns what is in it.
    async fn told_in(&self, name: &str) -> String {
        let path = self.path(name);
        eventually(name, || path.exists()).await;
        fs::read_to_string(path).expect("readable")
    }

    /// Counts the processes of servers that live.
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

/// A server that behaves as is said.
///
/// `mute` and `garbage` never become ready, and tests let their start time run out. The shell runs
/// them because it starts faster than Python.
fn server(how: &str) -> McpServer {
    let in_shell = |script: &str| json!({"command": "sh", "args": ["-c", script]});
    let server = match how {
        // Without the last command, the shell could replace itself with `sleep`.
        "mute" => in_shell("setsid sleep 600 & : > begun; sleep 600; true"),
        "garbage" => in_shell("while :; do echo 'npm warn: nothing works'; sleep 1; done"),
        _ => json!({"command": "python3", "args": [SCRIPT, how], "env": {"OWN": "1"}}),
    };
    serde_json::from_value(server).expect("a server")
}

/// Waits until `is_so`, and fails when that takes too long.
async fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < DEADLINE, "waited in vain for {what}");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// Waits for `future`, and fails when that takes too long.
async fn within<T>(future: impl Future<Output = T>) -> T {
    let answer = tokio::time::timeout(DEADLINE, future).await;
    answer.expect("it does not take as long as that")
}

/// Makes the client of a session on `model`.
fn client(
    model: &Arc<ScriptedModel>,
    spec: SessionSpec,
    change: impl FnOnce(&mut ModelAgentOptions),
) -> Box<dyn AgentClient> {
    let agents = agents(model, [], change);
    agents.create(spec).expect("it can be made")
}

/// Makes the calls in a session of their own, and returns what came of them, and the model.
async fn session(
    spec: SessionSpec,
    made: &[(&str, &str, Value)],
    change: impl FnOnce(&mut ModelAgentOptions),
) -> (Turn, Arc<ScriptedModel>) {
    let model = ScriptedModel::new([calls(made), says("Done.")]);
    let mut client = client(&model, spec, change);
    let turn = within(turn_of(client.as_mut(), "Begin.")).await;
    within(client.dispose()).await.expect("it ends");
    (turn, model)
}
