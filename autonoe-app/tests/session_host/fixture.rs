//! Fixture: a temporary project and its session host.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use autonoe_app::telemetry::SessionTelemetry;
use autonoe_app::{AgentOptions, ComposedSessionHost, Env};
use autonoe_core::engine::{HostedOutcome, HostedSession, SessionHost, SessionHostError};
use autonoe_core::event::InstructionName;
use autonoe_core::time::{Epoch, SessionKey};
use autonoe_core::{Mode, RunId};
use autonoe_testkit::model_server::openai::OpenAiServer;
use autonoe_testkit::model_server::{MainRequests, ModelScript, Turn};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// Time limit for each operation on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// A project with a specification and without the built-in browser, and a home directory.
pub(crate) struct Fixture {
    folder: TempDir,
}

impl Fixture {
    /// Creates the fixture. The folder is not in `/tmp`, because a sandbox has its own.
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir_in("/var/tmp").expect("a folder");
        for name in ["project", "home"] {
            fs::create_dir(folder.path().join(name)).expect("writable");
        }
        let fixture = Self { folder };
        fixture.write("SPEC.md", "# A greeting\n\nThere is a greeting.\n");
        fixture.write(".autonoe/agent.json", "{\"mcpServers\": {}}");
        fixture
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

    /// Creates a host whose agents follow a script, session by session.
    pub(crate) fn scripted(&self, sessions: &[Value]) -> ComposedSessionHost {
        let script = json!({"sessions": sessions}).to_string();
        fs::write(self.folder.path().join("agents.json"), script).expect("writable");
        host(self.path(), &self.scripted_backend())
    }

    /// Returns the backend of the agents of [`scripted`](Self::scripted).
    pub(crate) fn scripted_backend(&self) -> String {
        let file = self.folder.path().join("agents.json");
        format!("scripted:{}", file.display())
    }

    /// Configures a model in the project that answers with these turns.
    pub(crate) fn served(&self, turns: impl IntoIterator<Item = Turn>) -> OpenAiServer {
        let script = ModelScript::new(turns).with_main_requests(MainRequests::All);
        let server = OpenAiServer::start(script);
        let provider =
            json!({"type": "openai", "key": {"env": "THE_KEY"}, "baseUrl": server.api_url()});
        let models = json!({"providers": {"scripted": provider}});
        self.write(".autonoe/models.json", &models.to_string());
        server
    }

    /// Returns the number of sessions with a recorded end.
    pub(crate) fn records(&self) -> usize {
        let journal = self.read(".autonoe/journal.jsonl");
        let ended = journal
            .lines()
            .filter(|line| line.contains("session_ended"));
        ended.count()
    }

    /// Waits until the command of an agent no longer runs. The runtime stays free, because it drops
    /// the tasks of a dropped session.
    pub(crate) async fn nothing_is_left(&self, command: &str) {
        let command = command.to_owned();
        let waiting = tokio::task::spawn_blocking(move || {
            eventually("the end of all processes", || !runs(&command));
        });
        waiting.await.expect("it ends");
    }
}

/// Creates a session host in the project below `folder`.
fn host(folder: &Path, backend: &str) -> ComposedSessionHost {
    let variables = [
        ("PATH", std::env::var_os("PATH").unwrap_or_default()),
        ("HOME", folder.join("home").into()),
        ("THE_KEY", "not checked".into()),
    ];
    let environment = variables.map(|(name, value)| (name.into(), value));
    ComposedSessionHost {
        root: folder.join("project"),
        mode: Mode::Run,
        agent: AgentOptions {
            backend: Some(backend.parse().expect("a backend")),
            ..AgentOptions::default()
        },
        env: Env {
            working_dir: folder.to_owned(),
            environment: environment.into(),
        },
        telemetry: SessionTelemetry::default(),
        trace: None,
        on_warning: Arc::new(|_| {}),
    }
}

/// Creates a host whose agents use the model of [`Setting::served`].
pub(crate) fn on_model(folder: &Path) -> ComposedSessionHost {
    host(folder, "model:scripted/gpt-5")
}

pub(crate) fn key(number: u32) -> SessionKey {
    SessionKey {
        run: RunId::new("shop"),
        number,
    }
}

/// Requests a session with the built-in text of an instruction.
pub(crate) async fn attach(
    host: &ComposedSessionHost,
    number: u32,
    instruction: InstructionName,
    cancelled: CancellationToken,
) -> Result<HostedOutcome, SessionHostError> {
    let (key, session) = (key(number), HostedSession::new(instruction));
    let attaching = host.attach_or_start(&key, Epoch(1), session, &|_| {}, cancelled);
    let attached = tokio::time::timeout(PATIENCE, attaching).await;
    attached.expect("it does not take as long as that")
}

/// Returns a command that nothing else on this machine runs, and that does not end by itself.
pub(crate) fn endless(folder: &Path) -> String {
    use std::hash::{DefaultHasher, Hash, Hasher};

    let mut hasher = DefaultHasher::new();
    folder.hash(&mut hasher);
    format!("sleep {}", 100_000_000 + hasher.finish() % 100_000_000)
}

/// Returns whether a process of this machine has exactly this command.
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

/// Waits until `is_so` holds. Fails when that takes too long.
pub(crate) fn eventually(expectation: &str, is_so: impl Fn() -> bool) {
    let started_at = Instant::now();
    while !is_so() {
        assert!(
            started_at.elapsed() < PATIENCE,
            "waited in vain for {expectation}"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}
