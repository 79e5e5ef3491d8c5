//! Replayed and recorded sessions pass the conformance suite of agent clients.

use std::sync::Arc;

use async_trait::async_trait;
use autonoe_core::AgentClientFactory;
use autonoe_testkit::conformance::{AgentHarness, Scenario, agent_client};
use autonoe_testkit::{Recorder, Replayer, ScriptedBackend};
use serde_json::{Value, json};

/// Plays the scenarios of the conformance suite from cassettes.
struct Replays;

#[async_trait]
impl AgentHarness for Replays {
    async fn agents(&self, scenario: &Scenario) -> Option<Arc<dyn AgentClientFactory>> {
        let completed = json!({"event": {"type": "stream_end", "outcome": "completed"}});
        let text_event = |text: &str| json!({"event": {"type": "stream_text", "text": text}});
        let used = json!({"type": "stream_usage", "tokens": {"input": 10, "output": 3}});
        let mut stream = vec![
            json!({"event": {"type": "stream_started", "session": "taped"}}),
            json!({"event": used}),
        ];
        match scenario {
            Scenario::Says { text } => stream.extend([text_event(text), completed]),
            Scenario::RunsCommand { command } => {
                stream.extend(calls([("Bash".to_owned(), json!({ "command": command }))]));
                stream.push(completed);
            }
            Scenario::UsesTools { calls: all } => {
                let all = all.iter();
                stream.extend(calls(all.map(|it| (it.qualified_name(), it.input.clone()))));
                stream.push(completed);
            }
            Scenario::Hangs => stream.push(text_event("working on it")),
            Scenario::Fails => {
                stream.push(json!({"error": {"code": "crashed", "message": "it is gone"}}));
            }
            Scenario::HitsQuota { resets_at } => stream.push(json!({"event": {
                "type": "stream_end",
                "outcome": "quota_exceeded",
                "message": "You've hit your limit",
                "resetsAt": resets_at,
            }})),
            _ => return None,
        }
        let turn = json!({"prompt": "", "stream": stream, "end": "left_open"});
        let session = json!({"number": 1, "instruction": "coding", "tools": [], "turns": [turn]});
        let sessions: Vec<Value> = (1..=3)
            .map(|number| {
                let mut session = session.clone();
                session["number"] = json!(number);
                session
            })
            .collect();
        let backend = ScriptedBackend::new([]).capabilities().clone();
        let cassette = json!({"version": 1, "backend": backend, "sessions": sessions});
        let cassette = serde_json::from_value(cassette).expect("it is a cassette");
        // The suite interrupts many sessions on purpose.
        Some(Arc::new(Replayer::new(cassette).unverified()))
    }
}

/// Returns the events of calls that were all made at once.
fn calls(all: impl IntoIterator<Item = (String, Value)>) -> Vec<Value> {
    let (mut requests, mut answered) = (Vec::new(), Vec::new());
    for (number, (name, input)) in all.into_iter().enumerate() {
        let id = format!("call-{number}");
        requests.push(json!({"event": {
            "type": "stream_tool_invocation", "callId": id, "name": name, "input": input,
        }}));
        answered.push(json!({"event": {
            "type": "stream_tool_response", "callId": id, "output": "done", "status": "ok",
        }}));
    }
    [requests, answered].concat()
}

#[tokio::test(start_paused = true)]
async fn replayed_sessions_conform() {
    let report = agent_client(&Replays).await;

    report.assert();
    let skipped: Vec<_> = report.skipped().iter().map(|it| &*it.check).collect();
    // A replay executes nothing, so a sandbox has nothing to confine.
    let enclosed = "an agent in the outer sandbox writes to its project alone";
    assert_eq!(skipped, [enclosed]);
}

/// Records the sessions of a replay.
struct RecordsReplays;

#[async_trait]
impl AgentHarness for RecordsReplays {
    async fn agents(&self, scenario: &Scenario) -> Option<Arc<dyn AgentClientFactory>> {
        Some(Arc::new(Recorder::new(Replays.agents(scenario).await?)))
    }
}

#[tokio::test(start_paused = true)]
async fn recorded_sessions_conform() {
    agent_client(&RecordsReplays).await.assert();
}
