//! A flow and its journal, as version 0.1 wrote them, in `tests/compat/v1`. They are never written
//! again: a later release must read these bytes.

use std::fs;
use std::path::{Path, PathBuf};

use autonoe_core::CostUsd;
use autonoe_core::project::Journal;
use autonoe_flow::FlowFact;
use autonoe_flow::load::load;
use autonoe_flow::machine::PromptOutcome;
use autonoe_flow::run::fingerprint;
use autonoe_flow::validate::validate;
use serde_json::json;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/compat/v1/{name}"))
}

/// The hash of the flow in its journal.
const DEFINITION: &str = "cbae4c1bb65263c4f73fd8d989cf23462bac18e1c1bac3deeee58818d7545df0";

#[test]
fn a_flow_is_read_with_the_fingerprint_in_its_journal() {
    let flow = load(&fixture("fix-bug")).expect("it is valid");

    assert!(validate(&flow).is_valid());
    let agent = flow.agent();
    assert_eq!(
        (agent.name.as_str(), agent.version.as_str()),
        ("fix-bug", "1.0.0")
    );
    assert_eq!(agent.title(), "Fix a bug");
    let parameters = serde_json::to_value(&agent.parameters).expect("it serialises");
    assert_eq!(parameters["bug"]["required"], true);
    assert_eq!(parameters["bug"]["validation"], json!({"min": 10.0}));
    assert_eq!(parameters["scope"]["default"], "the whole project");
    let registry = serde_json::to_value(flow.registry()).expect("it serialises");
    assert_eq!(registry["entryStep"], "fix");
    let check = &registry["steps"]["fix"]["check"];
    assert_eq!(
        check["actions"][0]["command"],
        json!(["test", "-f", "fixed.txt"])
    );
    assert_eq!(check["onPass"], json!({"next": "end"}));
    assert_eq!(check["onFail"], json!({"retry": true, "maxRetries": 4}));
    // An interrupted flow can be resumed by a later release only if this stays the same.
    assert_eq!(fingerprint(&flow).expect("it serialises"), DEFINITION);
}

#[test]
fn the_facts_of_an_interrupted_flow_are_read() {
    let text = fs::read_to_string(fixture("journal.jsonl")).expect("readable");
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("journal.jsonl");
    let lines: Vec<_> = text.split_inclusive('\n').collect();
    fs::write(&path, lines[..lines.len() - 1].concat()).expect("writable");

    let journal = Journal::read(&path).expect("it is valid");

    let recorded = journal.interrupted_flow().expect("it did not end");
    assert_eq!(recorded.run.as_str(), "9763f829ec251b480f3a0095ea182d1f");
    assert_eq!(recorded.start.flow, "fix-bug");
    assert_eq!(recorded.start.definition, DEFINITION);
    let parameters = json!({
        "bug": "The cart is empty after a reload.", "scope": "the whole project",
    });
    assert_eq!(recorded.start.parameters, parameters);
    assert_eq!((recorded.sessions, recorded.running_session), (2, None));
    assert_eq!(recorded.cost.known_usd, CostUsd::from_cents(30));
    let facts: Vec<FlowFact> = recorded
        .facts
        .iter()
        .map(|fact| serde_json::from_value(fact.clone()).expect("it is valid"))
        .collect();
    let read: Vec<_> = facts.iter().map(read_fact).collect();
    assert_eq!(
        read,
        [
            "started",
            "prompted 1: I look.",
            "checked: false",
            "not complete",
            "prompted 2: Fixed.",
            "checked: true",
            "not complete",
            "complete: the flow reached the end of its steps",
        ]
    );
}

#[test]
fn the_end_of_a_flow_is_read() {
    let journal = Journal::read(&fixture("journal.jsonl")).expect("it is valid");

    assert!(journal.interrupted_flow().is_none());
    let histories = journal.run_histories();
    assert_eq!(histories[0].flow.as_deref(), Some("fix-bug"));
    assert_eq!(histories[0].sessions, 2);
    assert_eq!(histories[0].cost().known_usd, CostUsd::from_cents(30));
    assert!(
        histories[0]
            .stop_reason()
            .to_string()
            .starts_with("it ended: ")
    );
}

/// Returns the values of a fact.
fn read_fact(fact: &FlowFact) -> String {
    match fact {
        FlowFact::Started { .. } => "started".to_owned(),
        FlowFact::Prompted {
            iteration,
            outcome: PromptOutcome::Answered(answer),
            ..
        } => format!("prompted {iteration}: {}", answer.text),
        FlowFact::Checked {
            verdict: Ok(verdict),
            ..
        } => format!("checked: {}", verdict.passed),
        FlowFact::CompletionChecked {
            verdict: Ok(verdict),
            ..
        } => match &verdict.complete {
            Some(reason) => format!("complete: {reason}"),
            None => "not complete".to_owned(),
        },
        other => panic!("an unexpected fact: {other:?}"),
    }
}
