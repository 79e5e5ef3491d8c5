//! Builds scripts of agents for `--backend scripted:FILE`.

use std::path::Path;

use serde_json::{Map, Value, json};

/// The actions of agents, by session.
#[derive(Clone, Debug, Default)]
pub(crate) struct Script {
    sessions: Vec<Value>,
}

impl Script {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Adds a session that costs a quarter of a dollar.
    pub(crate) fn session(mut self, steps: impl IntoIterator<Item = Value>) -> Self {
        let steps: Vec<_> = steps.into_iter().collect();
        let name = format!("session {}", self.sessions.len() + 1);
        self.sessions
            .push(json!({"name": name, "costUsd": "0.25", "steps": steps}));
        self
    }

    /// Adds a session that plans one deliverable per ID.
    pub(crate) fn plans(self, ids: &[&str]) -> Self {
        self.session([creates(ids), ends()])
    }

    /// Adds a session that passes these deliverables.
    pub(crate) fn passes(self, ids: &[&str]) -> Self {
        let passed = ids.iter().map(|id| sets(id, "passed"));
        self.session(passed.chain([ends()]).collect::<Vec<_>>())
    }

    pub(crate) fn to_json(&self) -> String {
        json!({"sessions": self.sessions}).to_string()
    }
}

pub(crate) fn uses(tool: &str, input: Value) -> Value {
    json!({"uses": call(tool, input)})
}

pub(crate) fn is_denied_by(by: &str, tool: &str, input: Value) -> Value {
    let mut call = call(tool, input);
    call.insert("by".into(), by.into());
    json!({"isDenied": call})
}

fn call(tool: &str, input: Value) -> Map<String, Value> {
    Map::from_iter([("tool".into(), tool.into()), ("input".into(), input)])
}

pub(crate) fn creates(ids: &[&str]) -> Value {
    let deliverables: Vec<Value> = ids
        .iter()
        .map(|id| {
            json!({
                "id": id, "description": format!("The thing {id}"),
                "acceptanceCriteria": ["it is there"],
            })
        })
        .collect();
    uses(
        "mcp__autonoe__create",
        json!({"deliverables": deliverables}),
    )
}

pub(crate) fn sets(id: &str, status: &str) -> Value {
    let input = json!({"deliverableId": id, "status": status});
    uses("mcp__autonoe__set_status", input)
}

pub(crate) fn text_step(text: &str) -> Value {
    json!({"says": text})
}

/// Calls a model that uses ten input tokens and five output tokens.
pub(crate) fn calls_model(model: &str, answer: &str) -> Value {
    let tokens = json!({"input": 10, "output": 5});
    json!({"callsModel": {"model": model, "answer": answer, "tokens": tokens}})
}

pub(crate) fn waits_for_file(path: &Path) -> Value {
    json!({"waitsForFile": path})
}

/// Ends the session with an exhausted quota that resets ten seconds after this step.
///
/// A run that reads the reset time after it has passed backs off for minutes instead, so a shorter
/// time would fail on a slow machine.
pub(crate) fn hits_short_quota() -> Value {
    json!({"hitsQuotaForMs": 10_000})
}

pub(crate) fn hangs() -> Value {
    json!("hangs")
}

pub(crate) fn ends() -> Value {
    json!("ends")
}
