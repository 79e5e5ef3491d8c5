//! [`Claude`], one process of Claude Code that is driven line by line.

use std::fs::{self, File};
use std::ops::Deref;
use std::process::{ExitStatus, Stdio};

use autonoe_process::Marker;
use autonoe_testkit::model_server::anthropic::AnthropicServer;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{self, AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

use crate::build::Build;
use crate::fixture::{MARKER, TIMEOUT, eventually};

/// The credentials of the program. The server does not check them.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Login {
    ApiKey,
    Subscription,
}

/// The options that differ between tests.
#[derive(Debug)]
pub(crate) struct Options {
    login: Login,
    args: Vec<&'static str>,
    env: Vec<(&'static str, &'static str)>,
}

/// A running Claude Code with folders of its own. Dropping it kills the process.
#[derive(Debug)]
pub(crate) struct Claude {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: io::Lines<BufReader<ChildStdout>>,
    lines: Vec<Value>,
    folders: TempDir,
    marker: Marker,
}

/// Output lines of Claude Code.
#[derive(Debug)]
pub(crate) struct Lines(Vec<Value>);

/// All output lines of Claude Code, and its exit.
#[derive(Debug)]
pub(crate) struct Ended {
    lines: Lines,
    status: ExitStatus,
    stderr: String,
}

impl Options {
    pub(crate) fn new() -> Self {
        Self {
            login: Login::ApiKey,
            args: Vec::new(),
            env: Vec::new(),
        }
    }

    pub(crate) fn login(mut self, login: Login) -> Self {
        self.login = login;
        self
    }

    pub(crate) fn arg(mut self, arg: &'static str) -> Self {
        self.args.push(arg);
        self
    }

    pub(crate) fn max_retries(mut self, count: &'static str) -> Self {
        self.env.push(("CLAUDE_CODE_MAX_RETRIES", count));
        self
    }

    /// Starts the program with the server as its model.
    pub(crate) fn start(self, build: Build, server: &AnthropicServer) -> Claude {
        let folders = tempfile::tempdir().expect("a directory can be made");
        let at = |name: &str| folders.path().join(name);
        for name in ["home", "settings", "tmp", "project"] {
            fs::create_dir(at(name)).expect("it can be made");
        }
        let stderr = File::create(at("stderr")).expect("it can be made");
        let marker = Marker::new(MARKER, folders.path().to_string_lossy()).expect("it can be one");

        let mut command = Command::new(build.program());
        command
            .args(["--output-format", "stream-json", "--verbose"])
            .args(["--input-format", "stream-json"])
            .args(self.args)
            .current_dir(at("project"))
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", at("home"))
            .env("CLAUDE_CONFIG_DIR", at("settings"))
            .env("TMPDIR", at("tmp"))
            .env("CLAUDE_CODE_TMPDIR", at("tmp"))
            .env("TZ", "UTC")
            .env("DISABLE_TELEMETRY", "1")
            .env("DISABLE_ERROR_REPORTING", "1")
            .env("DISABLE_AUTOUPDATER", "1")
            .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
            .env("ANTHROPIC_BASE_URL", server.url())
            .env(marker.name(), marker.value())
            .envs(self.env)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(stderr)
            .kill_on_drop(true);
        match self.login {
            Login::ApiKey => command.env("ANTHROPIC_API_KEY", "dummy"),
            Login::Subscription => command.env("CLAUDE_CODE_OAUTH_TOKEN", "dummy"),
        };
        let mut child = command.spawn().expect("the program starts");

        let stdin = child.stdin.take().expect("it is a pipe");
        let stdout = child.stdout.take().expect("it is a pipe");
        Claude {
            child,
            stdin: Some(stdin),
            stdout: BufReader::new(stdout).lines(),
            lines: Vec::new(),
            folders,
            marker,
        }
    }
}

impl Claude {
    /// Sends a line.
    pub(crate) async fn send(&mut self, line: &Value) {
        let stdin = self.stdin.as_mut().expect("it is open");
        let sent = stdin.write_all(format!("{line}\n").as_bytes()).await;
        sent.expect("the program reads");
    }

    /// Sends a prompt.
    pub(crate) async fn prompt(&mut self, text: &str) {
        let message = json!({"role": "user", "content": text});
        let line = json!({
            "type": "user", "message": message, "parent_tool_use_id": null, "session_id": "",
        });
        self.send(&line).await;
    }

    /// Reads up to the first line that is `wanted`.
    pub(crate) async fn read_until(&mut self, predicate: impl Fn(&Value) -> bool) -> Value {
        loop {
            match self.next_line().await {
                Some(line) if predicate(&line) => return line,
                Some(_) => {}
                None => panic!("no such line came: {:#?}\n{}", self.lines, self.stderr()),
            }
        }
    }

    /// Sends a prompt, and returns the lines until the end of the turn.
    pub(crate) async fn turn(&mut self, prompt: &str) -> Lines {
        self.lines.clear();
        self.prompt(prompt).await;
        self.read_until(|line| line["type"] == "result").await;
        Lines(std::mem::take(&mut self.lines))
    }

    /// Sends a prompt, and waits until the turn has ended and the program has exited.
    pub(crate) async fn finish(mut self, prompt: &str) -> Ended {
        self.prompt(prompt).await;
        self.read_until(|line| line["type"] == "result").await;
        // The end of the input ends the session.
        self.stdin = None;
        while self.next_line().await.is_some() {}
        let ended = timeout(TIMEOUT, self.child.wait()).await;
        let status = ended.expect("it ends in time").expect("it is our child");

        self.wait_for_end().await;
        Ended {
            status,
            stderr: self.stderr(),
            lines: Lines(self.lines),
        }
    }

    /// Kills the program, and waits until it has exited.
    pub(crate) async fn kill(mut self) {
        let killed = timeout(TIMEOUT, self.child.kill()).await;
        killed.expect("it ends in time").expect("it is our child");
        self.wait_for_end().await;
    }

    /// Waits until no process of the program is left.
    async fn wait_for_end(&self) {
        let has_ended = || self.marker.processes().is_empty();
        eventually("the end of the last process", has_ended).await;
    }

    async fn next_line(&mut self) -> Option<Value> {
        let text = timeout(TIMEOUT, self.stdout.next_line())
            .await
            .unwrap_or_else(|_| panic!("silence after {:#?}", self.lines))
            .expect("it is text")?;
        let line: Value = serde_json::from_str(&text).expect("it is JSON");
        self.lines.push(line.clone());
        Some(line)
    }

    fn stderr(&self) -> String {
        fs::read_to_string(self.folders.path().join("stderr")).unwrap_or_default()
    }
}

impl Lines {
    /// Returns the lines of a type and, if it is given, a subtype.
    pub(crate) fn with_type(&self, kind: &str) -> Vec<&Value> {
        let (kind, subtype) = kind.split_once('/').unwrap_or((kind, ""));
        let lines = self.0.iter().filter(|line| line["type"] == kind);
        lines
            .filter(|line| subtype.is_empty() || line["subtype"] == subtype)
            .collect()
    }

    /// Returns the one result.
    pub(crate) fn result(&self) -> &Value {
        let results = self.with_type("result");
        assert_eq!(results.len(), 1, "{self:#?}");
        results[0]
    }

    /// Asserts that the turn succeeded with this text.
    pub(crate) fn assert_success(&self, text: &str) {
        let result = self.result();
        let seen = (&result["is_error"], &result["result"]);
        assert_eq!(seen, (&json!(false), &json!(text)), "{self:#?}");
    }

    /// Asserts that the turn failed, and returns its text.
    pub(crate) fn assert_error(&self) -> &str {
        let result = self.result();
        assert_eq!(result["is_error"], true, "{self:#?}");
        result["result"].as_str().expect("it says something")
    }
}

impl Deref for Ended {
    type Target = Lines;

    fn deref(&self) -> &Lines {
        &self.lines
    }
}

impl Ended {
    /// Asserts that the only turn succeeded with this text, and the program exited with success.
    pub(crate) fn assert_success(&self, text: &str) {
        self.lines.assert_success(text);
        assert_eq!(self.status.code(), Some(0), "{}", self.stderr);
    }

    /// Asserts that the only turn failed, and the program exited with an error. Returns the text of
    /// the error.
    pub(crate) fn assert_error(&self) -> &str {
        assert_eq!(self.status.code(), Some(1), "{}", self.stderr);
        self.lines.assert_error()
    }
}
