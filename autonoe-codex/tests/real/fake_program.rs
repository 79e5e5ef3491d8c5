//! [`FakeProgram`], a scripted program in place of Codex.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use autonoe_codex::{CodexBackend, CodexOptions};
use autonoe_testkit::model_server::{ModelScript, Turn};
use serde_json::{Value, json};

use crate::fixture::Fixture;

/// Answers each request with the lines of the file with its name. `@ID` is replaced by the id of
/// the request, and `@EXIT` exits.
const PROGRAM: &str = r#"#!/bin/bash
play=$(dirname "$0")/play
while IFS= read -r line; do
  printf '%s\n' "$line" >> "$play/received"
  method=$(grep -o '"method":"[^"]*"' <<< "$line" | head -n 1 | cut -d '"' -f 4)
  id=$(grep -o '"id":[^,}]*' <<< "$line" | head -n 1 | cut -d : -f 2)
  file="$play/${method//\//.}"
  [ -n "$method" ] && [ -f "$file" ] || continue
  while IFS= read -r answer; do
    [ "$answer" = @EXIT ] && exit 3
    printf '%s\n' "${answer//@ID/$id}"
  done < "$file"
done
"#;

/// A scripted program in place of Codex.
pub(crate) struct FakeProgram {
    pub(crate) fixture: Fixture,
}

impl FakeProgram {
    /// Creates a program that answers `initialize`, starts a conversation and accepts prompts, and
    /// then is silent.
    pub(crate) fn new() -> Self {
        let fixture =
            Fixture::new(ModelScript::from_fn(|_| Turn::text("Nobody asks."))).unverified();
        let fake = Self { fixture };
        fs::create_dir(fake.play()).expect("it can be made");
        fs::write(fake.program(), PROGRAM).expect("writable");
        fs::set_permissions(fake.program(), fs::Permissions::from_mode(0o755)).expect("ours");
        let thread = json!({
            "approvalPolicy": "untrusted", "approvalsReviewer": "user",
            "sandbox": {"type": "dangerFullAccess"}, "thread": {"id": "t"}, "model": "m",
        });
        fake.answers("initialize", &json!({}), &[])
            .answers("thread/start", &thread, &[])
            .answers("thread/backgroundTerminals/clean", &json!({}), &[])
            .answers("turn/interrupt", &json!({}), &[ended("u", "interrupted")])
            .in_its_turn(&[])
    }

    fn program(&self) -> PathBuf {
        self.fixture.folder.join("fake.sh")
    }

    fn play(&self) -> PathBuf {
        self.fixture.folder.join("play")
    }

    /// Sets the answer to a request, and the messages after it.
    pub(crate) fn answers(self, method: &str, result: &Value, then: &[Value]) -> Self {
        let answer = format!(r#"{{"id":@ID,"result":{result}}}"#);
        let lines = then.iter().map(Value::to_string);
        let lines: Vec<_> = std::iter::once(answer).chain(lines).collect();
        self.sends(method, &lines.join("\n"))
    }

    /// Sets the lines that follow a request.
    pub(crate) fn sends(self, method: &str, lines: &str) -> Self {
        let file = self.play().join(method.replace('/', "."));
        fs::write(file, format!("{lines}\n")).expect("writable");
        self
    }

    /// Sets the messages of the turn, after its start.
    pub(crate) fn in_its_turn(self, messages: &[Value]) -> Self {
        let started = notification(
            "turn/started",
            json!({"turn": {"id": "u", "status": "inProgress"}}),
        );
        let messages: Vec<_> = std::iter::once(started)
            .chain(messages.iter().cloned())
            .collect();
        self.answers("turn/start", &json!({"turn": {"id": "u"}}), &messages)
    }

    pub(crate) fn options(&self) -> CodexOptions {
        let mut options = self.fixture.options();
        options.program.path = self.program();
        options
    }

    pub(crate) fn agents(&self) -> CodexBackend {
        CodexBackend::new(self.options())
    }

    /// Returns the messages that the program received.
    pub(crate) fn received(&self) -> Vec<Value> {
        let log = fs::read_to_string(self.play().join("received")).unwrap_or_default();
        let read = |line: &str| serde_json::from_str(line).expect("JSON");
        log.lines().map(read).collect()
    }

    /// Returns the answers to its request `id`.
    pub(crate) fn answers_to(&self, id: &str) -> Vec<Value> {
        let received = self.received().into_iter();
        received.filter(|line| line["id"] == id).collect()
    }
}

/// Returns a notification about the conversation.
pub(crate) fn notification(method: &str, mut params: Value) -> Value {
    params["threadId"] = json!("t");
    json!({"method": method, "params": params})
}

/// Returns a request about the conversation.
pub(crate) fn question(id: &str, method: &str, mut params: Value) -> Value {
    params["threadId"] = json!("t");
    params["turnId"] = json!("u");
    json!({"id": id, "method": method, "params": params})
}

/// Returns the item of a command that starts or is finished.
pub(crate) fn command(id: &str, script: &str, status: &str) -> Value {
    json!({
        "type": "commandExecution", "id": id, "status": status,
        "command": format!("/bin/bash -c '{script}'"),
    })
}

/// Returns the end of a turn.
pub(crate) fn ended(turn: &str, status: &str) -> Value {
    notification(
        "turn/completed",
        json!({"turn": {"id": turn, "status": status}}),
    )
}
