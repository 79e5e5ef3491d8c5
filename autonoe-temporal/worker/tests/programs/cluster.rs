//! A server, workers and projects of a test.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use autonoe_core::{Mode, ProjectName, RunId, RunLimits, RunSpec, SessionsRun};
use autonoe_harness::{PipedProgram, ProgramEngine};
use autonoe_temporal_support::{DevServer, eventually};
use serde_json::{Value, json};
use tempfile::TempDir;

/// The program that is tested.
pub(crate) const WORKER: &str = env!("CARGO_BIN_EXE_autonoe-worker");

/// A server with a folder for everything else.
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
        // Ten times as hasty as one would be, and each session begins the history anew.
        let pace = json!({
            "heartbeatMs": 6000, "beatMs": 1000, "hostMs": 4000, "sessionsInHistory": 1,
        });
        let settings = json!({"server": {"address": cluster.server.address(), "pace": pace}});
        let written = fs::write(cluster.path("cluster.json"), settings.to_string());
        written.expect("writable");
        cluster
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes what agents do, a list of steps for each session.
    pub(crate) fn script(&self, sessions: &[Vec<Value>]) {
        let session =
            |steps: &Vec<Value>| json!({"name": "a session", "costUsd": "0.05", "steps": steps});
        let sessions: Vec<_> = sessions.iter().map(session).collect();
        let script = json!({"sessions": sessions}).to_string();
        fs::write(self.path("agents.json"), script).expect("writable");
    }

    /// Starts a worker on a host of its own.
    pub(crate) fn worker(&self, host: &str, more: &[&str]) -> WorkerProcess {
        let root = self.path(host);
        fs::create_dir_all(&root).expect("a folder");
        let mut command = Command::new(WORKER);
        command.arg("--config").arg(self.path("cluster.json"));
        command.args(["--host", host, "--project-root"]).arg(&root);
        command.arg("--autonoe").arg(autonoe()).args(more);
        let script = format!("scripted:{}", self.path("agents.json").display());
        command.args(["--", "--backend", &script]);
        command.stdin(Stdio::null()).stdout(Stdio::null());
        let said = fs::File::create(self.path(&format!("{host}.log"))).expect("a file");
        command.stderr(said);
        WorkerProcess(command.spawn().expect("it can be started"))
    }

    /// Makes the project `shop` on a host.
    pub(crate) fn shop_on(&self, host: &str) -> PathBuf {
        let project = self.path(host).join("shop");
        fs::create_dir_all(&project).expect("a folder");
        fs::write(project.join("SPEC.md"), "# A greeting\n").expect("writable");
        project
    }

    /// A command of a person who has the settings of the cluster.
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(autonoe());
        command
            .args(words)
            .args(["--engine-config", "cluster.json"]);
        command.args(["--engine-program", WORKER]);
        command.current_dir(self.folder.path()).stdin(Stdio::null());
        command
    }

    /// Carries out such a command, and returns its exit code and what it wrote.
    pub(crate) fn says(&self, words: &[&str]) -> (Option<i32>, String) {
        let output = self.command(words).output().expect("it can be started");
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8_lossy(&text).into_owned();
        (output.status.code(), text)
    }

    /// Begins such a command, which writes into the file of this name.
    pub(crate) fn begins(&self, words: &[&str], file: &str) -> Began {
        let path = self.path(file);
        let written = fs::File::create(&path).expect("writable");
        let both = written.try_clone().expect("a file");
        let child = self.command(words).stdout(written).stderr(both).spawn();
        Began(child.expect("it can be started"), path)
    }

    /// Asks the server through the program, as `autonoe` does.
    pub(crate) async fn engine(&self) -> ProgramEngine {
        let program = PipedProgram::new(WORKER, self.folder.path()).args([
            "engine",
            "--config",
            "cluster.json",
        ]);
        ProgramEngine::start(&program).await.expect("it answers")
    }
}

/// A worker, killed at the latest with its handle.
pub(crate) struct WorkerProcess(Child);

impl WorkerProcess {
    pub(crate) fn kill(&mut self) {
        self.0.kill().expect("ours");
        self.0.wait().expect("ours");
    }

    /// Asks it to stop, and returns how it ended.
    pub(crate) fn stop(mut self) -> Option<i32> {
        let pid = self.0.id().to_string();
        let asked = Command::new("kill").args(["-TERM", &pid]).status();
        assert!(asked.expect("kill").success());
        self.0.wait().expect("it ends").code()
    }
}

impl Drop for WorkerProcess {
    fn drop(&mut self) {
        // It may be gone.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A command under way, killed at the latest with this.
pub(crate) struct Began(Child, PathBuf);

impl Began {
    /// Returns what it has written so far.
    pub(crate) fn written(&self) -> String {
        fs::read_to_string(&self.1).expect("readable")
    }

    /// Waits for its end, and returns the exit code and what it wrote.
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

impl Drop for Began {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A run on the project `shop` in which nobody waits between sessions.
pub(crate) fn run(name: &str) -> RunSpec {
    let limits = RunLimits {
        pause: Duration::ZERO,
        ..RunLimits::new(Mode::Run)
    };
    let shop = ProjectName::new("shop").expect("a name");
    let run = SessionsRun::on_project(&shop, limits);
    run.named(RunId::new(name)).expect("it is JSON")
}

/// Steps of a session that plans one deliverable.
pub(crate) fn plans() -> Vec<Value> {
    let deliverable = json!({
        "id": "DL-001", "description": "A greeting", "acceptanceCriteria": ["it is there"],
    });
    let create = json!({"tool": "mcp__autonoe__create", "input": {"deliverables": [deliverable]}});
    vec![json!({ "uses": create }), json!("ends")]
}

/// Steps of a session that has it pass.
pub(crate) fn passes() -> Vec<Value> {
    let input = json!({"deliverableId": "DL-001", "status": "passed"});
    let passed = json!({"tool": "mcp__autonoe__set_status", "input": input});
    let writes = json!({"writes": {"path": "greeting.txt", "text": "Hello.\n"}});
    vec![writes, json!({ "uses": passed }), json!("ends")]
}

pub(crate) fn autonoe() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let places = here.ancestors().map(|it| it.join("target/debug/autonoe"));
    let mut found = places.filter(|it| it.is_file());
    found
        .next()
        .expect("`cargo xtask test-temporal` builds the program autonoe")
}
