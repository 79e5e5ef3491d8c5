//! Runs in a project of the first Autonoe, on scripted agents.

use serde_json::{Map, Value, json};

use crate::commands::fixture::{CommandOutput, Fixture};

const STATUS: &str = include_str!("upstream/status.json");
const AGENT: &str = include_str!("upstream/agent.json");
const NOTE: &str = "# Notes\n\nThe server listens on port 3000.\n";

/// The fields of a ledger and of a deliverable that the first Autonoe reads and writes.
const LEDGER_FIELDS: [&str; 3] = ["createdAt", "updatedAt", "deliverables"];
const DELIVERABLE_FIELDS: [&str; 6] = [
    "id",
    "description",
    "acceptanceCriteria",
    "passed",
    "blocked",
    "deprecatedAt",
];

fn project() -> Fixture {
    Fixture::new()
        .program("npx", "exit 1")
        .file("SPEC.md", "# Shop\n")
        .file(".autonoe/status.json", STATUS)
        .file(".autonoe/agent.json", AGENT)
        .file(".autonoe/coding.md", "Build one deliverable.")
        .file(".autonoe-note.md", NOTE)
}

/// A session that sets these deliverables to passed.
fn passes(ids: &[&str]) -> Value {
    let call = |id: &&str| {
        let input = json!({"deliverableId": id, "status": "passed"});
        json!({"uses": {"tool": "mcp__autonoe__set_status", "input": input}})
    };
    let steps: Vec<_> = ids.iter().map(call).chain([json!("ends")]).collect();
    json!({"name": "codes", "instruction": "coding", "steps": steps})
}

/// Runs on agents that play these sessions.
fn run(fixture: Fixture, sessions: &[Value], more: &[&str]) -> (Fixture, CommandOutput) {
    let fixture = fixture.file("../agents.json", json!({"sessions": sessions}).to_string());
    let args = ["run", "--backend=scripted:../agents.json", "--pause=0s"];
    let output = fixture.autonoe(&[&args[..], more].concat());
    (fixture, output)
}

fn ledger(fixture: &Fixture) -> Value {
    serde_json::from_str(&fixture.read(".autonoe/status.json")).expect("JSON")
}

fn retain_fields(object: &Value, fields: &[&str]) -> Value {
    let object = object.as_object().expect("an object");
    let retained = fields.iter().filter_map(|&name| {
        object
            .get(name)
            .map(|value| (name.to_owned(), value.clone()))
    });
    Value::Object(retained.collect::<Map<_, _>>())
}

/// Returns a ledger as the first Autonoe writes it after reading ours.
fn as_upstream_writes(ledger: &Value) -> Value {
    let mut written = retain_fields(ledger, &LEDGER_FIELDS);
    let deliverables = ledger["deliverables"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|it| retain_fields(it, &DELIVERABLE_FIELDS))
        .collect();
    written["deliverables"] = Value::Array(deliverables);
    written
}

#[test]
fn a_run_works_on_pending_deliverables_and_leaves_the_rest_unchanged() {
    let sessions = [passes(&["DL-003", "DL-004"])];

    let (fixture, output) = run(project(), &sessions, &[]);

    let screen = output.screen();
    assert_eq!(output.code, 0, "{screen}");
    assert!(screen.contains("Session 1 started (coding)"), "{screen}");
    let summary = "3 of 4 deliverables passed, 1 blocked";
    assert!(screen.contains(summary), "{screen}");
    let mut expected: Value = serde_json::from_str(STATUS).expect("JSON");
    for index in [2, 3] {
        expected["deliverables"][index]["passed"] = json!(true);
    }
    let mut found = as_upstream_writes(&ledger(&fixture));
    assert_ne!(found["updatedAt"], expected["updatedAt"]);
    found["updatedAt"] = expected["updatedAt"].clone();
    assert_eq!(found, expected);
    assert_eq!(fixture.read(".autonoe/agent.json"), AGENT);
    assert_eq!(fixture.read(".autonoe-note.md"), NOTE);
}

#[test]
fn a_ledger_edited_by_the_typescript_version_is_accepted() {
    for is_interrupted in [false, true] {
        let (fixture, output) = run(project(), &[passes(&["DL-003"])], &["-n", "1"]);
        assert_eq!(output.code, 4, "{}", output.screen());
        let written_by_us = ledger(&fixture);
        assert_eq!(written_by_us["epoch"], 1, "{written_by_us}");
        let fixture = if is_interrupted {
            let journal = fixture.read(".autonoe/journal.jsonl");
            let (before_end, _) = journal.split_once("\"session_ended\"").expect("it ended");
            let (before_end, _) = before_end.rsplit_once('\n').expect("lines before it");
            fixture.file(".autonoe/journal.jsonl", format!("{before_end}\n"))
        } else {
            fixture
        };
        let mut written = as_upstream_writes(&written_by_us);
        written["deliverables"][1]["passed"] = json!(true);
        written["deliverables"][1]["blocked"] = json!(false);
        let text = serde_json::to_string_pretty(&written).expect("JSON");

        let fixture = fixture.file(".autonoe/status.json", text);
        let (fixture, output) = run(fixture, &[passes(&["DL-004"])], &["-n", "5"]);

        let screen = output.screen();
        assert_eq!(output.code, 0, "{is_interrupted}: {screen}");
        let summary = "4 of 4 deliverables passed";
        assert!(screen.contains(summary), "{is_interrupted}: {screen}");
        let resumed = screen.contains("resuming the killed run");
        assert_eq!(resumed, is_interrupted, "{screen}");
        let edited = "the ledger was edited between runs";
        assert!(screen.contains(edited), "{is_interrupted}: {screen}");
        let log = fixture.autonoe(&["log"]);
        assert!(log.stdout.contains(edited), "{}", log.screen());
        let final_ledger = ledger(&fixture);
        assert_eq!(final_ledger["epoch"], 1, "{final_ledger}");
        written["deliverables"][3]["passed"] = json!(true);
        let retained = as_upstream_writes(&final_ledger);
        assert_eq!(retained["deliverables"], written["deliverables"]);
    }
}

/// The page warns about this file, because the first Autonoe would not plan again.
#[test]
fn an_empty_ledger_of_a_failed_plan_is_planned_on_the_next_run() {
    let fixture = Fixture::new()
        .file("SPEC.md", "# Shop\n")
        .file(".autonoe/agent.json", r#"{"mcpServers": {}}"#);
    let plans_nothing = json!({"name": "plans nothing", "steps": [{"says": "Hm."}, "ends"]});
    let deliverable = json!({"id": "DL-001", "description": "x", "acceptanceCriteria": ["y"]});
    let create = json!({"tool": "mcp__autonoe__create", "input": {"deliverables": [deliverable]}});
    let plans =
        json!({"name": "plans", "instruction": "initializer", "steps": [{"uses": create}, "ends"]});

    let (fixture, output) = run(fixture, &[plans_nothing], &["--max-retries=0"]);

    assert_eq!(output.code, 7, "{}", output.screen());
    assert_eq!(ledger(&fixture)["deliverables"], json!([]));

    let (fixture, output) = run(fixture, &[plans, passes(&["DL-001"])], &[]);

    assert_eq!(output.code, 0, "{}", output.screen());
    assert_eq!(ledger(&fixture)["deliverables"][0]["passed"], json!(true));
}
