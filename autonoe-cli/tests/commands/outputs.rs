//! Tests that the JSON output of commands matches the schemas.

use jsonschema::Validator;
use serde_json::Value;

use crate::commands::fixture::Fixture;

const LEDGER: &str = r#"{
  "createdAt": "2026-01-02",
  "deliverables": [
    {"id": "DL-001", "description": "Sign up", "acceptanceCriteria": ["a"], "passed": true, "blocked": false},
    {"id": "DL-009", "description": "Fax", "acceptanceCriteria": ["e"], "passed": false, "blocked": false, "deprecatedAt": "2026-01-04"}
  ],
  "verification": {"verified": ["DL-001"], "finished": false}
}"#;

/// Agents that are denied a command, change the ledger and hit the quota.
const AGENTS: &str = r#"{"sessions": [
  {"name": "plans", "costUsd": "0.25", "steps": [
    {"uses": {"tool": "mcp__autonoe__create", "input": {"deliverables": [
      {"id": "DL-001", "description": "Login", "acceptanceCriteria": ["it works"]}]}}},
    {"isDenied": {"tool": "Bash", "input": {"command": "curl https://login.example.com"}}},
    {"hitsQuota": null}]}
]}"#;

fn bare() -> Fixture {
    Fixture::new()
}

fn with_ledger() -> Fixture {
    Fixture::new()
        .file("SPEC.md", "# Shop\n")
        .file(".autonoe/status.json", LEDGER)
}

fn with_interrupted_sync() -> Fixture {
    with_ledger().file(
        ".autonoe/journal.jsonl",
        include_str!("fixtures/broken_off_sync.jsonl"),
    )
}

fn with_agents() -> Fixture {
    Fixture::new()
        .file("SPEC.md", "# Shop\n")
        .file("agents.json", AGENTS)
        .file(".autonoe/agent.json", "{\"mcpServers\": {}}")
}

fn with_flows() -> Fixture {
    let steps = r#"{"entryStep": "a", "steps": {"a": {"prompt": "a.md"}, "b": {}}}"#;
    let agent = r#"{"version": "1", "name": "one", "behavior": {"completionType": "stepMachine"},
        "parameters": {"n": {"type": "integer", "default": 2, "description": "How many."}}}"#;
    bare()
        .file(".autonoe/flows/one/agent.json", agent)
        .file(".autonoe/flows/one/steps_registry.json", steps)
        .file(".autonoe/flows/two/agent.json", "[]")
}

/// A flow that fails its check once and then passes.
fn with_runnable_flow() -> Fixture {
    let agents = r#"{"sessions": [
        {"name": "1", "costUsd": "0.25", "steps": [{"says": "no"}, "ends"]},
        {"name": "2", "costUsd": "0.25", "steps": [{"says": "YES"}, "ends"]}]}"#;
    let steps = r#"{"entryStep": "a", "steps": {"a": {"prompt": "a.md", "outputs": ["o"], "check":
        {"type": "keyword", "keywords": ["YES"], "onPass": {"next": "end"}, "onFail": {"retry": true}}}}}"#;
    with_flows()
        .file("agents.json", agents)
        .file(".autonoe/agent.json", "{\"mcpServers\": {}}")
        .file(".autonoe/flows/one/steps_registry.json", steps)
        .file(".autonoe/flows/one/a.md", "Say yes.")
}

/// A flow whose agent fails permanently.
fn with_failing_flow() -> Fixture {
    let agents = r#"{"sessions": [{"name": "1", "steps": [{"says": "no"}, "ends"]},
        {"name": "2", "steps": [{"endsWithError": "it broke"}]}]}"#;
    with_runnable_flow().file("agents.json", agents)
}

fn with_roadmap() -> Fixture {
    let agents = r#"{"sessions": [
        {"name": "a", "instruction": "task-a", "costUsd": "0.25", "steps": [{"says": "A."}, "ends"]},
        {"name": "b", "instruction": "task-b", "steps": [{"endsWithError": "it broke"}]}]}"#;
    bare().file("agents.json", agents).file(
        "ROADMAP.md",
        "## Objective\nX.\n## Tasks\n- [ ] **a**: A.\n- [ ] **b**: B.\n",
    )
}

/// A finished fleet in which one member failed.
fn with_fleet() -> Fixture {
    let fixture = with_roadmap();
    fixture.autonoe(FLEET);
    fixture
}

const FLEET: &[&str] = &[
    "harness",
    "run",
    "ROADMAP.md",
    "--no-worktrees",
    "--backend=scripted:agents.json",
    "--max-iterations=1",
    "--json",
];

fn with_finished_run() -> Fixture {
    let journal = include_str!("fixtures/finished_run.jsonl");
    bare().file(".autonoe/journal.jsonl", journal)
}

/// Commands that print one value, with its schema.
type Case = (&'static str, fn() -> Fixture, &'static [&'static str]);

const VALUES: &[Case] = &[
    ("output.status", bare, &["status", "--json"]),
    ("output.status", with_ledger, &["status", "--json"]),
    ("output.check", bare, &["check", "--json", "ls && curl x"]),
    ("output.check", bare, &["check", "--json", "ls | head"]),
    ("output.check", bare, &["check", "--json", "echo 'open"]),
    ("output.doctor", bare, &["doctor", "--json"]),
    ("output.doctor", with_ledger, &["doctor", "--json"]),
    (
        "output.dry-run",
        with_ledger,
        &["run", "--dry-run", "--output=json"],
    ),
    (
        "output.dry-run",
        with_ledger,
        &["sync", "--dry-run", "--output=json", "--max-cost=2"],
    ),
    (
        "output.dry-run",
        with_interrupted_sync,
        &["sync", "--dry-run", "--output=json"],
    ),
    (
        "output.flow-dry-run",
        with_runnable_flow,
        &["flow", "run", "one", "--dry-run", "--json", "--n", "3"],
    ),
    (
        "output.flow-run",
        with_runnable_flow,
        &[
            "flow",
            "run",
            "one",
            "--backend=scripted:agents.json",
            "--json",
        ],
    ),
    (
        "output.flow-run",
        with_failing_flow,
        &[
            "flow",
            "run",
            "one",
            "--backend=scripted:agents.json",
            "--json",
        ],
    ),
    ("output.harness-run", with_roadmap, FLEET),
    (
        "output.harness-status",
        bare,
        &["harness", "status", "--json"],
    ),
    (
        "output.harness-status",
        with_fleet,
        &["harness", "status", "--json"],
    ),
    ("output.flow-list", bare, &["flow", "list", "--json"]),
    ("output.flow-list", with_flows, &["flow", "list", "--json"]),
    (
        "output.flow-validate",
        with_flows,
        &["flow", "validate", "--json"],
    ),
];

/// Commands that print one value per line.
const LINES: &[Case] = &[
    (
        "run-event",
        with_agents,
        &["run", "--output=json", "--backend=scripted:agents.json"],
    ),
    (
        "run-event",
        with_runnable_flow,
        &[
            "flow",
            "run",
            "one",
            "--output=json",
            "--backend=scripted:agents.json",
        ],
    ),
    ("journal-entry", with_finished_run, &["log", "--json"]),
    ("journal-entry", with_interrupted_sync, &["log", "--json"]),
    (
        "output.harness-log-line",
        with_fleet,
        &["harness", "logs", "--json"],
    ),
];

/// Returns a schema, as the command prints it.
fn schema(name: &str) -> Value {
    let output = bare().autonoe(&["schema", name]);
    serde_json::from_str(&output.stdout).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn validator(schema: &Value) -> Validator {
    let options = jsonschema::options().should_validate_formats(true);
    options.build(schema).expect("it is a schema")
}

fn assert_valid(schema: &Value, value: &Value, name: &str) {
    let validator = validator(schema);
    let errors: Vec<_> = validator
        .iter_errors(value)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{name}: {errors:#?}\n{value:#}");
}

/// Forbids fields that the schema does not define.
fn closed(schema: &Value) -> Value {
    let mut schema = schema.clone();
    close(&mut schema);
    schema
}

fn close(value: &mut Value) {
    if let Value::Object(fields) = value {
        if fields.get("properties").is_some_and(Value::is_object) {
            fields.insert("additionalProperties".to_owned(), false.into());
        }
        fields.values_mut().for_each(close);
    } else if let Value::Array(items) = value {
        items.iter_mut().for_each(close);
    }
}

#[test]
fn every_value_is_described_with_all_of_its_fields() {
    for (name, fixture, args) in VALUES {
        let output = fixture().autonoe(args);

        let value = serde_json::from_str(&output.stdout)
            .unwrap_or_else(|error| panic!("{args:?}: {error}: {}", output.screen()));
        assert_valid(&closed(&schema(name)), &value, &format!("{args:?}"));
    }
}

#[test]
fn every_line_is_described() {
    for (name, fixture, args) in LINES {
        let schema = schema(name);

        let output = fixture().autonoe(args);

        assert!(output.stdout.lines().count() > 5, "{}", output.screen());
        for line in output.stdout.lines() {
            let value = serde_json::from_str(line).expect("JSON");
            assert_valid(&schema, &value, &format!("{args:?}"));
        }
    }
}

#[test]
fn every_answer_to_standard_input_is_described() {
    let lines = b"\"ls\"\n\"curl x\"\n{\"command\": \"echo 'open\"}\nhello\n7\n";

    let output = bare().autonoe_with_input(&["check", "-"], lines);

    assert_eq!(output.stdout.lines().count(), 5, "{}", output.screen());
    let schema = closed(&schema("output.check-line"));
    for line in output.stdout.lines() {
        let value = serde_json::from_str(line).expect("JSON");
        assert_valid(&schema, &value, line);
    }
}

#[test]
fn a_missing_field_would_be_noticed() {
    for (name, fixture, args) in VALUES {
        let validator = validator(&schema(name));
        let output = fixture().autonoe(args);
        let value: Value = serde_json::from_str(&output.stdout).expect("JSON");
        for field in value.as_object().expect("an object").keys() {
            let mut without = value.clone();
            without.as_object_mut().expect("it is").remove(field);

            assert!(!validator.is_valid(&without), "{name} without {field}");
        }
    }
}

#[test]
fn every_output_schema_is_tested() {
    let listed = bare().autonoe(&["schema"]).stdout;
    let tried = |name: &str| {
        let mut cases = VALUES.iter().chain(LINES);
        // The second one needs a running fleet: `tests/harness` covers it.
        ["output.check-line", "output.harness-request"].contains(&name)
            || cases.any(|(tried, ..)| *tried == name)
    };
    let outputs: Vec<_> = listed
        .lines()
        .filter_map(|line| line.split(' ').next())
        .filter(|name| name.starts_with("output."))
        .collect();

    assert_eq!(outputs.len(), 13, "{listed}");
    for name in outputs {
        assert!(tried(name), "{name} is not tried");
    }
}
