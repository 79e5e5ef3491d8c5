//! Sessions that reach their end.

use autonoe_app::text::EntryFormatter;
use autonoe_core::engine::SessionHost;
use autonoe_core::event::InstructionName;
use autonoe_core::project::Journal;
use autonoe_core::run::{RunLimits, RunMachine};
use autonoe_core::time::Epoch;
use autonoe_core::{ExitReason, Mode, Project};
use jiff::Timestamp;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::fixture::{Fixture, attach, key};

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
async fn sessions_are_executed_once_as_in_a_run() {
    let fixture = Fixture::new();
    let host = fixture.scripted(&planned_and_passed());
    let run = key(1).run;
    let never = CancellationToken::new;
    assert_eq!(host.claim(&run).await, Ok(Epoch(1)));

    let planned = attach(&host, 1, InstructionName::Initializer, never()).await;
    let passed = attach(&host, 2, InstructionName::Coding, never()).await;
    let replayed = attach(&host, 2, InstructionName::Coding, never()).await;

    let planned = planned.expect("it is carried out");
    assert_eq!(planned.ledger.expect("readable").counts.total, 1);
    let passed = passed.expect("it is carried out");
    assert!(passed.result.end.is_completed(), "{passed:?}");
    assert_eq!(replayed.expect("it is recorded"), passed);
    assert_eq!(fixture.records(), 2);
    let ledger = host.ledger_view(&run).await.expect("readable");
    assert_eq!((ledger.counts.passed, ledger.counts.total), (1, 1));
    assert_eq!(host.claim(&run).await, Ok(Epoch(2)));
}

/// Returns the journal of the project as `autonoe log` prints it.
fn log(fixture: &Fixture) -> String {
    let project = Project::find(&fixture.project(), None).expect("it is there");
    let journal = Journal::read_all(&project).expect("readable");
    let mut formatter = EntryFormatter::new(&project);
    let mut text = String::new();
    for entry in journal.entries() {
        formatter.format(entry, &mut text);
    }
    text
}

#[tokio::test]
async fn a_run_with_a_recorded_end_is_not_interrupted() {
    let fixture = Fixture::new();
    let host = fixture.scripted(&planned_and_passed());
    let never = CancellationToken::new;
    for (number, instruction) in [
        (1, InstructionName::Initializer),
        (2, InstructionName::Coding),
    ] {
        let attached = attach(&host, number, instruction, never()).await;
        attached.expect("it is carried out");
    }
    let before = log(&fixture);
    let machine = RunMachine::new(RunLimits::new(Mode::Run));
    let report = machine.report(&key(1).run, ExitReason::AllPassed, Timestamp::UNIX_EPOCH);

    for _ in 0..2 {
        assert_eq!(host.conclude(Epoch(1), &report).await, Ok(()));
    }

    assert!(!before.contains("Run shop ended"), "{before}");
    let after = log(&fixture);
    assert_eq!(after.matches("Run shop ended: all").count(), 1, "{after}");
    let next = attach(&host, 3, InstructionName::Coding, never()).await;
    let error = next.expect_err("it has ended").to_string();
    assert!(
        error.contains("the run shop has ended on this host"),
        "{error}"
    );
    assert_eq!(fixture.records(), 2);
}
