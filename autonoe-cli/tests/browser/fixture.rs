//! [`Fixture`], a project with a scripted model and the programs of a run with a browser.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use autonoe_process::{Marker, ProcessInfo};
use autonoe_testkit::model_server::anthropic::{AnthropicServer, ModelScript};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::browser::programs;
use crate::build::Build;

/// A variable that every process of a test inherits.
const MARKER: &str = "AUTONOE_TEST_SETTING";

pub(crate) struct Fixture {
    folders: TempDir,
    pub(crate) model: AnthropicServer,
    environment: Vec<(&'static str, String)>,
}

impl Fixture {
    /// Creates a project with this ledger, for a model that follows a script.
    pub(crate) fn new(build: Build, ledger: &Value, script: impl Into<ModelScript>) -> Self {
        let folders = tempfile::tempdir().expect("a directory can be made");
        for name in ["home", "bin", "project/.autonoe"] {
            fs::create_dir_all(folders.path().join(name)).expect("it can be made");
        }
        symlink(build.program(), folders.path().join("bin/claude")).expect("it can be made");
        let fixture = Self {
            folders,
            model: AnthropicServer::start(script),
            environment: Vec::new(),
        };
        fixture.write("project/SPEC.md", "# A market\n");
        fixture.write("project/.autonoe/status.json", &ledger.to_string());
        fixture
    }

    /// Adds the scripted model as the provider `scripted`, and lets servers inherit the variables
    /// by which they are found.
    pub(crate) fn models(self) -> Self {
        let provider = json!({
            "type": "anthropic", "baseUrl": self.model.url(), "key": {"env": "ANTHROPIC_API_KEY"},
        });
        let models = json!({
            "providers": {"scripted": provider}, "tools": {"variables": [MARKER]},
        });
        self.write("project/.autonoe/models.json", &models.to_string());
        self
    }

    /// Writes the settings of the project.
    pub(crate) fn config(self, config: &Value) -> Self {
        self.write("project/.autonoe/agent.json", &config.to_string());
        self
    }

    pub(crate) fn variable(mut self, name: &'static str, value: &str) -> Self {
        self.environment.push((name, value.to_owned()));
        self
    }

    /// Puts a program on the search path that records its arguments, and then runs the real
    /// Playwright MCP server. It is slow to start, like the first download.
    pub(crate) fn install_server(&self, name: &str) -> PathBuf {
        let server = programs::playwright();
        self.install_program(
            name,
            &format!(
                "sleep 3\ncase $1 in @*) shift;; esac\nexec node '{}' \"$@\"",
                server.display()
            ),
        )
    }

    /// Puts a program on the search path that records its arguments, and then runs `script`.
    pub(crate) fn install_program(&self, name: &str, script: &str) -> PathBuf {
        let calls = self.folders.path().join("calls");
        let text = format!(
            "#!/bin/sh\necho \"$*\" >> '{}'\n{script}\n",
            calls.display()
        );
        self.write(&format!("bin/{name}"), &text);
        let program = self.folders.path().join("bin").join(name);
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("it is ours");
        program
    }

    /// Returns the arguments of each call of the server.
    pub(crate) fn calls(&self) -> Vec<String> {
        let calls = fs::read_to_string(self.folders.path().join("calls")).unwrap_or_default();
        calls.lines().map(str::to_owned).collect()
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.folders.path().join("project")
    }

    /// Runs `autonoe` in the project, and waits until all of its processes have ended.
    pub(crate) fn autonoe(&self, arguments: &[&str]) -> Output {
        let bin = self.folders.path().join("bin");
        let path = std::env::var("PATH").unwrap_or_default();
        let mut command = Command::new("timeout");
        command
            .arg("300")
            .arg(env!("CARGO_BIN_EXE_autonoe"))
            .args(arguments)
            .current_dir(self.project())
            .env_clear()
            .env("PATH", format!("{}:{path}", bin.display()))
            .env("HOME", self.folders.path().join("home"))
            .env(MARKER, self.folders.path())
            .env("ANTHROPIC_API_KEY", "dummy")
            .env("ANTHROPIC_BASE_URL", self.model.url())
            .envs(self.environment.iter().map(|(name, value)| (*name, value)));
        let output = command.output().expect("it can be run");
        let deadline = Instant::now() + Duration::from_secs(30);
        while Instant::now() < deadline && !self.leftovers().is_empty() {
            std::thread::sleep(Duration::from_millis(50));
        }
        assert_eq!(self.leftovers(), [], "something was left running");
        output
    }

    /// Returns the tool results that the model received.
    pub(crate) fn tool_results(&self) -> Vec<String> {
        let requests = self.model.log().main_requests();
        let results = requests.iter().flat_map(|request| request.tool_results());
        results.map(|result| format!("{result:?}")).collect()
    }

    /// Returns the processes of this test that still run, by their inherited environment.
    fn leftovers(&self) -> Vec<ProcessInfo> {
        let folder = self.folders.path().display().to_string();
        let marker = Marker::new(MARKER, folder).expect("a marker");
        marker.processes()
    }

    fn write(&self, path: &str, text: &str) {
        let path: &Path = &self.folders.path().join(path);
        fs::write(path, text).expect("it can be written");
    }
}
