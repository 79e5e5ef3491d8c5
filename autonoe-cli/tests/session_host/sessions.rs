//! Sessions that come to their end.

use std::process::Command;

use autonoe_core::{Epoch, ExitReason, InstructionName, Mode, RunLimits, RunMachine, SessionHost};
use jiff::Timestamp;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::session_host::setting::{Setting, attach, key};

fn uses(tool: &str, input: &Value) -> Value {
    json!({"uses": {"tool": format!("mcp__autonoe__{tool}"), "input": input}})
}

fn planned_and_passed() -> [Value; 2] {
    let deliverable = json!({
        "id": "DL-001", "description": "A greeting", "acceptanceCriteria": ["it is there"],
    });
    let create = uses("create", &json!({"deliverables": [deliverable]}));
    let pass = uses(
        "set_status",
        &json!({"deliverableId": "DL-001", "status": "passed"}),
    );
    let session = |step: Value| {
        let steps = [step, json!("ends")];
        json!({"name": "a session", "costUsd": "0.25", "steps": steps})
    };
    [session(create), session(pass)]
}

#[tokio::test]
async fn sessions_are_carried_out_as_a_run_would_and_once() {
    let setting = Setting::new();
    let host = setting.scripted(&planned_and_passed());
    let run = key(1).run;
    let never = CancellationToken::new;
    assert_eq!(host.claim(&run).await, Ok(Epoch(1)));

    let planned = attach(&host, 1, InstructionName::Initializer, never()).await;
    let passed = attach(&host, 2, InstructionName::Coding, never()).await;
    let again = attach(&host, 2, InstructionName::Coding, never()).await;

    let planned = planned.expect("it is carried out");
    assert_eq!(planned.ledger.expect("readable").counts.total, 1);
    let passed = passed.expect("it is carried out");
    assert!(passed.result.end.is_completed(), "{passed:?}");
    assert_eq!(again.expect("it is recorded"), passed);
    assert_eq!(setting.records(), 2);
    let ledger = host.look(&run).await.expect("readable");
    assert_eq!((ledger.counts.passed, ledger.counts.total), (1, 1));
    assert_eq!(host.claim(&run).await, Ok(Epoch(2)));
}

/// Returns what the command says to a person who looks at the project.
fn log(setting: &Setting) -> String {
    let said = Command::new(env!("CARGO_BIN_EXE_autonoe"))
        .arg("log")
        .current_dir(setting.project())
        .env("HOME", setting.path().join("home"))
        .output();
    String::from_utf8(said.expect("it starts").stdout).expect("text")
}

#[tokio::test]
async fn a_run_whose_end_is_told_does_not_look_broken_off() {
    let setting = Setting::new();
    let host = setting.scripted(&planned_and_passed());
    let never = CancellationToken::new;
    for (number, instruction) in [
        (1, InstructionName::Initializer),
        (2, InstructionName::Coding),
    ] {
        let attached = attach(&host, number, instruction, never()).await;
        attached.expect("it is carried out");
    }
    let before = log(&setting);
    let machine = RunMachine::new(RunLimits::new(Mode::Run));
    let report = machine.report(&key(1).run, ExitReason::AllPassed, Timestamp::UNIX_EPOCH);

    for _ in 0..2 {
        assert_eq!(host.conclude(Epoch(1), &report).await, Ok(()));
    }

    assert!(before.contains("It did not finish"), "{before}");
    let after = log(&setting);
    assert!(!after.contains("It did not finish"), "{after}");
    assert_eq!(after.matches("Run shop ended: all").count(), 1, "{after}");
    let next = attach(&host, 3, InstructionName::Coding, never()).await;
    let error = next.expect_err("it has ended").to_string();
    assert!(error.contains("the run shop has ended here"), "{error}");
    assert_eq!(setting.records(), 2);
}
