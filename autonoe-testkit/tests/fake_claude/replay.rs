//! Recorded conversations, played to the backend.

use std::collections::BTreeMap;

use autonoe_core::{AgentClient, SessionOutcome, StreamEvent};
use autonoe_testkit::fake_claude::{Build, Fault, Mishap, Moment};
use futures::StreamExt;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::fake_claude::setting::{
    PATIENCE, SetStatus, Setting, on_both_builds, recorded, transcript, transcripts,
};

/// Returns what came of the sessions of a conversation when it was read from its file: the lines
/// of the reviewed snapshot, as far as they are about the end.
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
                // The host of then stopped the turn by its answer; that of today does not, and
                // the end is one that it did not ask for.
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
    let known = match cost["unknownParts"] == 0 {
        true => cost["knownUsd"].clone(),
        false => Value::Null,
    };
    // What an error cost is for core to sum up.
    let cost = if code.is_null() { known } else { Value::Null };
    json!({"outcome": outcome, "code": code, "cost": cost})
}

/// Plays one query; interrupts it as often as the host of then did.
async fn played(client: &mut dyn AgentClient, setting: &Setting, interruptions: usize) -> Value {
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
            setting.noted("waits for interrupt", interruptions).await;
            control.interrupt().await.expect("it can be interrupted");
        }
    };
    let (end, ()) = timeout(PATIENCE, async { tokio::join!(reading, interrupting) })
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
    let setting = Setting::new(&recorded(build, scenario));
    let mut client = setting.client_with(setting.options(), setting.spec([SetStatus::tool()]));
    let mut endings = Vec::new();
    for number in 0..reviewed(build, scenario).len() {
        let interruptions = usize::from(is_interrupted && number == 0);
        endings.push(played(client.as_mut(), &setting, interruptions).await);
    }
    client.dispose().await.expect("it ends");
    setting.assert_nothing_left();
    endings
}

async fn every_conversation_comes_to_its_end_again(build: Build) {
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
    // The host under test also asks for the settings.
    let lines = text.matches(r#""dir": "out""#).count() + 1;
    let dies = Mishap::Dies {
        code: 3,
        stderr: String::new(),
    };
    for what in [dies, Mishap::CutLine { code: 3 }] {
        for after_lines in 0..=lines {
            let script = recorded(build, session).with_fault(Fault::At {
                moment: Moment::Lines(after_lines),
                mishap: what.clone(),
            });

            let played = Setting::new(&script).played().await;

            let end = played.end();
            match after_lines == lines {
                true => assert_eq!(end, Ok(&SessionOutcome::Completed), "{what:?}"),
                false => assert!(
                    matches!(end, Err("crashed" | "configuration")),
                    "{what:?} after {after_lines}: {played:?}"
                ),
            }
        }
    }
}

on_both_builds![
    every_conversation_comes_to_its_end_again,
    a_conversation_that_breaks_off_anywhere_is_no_success,
];
