//! Recorded conversations, replayed to the backend.

use std::collections::BTreeMap;

use autonoe_core::agent::SessionOutcome;
use autonoe_core::{AgentClient, StreamEvent};
use autonoe_testkit::fake_claude::{Build, FaultTrigger, ProgramFault, TurnFault};
use futures::StreamExt;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::fake_claude::fixture::{
    Fixture, SetStatus, TIMEOUT, on_both_builds, recorded, transcript, transcripts,
};

/// Returns the outcomes of the sessions of a conversation as read from its file: the lines of the
/// reviewed snapshot that concern the end.
fn reviewed(build: Build, scenario: &str) -> Vec<Value> {
    let name = format!("../protocol/snapshots/{}__{scenario}.snap", build.version());
    let text = std::fs::read_to_string(transcripts().join(name)).expect("it was reviewed");
    let sessions = text
        .lines()
        .filter_map(|line| line.strip_prefix("session "));
    sessions
        .map(|session| {
            let mut session: Value = serde_json::from_str(session).expect("JSON");
            if scenario == "d03_can_use_tool_deny_interrupt" {
                // The recorded host stopped the turn with its answer. The current host does not, so
                // the end is unexpected.
                session["outcome"] = "execution_error".into();
            }
            ending(
                &session["outcome"],
                &session["error"]["code"],
                &session["cost"],
            )
        })
        .collect()
}

fn ending(outcome: &Value, code: &Value, cost: &Value) -> Value {
    let known = if cost["unknownParts"] == 0 {
        cost["knownUsd"].clone()
    } else {
        Value::Null
    };
    // Core sums up the cost of errors.
    let cost = if code.is_null() { known } else { Value::Null };
    json!({"outcome": outcome, "code": code, "cost": cost})
}

/// Plays one query and interrupts it as often as the recorded host did.
async fn played(client: &mut dyn AgentClient, fixture: &Fixture, interruptions: usize) -> Value {
    let control = client.control();
    let mut stream = client.query("go".into());
    let reading = async {
        let mut last = None;
        while let Some(item) = stream.next().await {
            last = Some(item);
        }
        last.expect("an end")
    };
    let interrupting = async {
        if interruptions > 0 {
            fixture
                .wait_for_note("waits for interrupt", interruptions)
                .await;
            control.interrupt().await.expect("it can be interrupted");
        }
    };
    let (end, ()) = timeout(TIMEOUT, async { tokio::join!(reading, interrupting) })
        .await
        .expect("it goes on");
    match end {
        Ok(StreamEvent::End { outcome, cost, .. }) => {
            let outcome = serde_json::to_value(&outcome).expect("JSON");
            let cost = serde_json::to_value(cost).expect("JSON");
            json!({"outcome": outcome["outcome"], "code": null, "cost": cost})
        }
        Ok(event) => panic!("the last is {event:?}"),
        Err(error) => json!({"outcome": null, "code": error.code(), "cost": null}),
    }
}

async fn replayed(build: Build, scenario: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(transcript(build, scenario)).expect("it was recorded");
    let is_interrupted = text.contains(r#""subtype": "interrupt""#);
    let fixture = Fixture::new(&recorded(build, scenario));
    let mut client = fixture.client_with(fixture.options(), fixture.spec([SetStatus::tool()]));
    let mut endings = Vec::new();
    for number in 0..reviewed(build, scenario).len() {
        let interruptions = usize::from(is_interrupted && number == 0);
        endings.push(played(client.as_mut(), &fixture, interruptions).await);
    }
    client.dispose().await.expect("it ends");
    fixture.assert_nothing_left();
    endings
}

async fn replayed_conversations_match_the_transcripts(build: Build) {
    let files = std::fs::read_dir(transcripts().join(build.version())).expect("recorded");
    let scenarios: Vec<String> = files
        .flatten()
        .filter_map(|file| Some(file.path().file_stem()?.to_str()?.to_owned()))
        .collect();
    assert_eq!(scenarios.len(), 67);
    let mut differ = BTreeMap::new();
    for scenario in scenarios {
        let then = reviewed(build, &scenario);
        let now = replayed(build, &scenario).await;
        if now != then {
            differ.insert(scenario, (then, now));
        }
    }
    assert!(differ.is_empty(), "{differ:#?}");
}

async fn a_conversation_that_breaks_off_anywhere_is_no_success(build: Build) {
    let session = "b01_hook_allow";
    let text = std::fs::read_to_string(transcript(build, session)).expect("it was recorded");
    // The host under test also requests the settings.
    let lines = text.matches(r#""dir": "out""#).count() + 1;
    let dies = TurnFault::Dies {
        code: 3,
        stderr: String::new(),
    };
    for fault in [dies, TurnFault::CutLine { code: 3 }] {
        for after_lines in 0..=lines {
            let script = recorded(build, session).with_fault(ProgramFault::At {
                trigger: FaultTrigger::Lines(after_lines),
                turn_fault: fault.clone(),
            });

            let played = Fixture::new(&script).played().await;

            let end = played.end();
            if after_lines == lines {
                assert_eq!(end, Ok(&SessionOutcome::Completed), "{fault:?}");
            } else {
                assert!(
                    matches!(end, Err("crashed" | "configuration")),
                    "{fault:?} after {after_lines}: {played:?}"
                );
            }
        }
    }
}

on_both_builds![
    replayed_conversations_match_the_transcripts,
    a_conversation_that_breaks_off_anywhere_is_no_success,
];
