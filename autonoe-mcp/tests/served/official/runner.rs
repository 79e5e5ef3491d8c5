//! Runner of the official conformance checks.

use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::Duration;

use serde::Deserialize;
use tokio::process::Command;
use tokio::time::timeout;

/// Time limit of one scenario.
const LIMIT: Duration = Duration::from_secs(120);

/// Folder of the pinned program.
const FOLDER: &str = "mcp-conformance-0.1.13";

/// Runs the official checks, each in its own process and without a home directory.
pub(super) struct Runner {
    script: PathBuf,
    folder: tempfile::TempDir,
}

/// One check of a scenario.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "shown when it fails")]
pub(super) struct Check {
    id: String,
    pub(super) status: String,
    error_message: Option<String>,
}

impl Runner {
    /// Finds the pinned program, or fails the test if it is not installed.
    pub(super) fn new() -> Self {
        let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
        let clis = workspace.expect("it is a member").join("target/clis");
        let script = clis
            .join(FOLDER)
            .join("node_modules/@modelcontextprotocol/conformance/dist/index.js");
        assert!(
            script.is_file(),
            "{} is missing: run `cargo xtask clis` to install it",
            script.display()
        );
        let folder = tempfile::tempdir().expect("a folder");
        Self { script, folder }
    }

    /// Returns the names of all scenarios for servers.
    pub(super) async fn list(&self) -> Vec<String> {
        let output = self.output(&["list"]).await;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let servers = text.split("Client scenarios").next().unwrap_or_default();
        let names = servers
            .lines()
            .filter_map(|line| line.trim().strip_prefix("- "));
        names.map(str::to_owned).collect()
    }

    /// Runs one scenario, and returns its checks.
    pub(super) async fn run(&self, scenario: &str, url: &str) -> Vec<Check> {
        let results = self.folder.path().join(scenario);
        let results_text = results.to_str().expect("it is text");
        let args = [
            "server",
            "--url",
            url,
            "--scenario",
            scenario,
            "-o",
            results_text,
        ];
        self.output(&args).await;
        let file = checks_below(&results).expect("the checks are written");
        let text = std::fs::read_to_string(file).expect("it can be read");
        serde_json::from_str(&text).expect("they are checks")
    }

    /// Runs the program to its end, which must be successful.
    async fn output(&self, args: &[&str]) -> Output {
        let output = timeout(LIMIT, self.command(args).output())
            .await
            .expect("it ends")
            .expect("node runs");
        assert!(output.status.success(), "{args:?}: {output:?}");
        output
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new("node");
        command
            .arg(&self.script)
            .args(args)
            .current_dir(self.folder.path())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.folder.path())
            .stdin(Stdio::null())
            .kill_on_drop(true);
        command
    }
}

/// Finds the file of the checks, which is in a folder named after the time.
fn checks_below(folder: &Path) -> Option<PathBuf> {
    let entries = std::fs::read_dir(folder).ok()?;
    entries.flatten().find_map(|entry| {
        let path = entry.path();
        if path.is_dir() {
            checks_below(&path)
        } else {
            path.ends_with("checks.json").then_some(path)
        }
    })
}
