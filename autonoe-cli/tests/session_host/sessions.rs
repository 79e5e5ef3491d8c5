//! Sessions that come to their end.

use autonoe_core::{Epoch, InstructionName, SessionHost};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::setting::{Setting, attach, key};

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
