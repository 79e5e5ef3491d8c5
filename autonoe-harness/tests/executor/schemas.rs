//! Tests of the JSON Schemas of tasks and results.

use std::fs;
use std::path::{Path, PathBuf};

use autonoe_harness::executor::{ExecutionOutcome, Verification};
use autonoe_harness::{ExecutionReport, Task};
use serde_json::{Value, json};

use crate::executor::fixture::task;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/schemas")
}

fn written(schema: &Value) -> String {
    // Sorted, because some maps keep their insertion order.
    let mut schema = schema.clone();
    schema.sort_all_objects();
    let mut text = serde_json::to_string_pretty(&schema).expect("a schema is JSON");
    text.push('\n');
    text
}

#[test]
fn the_committed_schemas_of_tasks_are_current() {
    for (name, schema) in autonoe_harness::schemas() {
        let path = folder().join(format!("{name}.json"));
        if std::env::var_os("AUTONOE_UPDATE_SCHEMAS").is_some() {
            fs::write(&path, written(&schema)).expect("writable");
        }
        let committed = fs::read_to_string(&path).unwrap_or_default();

        let is_current = committed == written(&schema);
        assert!(is_current, "{} is not current", path.display());
    }
}

fn validator(name: &str) -> jsonschema::Validator {
    jsonschema::validator_for(&autonoe_harness::schemas()[name]).expect("a schema")
}

#[test]
fn the_schema_and_the_type_of_a_task_take_and_refuse_the_same() {
    let validator = validator("harness.task");
    let with = |criteria: Value| json!({"id": "T-1", "goal": "g", "successCriteria": criteria});
    for (task, fits) in [
        (json!({"id": "T-1", "goal": "Do it."}), true),
        (
            json!({"id": "T-1", "description": "d", "goal": "g", "context": "c",
                "successCriteria": "It works.", "timeoutSeconds": 5, "cwd": "sub", "cli": "codex",
                "model": "m"}),
            true,
        ),
        (json!({"goal": "Do it."}), false),
        (json!({"id": "T-1", "goal": "Do it.", "timeout": 5}), false),
        (
            json!({"id": "T-1", "goal": "Do it.", "timeoutSeconds": -1}),
            false,
        ),
        (with(json!({"type": "command", "command": ["true"]})), true),
        (with(json!({"type": "command", "command": "true"})), false),
        (
            with(json!({"type": "file", "path": "a", "modified": true})),
            true,
        ),
        (with(json!({"type": "file"})), false),
        (
            with(json!({"type": "tests", "command": ["t"], "report": "r.xml"})),
            true,
        ),
        (
            with(json!({"type": "judge", "statement": "s", "model": "m"})),
            true,
        ),
        (
            with(json!({"type": "all", "criteria": ["s", {"type": "file", "path": "a"}]})),
            true,
        ),
        (with(json!({"type": "nobody-knows"})), false),
        (with(json!(5)), false),
    ] {
        assert_eq!(validator.is_valid(&task), fits, "{task}");
        assert_eq!(
            serde_json::from_value::<Task>(task.clone()).is_ok(),
            fits,
            "{task}"
        );
    }
}

#[test]
fn serialised_values_match_their_schemas() {
    let failed = ExecutionOutcome::Failed {
        error: autonoe_core::event::Failure::permanent("crashed", "it is gone"),
    };
    for end in [
        ExecutionOutcome::Completed,
        ExecutionOutcome::TimedOut { after_seconds: 5 },
        ExecutionOutcome::BudgetSpent { budget: None },
        failed,
    ] {
        let result = ExecutionReport::new(&task("Do it."), "codex", end);
        let json = serde_json::to_value(&result).expect("it serialises");

        assert!(
            validator("harness.execution-result").is_valid(&json),
            "{json}"
        );
        let read: ExecutionReport = serde_json::from_value(json).expect("a result");
        assert_eq!(read, result);
    }
    let json = serde_json::to_value(Verification::failed("no")).expect("it serialises");
    assert_eq!(json, json!({"verification": "failed", "reason": "no"}));
    assert!(validator("harness.verification").is_valid(&json));
}
