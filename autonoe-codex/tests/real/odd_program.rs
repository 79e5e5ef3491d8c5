//! A program that says what it is told to, in place of Codex.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use autonoe_codex::{CodexAgents, CodexOptions};
use autonoe_testkit::model_server::{Script, Turn};
use serde_json::{Value, json};

use crate::setting::Setting;

/// Answers each request with the lines of the file of its name. `@ID` is the request, `@EXIT`
/// the end.
const PROGRAM: &str = r#"#!/bin/bash
play=$(dirname "$0")/play
while IFS= read -r line; do
  printf '%s\n' "$line" >> "$play/heard"
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

/// A program that says what it is told to.
pub(crate) struct OddProgram {
    pub(crate) setting: Setting,
}

impl OddProgram {
    /// Makes one that greets, begins a conversation and takes prompts, and then says nothing.
    pub(crate) fn new() -> Self {
        let setting = Setting::new(Script::by(|_| Turn::text("Nobody asks."))).unverified();
        let odd = Self { setting };
        fs::create_dir(odd.play()).expect("it can be made");
        fs::write(odd.program(), PROGRAM).expect("writable");
        fs::set_permissions(odd.program(), fs::Permissions::from_mode(0o755)).expect("ours");
        let thread = json!({
            "approvalPolicy": "untrusted", "approvalsReviewer": "user",
            "sandbox": {"type": "dangerFullAccess"}, "thread": {"id": "t"}, "model": "m",
        });
        odd.answers("initialize", &json!({}), &[])
            .answers("thread/start", &thread, &[])
            .answers("thread/backgroundTerminals/clean", &json!({}), &[])
            .answers("turn/interrupt", &json!({}), &[ended("u", "interrupted")])
            .in_its_turn(&[])
    }

    fn program(&self) -> PathBuf {
        self.setting.folder.join("odd.sh")
    }

    fn play(&self) -> PathBuf {
        self.setting.folder.join("play")
    }

    /// Sets what a request is answered with, and what is said after that.
    pub(crate) fn answers(self, method: &str, result: &Value, then: &[Value]) -> Self {
        let answer = format!(r#"{{"id":@ID,"result":{result}}}"#);
        let lines = then.iter().map(Value::to_string);
        let lines: Vec<_> = std::iter::once(answer).chain(lines).collect();
        self.says(method, &lines.join("\n"))
    }

    /// Sets the lines that follow on a request.
    pub(crate) fn says(self, method: &str, lines: &str) -> Self {
        let file = self.play().join(method.replace('/', "."));
        fs::write(file, format!("{lines}\n")).expect("writable");
        self
    }

    /// Sets what is said in the turn, after its beginning.
    pub(crate) fn in_its_turn(self, said: &[Value]) -> Self {
        let began = notice(
            "turn/started",
            json!({"turn": {"id": "u", "status": "inProgress"}}),
        );
        let said: Vec<_> = std::iter::once(began).chain(said.iter().cloned()).collect();
        self.answers("turn/start", &json!({"turn": {"id": "u"}}), &said)
    }

    pub(crate) fn options(&self) -> CodexOptions {
        let mut options = self.setting.options();
        options.program = self.program();
        options
    }

    pub(crate) fn agents(&self) -> CodexAgents {
        CodexAgents::new(self.options())
    }

    /// Returns what the program was told.
    pub(crate) fn heard(&self) -> Vec<Value> {
        let heard = fs::read_to_string(self.play().join("heard")).unwrap_or_default();
        let read = |line: &str| serde_json::from_str(line).expect("JSON");
        heard.lines().map(read).collect()
    }

    /// Returns what its question `id` was answered with.
    pub(crate) fn answers_to(&self, id: &str) -> Vec<Value> {
        let heard = self.heard().into_iter();
        heard.filter(|line| line["id"] == id).collect()
    }
}

/// Something that the program tells of its conversation.
pub(crate) fn notice(method: &str, mut params: Value) -> Value {
    params["threadId"] = json!("t");
    json!({"method": method, "params": params})
}

/// Something that the program asks about its conversation.
pub(crate) fn question(id: &str, method: &str, mut params: Value) -> Value {
    params["threadId"] = json!("t");
    params["turnId"] = json!("u");
    json!({"id": id, "method": method, "params": params})
}

/// A command, as it begins or is over.
pub(crate) fn command(id: &str, script: &str, status: &str) -> Value {
    json!({
        "type": "commandExecution", "id": id, "status": status,
        "command": format!("/bin/bash -c '{script}'"),
    })
}

/// The end of a turn.
pub(crate) fn ended(turn: &str, status: &str) -> Value {
    notice(
        "turn/completed",
        json!({"turn": {"id": turn, "status": status}}),
    )
}
