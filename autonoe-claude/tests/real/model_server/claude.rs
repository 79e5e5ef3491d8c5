//! One process of Claude Code, driven line by line.

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
use crate::setting::{MARKER, PATIENCE, eventually};

/// How the program proves itself. Nobody checks it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Login {
    ApiKey,
    Subscription,
}

/// What is not the same in all tests.
#[derive(Debug)]
pub(crate) struct Options {
    login: Login,
    args: Vec<&'static str>,
    env: Vec<(&'static str, &'static str)>,
}

/// A running Claude Code with folders of its own. Dropped, it is killed.
#[derive(Debug)]
pub(crate) struct Claude {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: io::Lines<BufReader<ChildStdout>>,
    lines: Vec<Value>,
    folders: TempDir,
    marker: Marker,
}

/// What a Claude Code said.
#[derive(Debug)]
pub(crate) struct Lines(Vec<Value>);

/// All that a Claude Code said, and how it ended.
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

    /// Starts the program; its model is the server.
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

    /// Reads up to the first line that is as wanted.
    pub(crate) async fn read_until(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        loop {
            match self.next_line().await {
                Some(line) if wanted(&line) => return line,
                Some(_) => {}
                None => panic!("no such line came: {:#?}\n{}", self.lines, self.stderr()),
            }
        }
    }

    /// Sends a prompt, and returns what the program said until the end of the turn.
    pub(crate) async fn turn(&mut self, prompt: &str) -> Lines {
        self.lines.clear();
        self.prompt(prompt).await;
        self.read_until(|line| line["type"] == "result").await;
        Lines(std::mem::take(&mut self.lines))
    }

    /// Sends a prompt, lets the program finish the turn and come to its own end.
    pub(crate) async fn finish(mut self, prompt: &str) -> Ended {
        self.prompt(prompt).await;
        self.read_until(|line| line["type"] == "result").await;
        // The end of the input is the end of the session.
        self.stdin = None;
        while self.next_line().await.is_some() {}
        let ended = timeout(PATIENCE, self.child.wait()).await;
        let status = ended.expect("it ends in time").expect("it is our child");

        self.wait_until_gone().await;
        Ended {
            status,
            stderr: self.stderr(),
            lines: Lines(self.lines),
        }
    }

    /// Kills the program, and makes sure that it is gone.
    pub(crate) async fn kill(mut self) {
        let killed = timeout(PATIENCE, self.child.kill()).await;
        killed.expect("it ends in time").expect("it is our child");
        self.wait_until_gone().await;
    }

    /// Waits until no process of the program is left.
    async fn wait_until_gone(&self) {
        let is_gone = || self.marker.processes().is_empty();
        eventually("the end of the last process", is_gone).await;
    }

    async fn next_line(&mut self) -> Option<Value> {
        let line = timeout(PATIENCE, self.stdout.next_line()).await;
        let line = line.unwrap_or_else(|_| panic!("silence after {:#?}", self.lines));
        let line = line.expect("it is text")?;
        let line: Value = serde_json::from_str(&line).expect("it is JSON");
        self.lines.push(line.clone());
        Some(line)
    }

    fn stderr(&self) -> String {
        fs::read_to_string(self.folders.path().join("stderr")).unwrap_or_default()
    }
}

impl Lines {
    /// Returns the lines of a type and, if it is given, a subtype.
    pub(crate) fn of(&self, kind: &str) -> Vec<&Value> {
        let (kind, subtype) = kind.split_once('/').unwrap_or((kind, ""));
        let lines = self.0.iter().filter(|line| line["type"] == kind);
        lines
            .filter(|line| subtype.is_empty() || line["subtype"] == subtype)
            .collect()
    }

    /// Returns the one result.
    pub(crate) fn result(&self) -> &Value {
        let results = self.of("result");
        assert_eq!(results.len(), 1, "{self:#?}");
        results[0]
    }

    /// Fails unless the turn ended well with this text.
    pub(crate) fn assert_success(&self, text: &str) {
        let result = self.result();
        let seen = (&result["is_error"], &result["result"]);
        assert_eq!(seen, (&json!(false), &json!(text)), "{self:#?}");
    }

    /// Fails unless the turn ended with an error, and returns its text.
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
    /// Fails unless the only turn ended well with this text, and the program after it.
    pub(crate) fn assert_success(&self, text: &str) {
        self.lines.assert_success(text);
        assert_eq!(self.status.code(), Some(0), "{}", self.stderr);
    }

    /// Fails unless the only turn ended with an error, and the program after it. Returns the text
    /// of the error.
    pub(crate) fn assert_error(&self) -> &str {
        assert_eq!(self.status.code(), Some(1), "{}", self.stderr);
        self.lines.assert_error()
    }
}
