//! [`Fixture`], a temporary project with programs on the path, and the command in it.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use autonoe_process::Marker;
use serde_json::{Value, json};
use tempfile::TempDir;

/// Time limit for anything, on a busy machine.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(600);

/// A variable that every process of the command inherits.
const MARKER: &str = "AUTONOE_TEST_SETTING";

/// A project with a specification and without the built-in browser, a home, and a folder for
/// programs.
pub(crate) struct Fixture {
    folder: TempDir,
}

/// The output of a finished command.
#[derive(Debug)]
pub(crate) struct CommandOutput {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl From<Output> for CommandOutput {
    fn from(output: Output) -> Self {
        let [stdout, stderr] =
            [output.stdout, output.stderr].map(|text| String::from_utf8(text).expect("text"));
        Self {
            code: output.status.code(),
            stdout,
            stderr,
        }
    }
}

impl CommandOutput {
    /// Parses the output of `--json`.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    pub(crate) fn warnings(&self) -> Vec<&str> {
        let lines = self.stderr.lines();
        let warnings = lines.filter_map(|line| line.split_once("warning: "));
        warnings.map(|(_, warning)| warning).collect()
    }
}

impl Fixture {
    /// Not in `/tmp`, because a sandbox has its own.
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir_in("/var/tmp").expect("a folder");
        for name in ["project", "home", "bin"] {
            fs::create_dir(folder.path().join(name)).expect("writable");
        }
        let fixture = Self { folder };
        fixture.write("SPEC.md", "# A greeting\n\nThere is a greeting.\n");
        fixture.configured(&json!({}))
    }

    /// Writes `agent.json` with these additional fields, replacing an earlier one.
    pub(crate) fn configured(self, more: &Value) -> Self {
        let mut config = json!({"mcpServers": {}});
        for (name, value) in more.as_object().expect("fields") {
            config[name] = value.clone();
        }
        self.write(".autonoe/agent.json", &config.to_string());
        self
    }

    /// Writes the ledger of [`plan`], so that the first session is a coding session.
    pub(crate) fn planned(self) -> Self {
        self.write(".autonoe/status.json", &plan().to_string());
        self
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.root().join(name);
        fs::create_dir_all(path.parent().expect("it has one")).expect("writable");
        fs::write(path, text).expect("writable");
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.root().join(name)).expect("readable")
    }

    /// Returns the entries of the project, without Autonoe's own.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.root()).expect("readable").flatten();
        let mut names: Vec<_> = entries
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .filter(|name| name != ".autonoe")
            .collect();
        names.sort();
        names
    }

    /// Puts the pinned Codex on the path.
    pub(crate) fn with_codex(self) -> Self {
        let system = format!("{}-unknown-linux-musl", std::env::consts::ARCH);
        let program = format!("codex-0.166.0/vendor/{system}/bin/codex");
        self.link("codex", &pinned(&program))
    }

    /// Puts the pinned script of Gemini CLI on the path, and Node.js.
    pub(crate) fn with_gemini(self) -> Self {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let node = autonoe_process::find_program("node", &path).expect("Node.js is installed");
        self.link("gemini", &pinned("gemini-cli-0.61.0/bundle/gemini.js"))
            .link("node", &node)
    }

    fn link(self, name: &str, target: &Path) -> Self {
        symlink(target, self.folder.path().join("bin").join(name)).expect("writable");
        self
    }

    /// Creates a program on the path.
    pub(crate) fn program(self, name: &str, script: &str) -> Self {
        let path = self.folder.path().join("bin").join(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("writable");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("ours");
        self
    }

    /// Prepares the command with a minimal environment.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let path = std::env::var("PATH").unwrap_or_default();
        let bin = self.folder.path().join("bin");
        let mut command = self.bare_command(arguments);
        command.env("PATH", format!("{}:{path}", bin.display()));
        command
    }

    /// Prepares the command on a machine that has only the programs of this setting.
    pub(crate) fn bare_command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_autonoe"));
        command
            .args(arguments)
            .current_dir(self.root())
            .env_clear()
            .env("PATH", self.folder.path().join("bin"))
            .env("HOME", self.folder.path().join("home"))
            .env(MARKER, self.folder.path())
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn autonoe(&self, arguments: &[&str]) -> CommandOutput {
        run_command(self.command(arguments))
    }

    /// Waits until all processes of the command have ended, and asserts that nothing was written to
    /// the user's home.
    pub(crate) fn wait_for_processes(&self) {
        let marker = Marker::new(MARKER, self.folder.path().to_string_lossy()).expect("a marker");
        let started_at = Instant::now();
        while !marker.processes().is_empty() {
            assert!(started_at.elapsed() < TIMEOUT, "{:?}", marker.processes());
            std::thread::sleep(Duration::from_millis(20));
        }
        let home = fs::read_dir(self.folder.path().join("home")).expect("readable");
        let written: Vec<_> = home.flatten().map(|entry| entry.path()).collect();
        assert_eq!(written, Vec::<PathBuf>::new());
    }
}

/// Runs a command to its end.
pub(crate) fn run_command(mut command: Command) -> CommandOutput {
    command.output().expect("it starts").into()
}

/// Returns a pinned program. Panics if it is not installed.
pub(crate) fn pinned(name: &str) -> PathBuf {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
    let path = workspace
        .expect("it is a member")
        .join("target/clis")
        .join(name);
    path.canonicalize().unwrap_or_else(|_| {
        let path = path.display();
        panic!("{path} is missing: run `cargo xtask clis` to install it")
    })
}

/// The plan of one deliverable, as input of the tool `create`.
pub(crate) fn plan() -> Value {
    json!({"deliverables": [{
        "id": "DL-001",
        "description": "A greeting",
        "acceptanceCriteria": ["hello.txt says hello"],
    }]})
}

/// The passed status of the deliverable, as input of the tool `set_status`.
pub(crate) fn passed() -> Value {
    json!({"deliverableId": "DL-001", "status": "passed"})
}
