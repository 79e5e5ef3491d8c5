//! [`Fixture`], a temporary project and the command in it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use autonoe_testkit::model_server::Turn;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::models::vendor::{Server, Vendor};

/// The API key that must appear only in a header.
pub(crate) const KEY: &str = "sk-test-Zq7x0123456789abcdef";

/// A project with a specification and without the built-in browser, a home and a folder for
/// programs, all of them temporary.
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

impl Fixture {
    /// Not in `/tmp`, because a sandbox has its own.
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir_in("/var/tmp").expect("a folder");
        for name in ["project", "home", "bin"] {
            fs::create_dir(folder.path().join(name)).expect("writable");
        }
        let fixture = Self { folder };
        fixture.write(
            "SPEC.md",
            "# A greeting\n\nThere is a file with a greeting.\n",
        );
        fixture.write(".autonoe/agent.json", "{\"mcpServers\": {}}");
        fixture
    }

    /// Removes the settings, so that the built-in ones apply.
    pub(crate) fn without_settings(self) -> Self {
        fs::remove_file(self.root().join(".autonoe/agent.json")).expect("it is there");
        self
    }

    /// Creates a project whose provider `scripted` is `server`.
    pub(crate) fn on(vendor: Vendor, server: &Server) -> Self {
        Self::with_file(&json!({
            "providers": {"scripted": vendor.spec(server)}, "retry": {"baseMs": 1, "capMs": 2},
        }))
    }

    pub(crate) fn with_file(models: &Value) -> Self {
        let fixture = Self::new();
        fixture.write(".autonoe/models.json", &models.to_string());
        fixture
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

    /// Creates a program that takes precedence over others of its name.
    pub(crate) fn program(&self, name: &str, script: &str) {
        let path = self.folder.path().join("bin").join(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("writable");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("ours");
    }

    /// Prepares the command with the key in `THE_KEY` and an otherwise minimal environment.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let path = std::env::var("PATH").unwrap_or_default();
        let bin = self.folder.path().join("bin");
        let mut command = Command::new(env!("CARGO_BIN_EXE_autonoe"));
        command
            .args(arguments)
            .current_dir(self.root())
            .env_clear()
            .env("PATH", format!("{}:{path}", bin.display()))
            .env("HOME", self.folder.path().join("home"))
            .env("THE_KEY", KEY)
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn autonoe(&self, arguments: &[&str]) -> CommandOutput {
        self.command(arguments).output().expect("it starts").into()
    }

    /// Prepares `autonoe run` on a model, without pauses.
    pub(crate) fn run_command(&self, vendor: Vendor, arguments: &[&str]) -> Command {
        let mut command = self.command(&["run", "--pause=0s"]);
        let backend = format!("--backend=model:scripted/{}", vendor.model());
        command.arg(backend).args(arguments);
        command
    }

    pub(crate) fn run(&self, vendor: Vendor, arguments: &[&str]) -> CommandOutput {
        let mut command = self.run_command(vendor, arguments);
        command.output().expect("it starts").into()
    }

    /// Returns every file of the project and the home with its content.
    pub(crate) fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut files = Vec::new();
        collect(self.folder.path(), &mut files);
        files
    }
}

fn collect(folder: &Path, files: &mut Vec<(PathBuf, Vec<u8>)>) {
    for entry in fs::read_dir(folder).expect("readable") {
        let path = entry.expect("readable").path();
        if path.is_dir() {
            collect(&path, files);
        } else {
            let content = fs::read(&path).expect("readable");
            files.push((path, content));
        }
    }
}

/// A turn that plans one deliverable.
pub(crate) fn plans() -> Turn {
    let deliverable = json!({
        "id": "DL-001", "description": "The greeting", "acceptanceCriteria": ["it is there"],
    });
    Turn::tool(
        "mcp__autonoe__create",
        json!({"deliverables": [deliverable]}),
    )
}

/// A turn that passes the deliverable.
pub(crate) fn passes() -> Turn {
    let input = json!({"deliverableId": "DL-001", "status": "passed"});
    Turn::tool("mcp__autonoe__set_status", input)
}

/// The turns of the shortest run.
pub(crate) fn shortest_run() -> Vec<Turn> {
    vec![
        plans(),
        Turn::text("Planned."),
        passes(),
        Turn::text("Done."),
    ]
}
