//! Fixture: a server, workers and projects.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use autonoe_core::engine::{ProjectName, RunSpec, SessionsRun};
use autonoe_core::run::RunLimits;
use autonoe_core::{Mode, RunId};
use autonoe_temporal::{TemporalEngine, TemporalSettings};
use autonoe_temporal_support::{DevServer, eventually};
use serde_json::{Value, json};
use tempfile::TempDir;

/// The program under test.
pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_autonoe-cluster");

/// A server, and a folder for all files.
pub(crate) struct Cluster {
    pub(crate) server: DevServer,
    folder: TempDir,
}

impl Cluster {
    pub(crate) async fn start() -> Self {
        let cluster = Self {
            server: DevServer::start().await,
            folder: tempfile::tempdir().expect("a folder"),
        };
        // Timeouts are ten times shorter than usual, and each session starts a new history.
        let timeouts = json!({
            "heartbeatMs": 6000, "heartbeatIntervalMs": 1000, "hostMs": 4000,
            "sessionsInHistory": 1,
        });
        let settings =
            json!({"server": {"address": cluster.server.address(), "timeouts": timeouts}});
        let written = fs::write(cluster.path("cluster.json"), settings.to_string());
        written.expect("writable");
        cluster
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes the script of the agents: a list of steps for each session.
    pub(crate) fn script(&self, sessions: &[Vec<Value>]) {
        self.script_named("agents.json", sessions);
    }

    /// Writes a script of agents into a file of this name.
    pub(crate) fn script_named(&self, name: &str, sessions: &[Vec<Value>]) {
        let session =
            |steps: &Vec<Value>| json!({"name": "a session", "costUsd": "0.05", "steps": steps});
        let sessions: Vec<_> = sessions.iter().map(session).collect();
        let script = json!({"sessions": sessions}).to_string();
        fs::write(self.path(name), script).expect("writable");
    }

    /// Starts a worker on its own host.
    pub(crate) fn worker(&self, host: &str, more: &[&str]) -> WorkerProcess {
        self.worker_with_variables(host, more, &[])
    }

    /// Starts a worker on its own host, with variables in its environment.
    pub(crate) fn worker_with_variables(
        &self,
        host: &str,
        more: &[&str],
        variables: &[(&str, &str)],
    ) -> WorkerProcess {
        let script = format!("scripted:{}", self.path("agents.json").display());
        let options = [&["--backend", &script], more].concat();
        self.worker_at(host, &self.path(host), &options, variables)
    }

    /// Starts a worker with the projects in a folder.
    pub(crate) fn worker_at(
        &self,
        host: &str,
        root: &Path,
        options: &[&str],
        variables: &[(&str, &str)],
    ) -> WorkerProcess {
        fs::create_dir_all(root).expect("a folder");
        let mut command = Command::new(PROGRAM);
        command
            .arg("worker")
            .arg("--config")
            .arg(self.path("cluster.json"));
        command.args(["--host", host, "--project-root"]).arg(root);
        command.args(options);
        command.envs(variables.iter().copied());
        command.stdin(Stdio::null()).stdout(Stdio::null());
        let log = fs::File::create(self.path(&format!("{host}.log"))).expect("a file");
        command.stderr(log);
        WorkerProcess(command.spawn().expect("it can be started"))
    }

    /// Creates the project `shop` on a host.
    pub(crate) fn shop_on(&self, host: &str) -> PathBuf {
        let project = self.path(host).join("shop");
        fs::create_dir_all(&project).expect("a folder");
        fs::write(project.join("SPEC.md"), "# A greeting\n").expect("writable");
        project
    }

    /// Creates a command with the settings of the cluster.
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(PROGRAM);
        command.args(words).args(["--config", "cluster.json"]);
        command.current_dir(self.folder.path()).stdin(Stdio::null());
        command
    }

    /// Runs such a command, and returns its exit code and its output.
    pub(crate) fn output_of(&self, words: &[&str]) -> (Option<i32>, String) {
        let output = self.command(words).output().expect("it can be started");
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8_lossy(&text).into_owned();
        (output.status.code(), text)
    }

    /// Starts such a command with its output in the file of this name.
    pub(crate) fn start_command(&self, words: &[&str], file: &str) -> RunningCommand {
        let path = self.path(file);
        let written = fs::File::create(&path).expect("writable");
        let both = written.try_clone().expect("a file");
        let child = self.command(words).stdout(written).stderr(both).spawn();
        RunningCommand(child.expect("it can be started"), path)
    }

    /// Connects to the server with the settings of the workers.
    pub(crate) async fn engine(&self) -> TemporalEngine {
        let settings = fs::read(self.path("cluster.json")).expect("readable");
        let settings: Value = serde_json::from_slice(&settings).expect("JSON");
        let server: TemporalSettings =
            serde_json::from_value(settings["server"].clone()).expect("settings");
        TemporalEngine::connect(server).await.expect("it answers")
    }
}

/// A worker process. It is killed when the handle is dropped.
pub(crate) struct WorkerProcess(Child);

impl WorkerProcess {
    pub(crate) fn kill(&mut self) {
        self.0.kill().expect("ours");
        self.0.wait().expect("ours");
    }

    /// Sends SIGTERM, and returns the exit code.
    pub(crate) fn stop(mut self) -> Option<i32> {
        let pid = self.0.id().to_string();
        let signalled = Command::new("kill").args(["-TERM", &pid]).status();
        assert!(signalled.expect("kill").success());
        self.0.wait().expect("it ends").code()
    }
}

impl Drop for WorkerProcess {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A command in progress. It is killed when the handle is dropped.
pub(crate) struct RunningCommand(Child, PathBuf);

impl RunningCommand {
    /// Returns the output so far.
    pub(crate) fn written(&self) -> String {
        fs::read_to_string(&self.1).expect("readable")
    }

    /// Waits for the end, and returns the exit code and the output.
    pub(crate) async fn end(mut self) -> (Option<i32>, String) {
        let mut code = None;
        eventually("the end of a command", || {
            let ended = self.0.try_wait().expect("ours");
            code = ended.and_then(|status| status.code());
            ended.is_some()
        })
        .await;
        (code, self.written())
    }
}

impl Drop for RunningCommand {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A run on the project `shop` without pauses between sessions.
pub(crate) fn run(name: &str) -> RunSpec {
    run_on(name, "shop")
}

/// A run on a project without pauses between sessions.
pub(crate) fn run_on(name: &str, project: &str) -> RunSpec {
    let limits = RunLimits {
        pause: Duration::ZERO,
        ..RunLimits::new(Mode::Run)
    };
    let project = ProjectName::new(project).expect("a name");
    let run = SessionsRun::on_project(&project, limits);
    run.to_spec(RunId::new(name)).expect("it is JSON")
}

/// Steps of a session that plans one deliverable.
pub(crate) fn plans() -> Vec<Value> {
    let deliverable = json!({
        "id": "DL-001", "description": "A greeting", "acceptanceCriteria": ["it is there"],
    });
    let create = json!({"tool": "mcp__autonoe__create", "input": {"deliverables": [deliverable]}});
    vec![json!({ "uses": create }), json!("ends")]
}

/// Steps of a session that marks the deliverable as passed.
pub(crate) fn passes() -> Vec<Value> {
    passes_with("greeting.txt", "Hello.\n")
}

/// Steps of a session that writes a file and marks the deliverable as passed.
pub(crate) fn passes_with(file: &str, text: &str) -> Vec<Value> {
    let input = json!({"deliverableId": "DL-001", "status": "passed"});
    let passed = json!({"tool": "mcp__autonoe__set_status", "input": input});
    let writes = json!({"writes": {"path": file, "text": text}});
    vec![writes, json!({ "uses": passed }), json!("ends")]
}
