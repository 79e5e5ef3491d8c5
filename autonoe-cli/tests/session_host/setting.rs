//! A temporary project, and the command as a session host in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use autonoe_core::{
    Epoch, HostedOutcome, HostedSession, InstructionName, RunId, SessionHost, SessionHostError,
    SessionKey,
};
use autonoe_harness::{PipedProgram, ProgramSessionHost};
use autonoe_process::Marker;
use autonoe_testkit::model_server::openai::OpenAiServer;
use autonoe_testkit::model_server::{MainRequests, Script, Turn};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// How long anything may take on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// A variable that the command is started with.
const MARKER: &str = "AUTONOE_TEST_SETTING";

/// A project with a specification and without the built-in browser, and a home.
pub(crate) struct Setting {
    folder: TempDir,
}

impl Setting {
    /// The folder is not in `/tmp`: a sandbox has one of its own.
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir_in("/var/tmp").expect("a folder");
        for name in ["project", "home"] {
            fs::create_dir(folder.path().join(name)).expect("writable");
        }
        let setting = Self { folder };
        setting.write("SPEC.md", "# A greeting\n\nThere is a greeting.\n");
        setting.write(".autonoe/agent.json", "{\"mcpServers\": {}}");
        setting
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.project().join(name);
        fs::create_dir_all(path.parent().expect("it has one")).expect("writable");
        fs::write(path, text).expect("writable");
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.project().join(name)).unwrap_or_default()
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    /// A host whose agents follow a script, session by session.
    pub(crate) fn scripted(&self, sessions: &[Value]) -> ProgramSessionHost {
        let script = json!({"sessions": sessions}).to_string();
        fs::write(self.folder.path().join("agents.json"), script).expect("writable");
        host(self.path(), &self.scripted_backend())
    }

    /// Names the agents of [`scripted`](Self::scripted).
    pub(crate) fn scripted_backend(&self) -> String {
        let file = self.folder.path().join("agents.json");
        format!("--backend=scripted:{}", file.display())
    }

    /// Has the project know a model whose turns are these.
    pub(crate) fn served(&self, turns: impl IntoIterator<Item = Turn>) -> OpenAiServer {
        let script = Script::new(turns).with_main_requests(MainRequests::All);
        let server = OpenAiServer::start(script);
        let provider =
            json!({"type": "openai", "key": {"env": "THE_KEY"}, "baseUrl": server.api_url()});
        let models = json!({"providers": {"scripted": provider}});
        self.write(".autonoe/models.json", &models.to_string());
        server
    }

    /// Returns how many sessions have a recorded end.
    pub(crate) fn records(&self) -> usize {
        let journal = self.read(".autonoe/journal.jsonl");
        let ended = journal
            .lines()
            .filter(|line| line.contains("session_ended"));
        ended.count()
    }

    /// Waits until nothing runs any more that the command or its agents started.
    pub(crate) fn nothing_is_left(&self, command: &str) {
        let marker = Marker::new(MARKER, self.folder.path().to_string_lossy()).expect("a marker");
        let is_left = || !marker.processes().is_empty() || runs(command);
        eventually("the end of all processes", || !is_left());
    }
}

/// The command as a session host in the project below `folder`.
pub(crate) fn host(folder: &Path, backend: &str) -> ProgramSessionHost {
    ProgramSessionHost::new(program(folder).args([backend]))
}

/// A host whose agents are the model of [`Setting::served`].
pub(crate) fn on_model(folder: &Path) -> ProgramSessionHost {
    host(folder, "--backend=model:scripted/gpt-5")
}

pub(crate) fn program(folder: &Path) -> PipedProgram {
    PipedProgram::new(env!("CARGO_BIN_EXE_autonoe"), folder.join("project"))
        .args(["session-host"])
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", folder.join("home"))
        .env("THE_KEY", "nobody checks it")
        .env(MARKER, folder)
}

pub(crate) fn key(number: u32) -> SessionKey {
    SessionKey {
        run: RunId::new("shop"),
        number,
    }
}

/// Asks for a session on the built-in text of an instruction.
pub(crate) async fn attach(
    host: &ProgramSessionHost,
    number: u32,
    instruction: InstructionName,
    cancelled: CancellationToken,
) -> Result<HostedOutcome, SessionHostError> {
    let (key, session) = (key(number), HostedSession::new(instruction));
    let attaching = host.attach_or_start(&key, Epoch(1), session, &|_| {}, cancelled);
    let attached = tokio::time::timeout(PATIENCE, attaching).await;
    attached.expect("it does not take as long as that")
}

/// A command that nothing else on this machine runs, and that does not end by itself.
pub(crate) fn endless(folder: &Path) -> String {
    use std::hash::{DefaultHasher, Hash, Hasher};

    let mut hasher = DefaultHasher::new();
    folder.hash(&mut hasher);
    format!("sleep {}", 100_000_000 + hasher.finish() % 100_000_000)
}

/// Tells whether a process of this machine is exactly `command`.
fn runs(command: &str) -> bool {
    let words: Vec<u8> = command.replace(' ', "\0").into_bytes();
    let processes = fs::read_dir("/proc").expect("it is there").flatten();
    let mut lines = processes.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    lines.any(|line| line.strip_suffix(b"\0") == Some(&words[..]))
}

/// Waits until an agent runs `command`.
pub(crate) async fn it_runs(command: &str) {
    let command = command.to_owned();
    let waiting = tokio::task::spawn_blocking(move || eventually(&command, || runs(&command)));
    waiting.await.expect("it runs");
}

/// Waits until `is_so`, and fails when that takes too long.
pub(crate) fn eventually(what: &str, is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
