//! Handshake with the host before the work.

use std::io;

use serde_json::{Value, json};

use crate::lines::SESSION;

/// State of the host, as far as it has introduced itself.
#[derive(Debug)]
pub(crate) struct Host {
    settings: Value,
    mode: String,
    tools: Vec<String>,
    hook: Option<String>,
}

/// The action that a line of the host requires.
#[derive(Debug)]
pub(crate) enum Step {
    Answer(String),
    Work,
    Nothing,
    End(String),
}

impl Host {
    pub(crate) fn from_arguments() -> Self {
        let settings = argument("--settings").and_then(|text| serde_json::from_str(&text).ok());
        Self {
            settings: settings.unwrap_or(Value::Null),
            mode: argument("--permission-mode").unwrap_or_else(|| "default".into()),
            tools: argument("--tools")
                .unwrap_or_else(|| "Bash".into())
                .split(',')
                .chain(["mcp__autonoe__echo"])
                .map(str::to_owned)
                .collect(),
            hook: None,
        }
    }

    /// Handles a line before or after the work.
    pub(crate) fn handle_line(&mut self, line: &Value) -> Step {
        match line["type"].as_str() {
            Some("user") => return Step::Work,
            Some("control_request") => {}
            _ => return Step::Nothing,
        }
        let request = &line["request"];
        let answer = match request["subtype"].as_str() {
            Some("initialize") => {
                let hook = &request["hooks"]["PreToolUse"][0]["hookCallbackIds"][0];
                self.hook = hook.as_str().map(str::to_owned);
                json!({
                    "commands": [], "agents": [], "models": [], "account": {},
                    "output_style": "default", "available_output_styles": ["default"],
                })
            }
            // All requested settings are in force.
            Some("get_settings") => json!({"effective": self.settings, "sources": []}),
            Some("end_session") => return Step::End(success(line, &json!({}))),
            _ => json!({}),
        };
        Step::Answer(success(line, &answer))
    }

    /// Returns the hook that decides about tools.
    pub(crate) fn hook(&self) -> io::Result<&str> {
        self.hook
            .as_deref()
            .ok_or_else(|| io::Error::other("the host announced no hook"))
    }

    /// Returns the line that starts a turn.
    pub(crate) fn init(&self) -> String {
        let init = json!({
            "type": "system", "subtype": "init", "cwd": "/srv/app", "session_id": SESSION,
            "tools": self.tools,
            "mcp_servers": [{"name": "autonoe", "status": "connected"}],
            "model": "claude-opus-5-5", "permissionMode": self.mode, "slash_commands": [],
            "apiKeySource": "none", "claude_code_version": "2.1.325", "output_style": "default",
            "agents": [], "skills": [], "plugins": [], "uuid": SESSION,
        });
        format!("{init}\n")
    }
}

pub(crate) fn is_version_request() -> bool {
    std::env::args().any(|argument| argument == "-v" || argument == "--version")
}

/// Returns the value of an argument that is written `--name value` or `--name=value`.
fn argument(name: &str) -> Option<String> {
    let mut arguments = std::env::args();
    while let Some(argument) = arguments.next() {
        if argument == name {
            return arguments.next();
        }
        let value = argument.strip_prefix(name);
        if let Some(value) = value.and_then(|rest| rest.strip_prefix('=')) {
            return Some(value.to_owned());
        }
    }
    None
}

fn success(request: &Value, response: &Value) -> String {
    let line = json!({"type": "control_response", "response": {
        "subtype": "success", "request_id": request["request_id"], "response": response,
    }});
    format!("{line}\n")
}
