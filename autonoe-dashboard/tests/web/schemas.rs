//! Tests of the JSON Schemas of snapshots and intents.

use std::fs;
use std::path::{Path, PathBuf};

use autonoe_dashboard::{Dashboard, FleetAction, FleetIntent};
use serde_json::{Value, json};

use crate::sample::fleet;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/schemas")
}

fn written(schema: &Value) -> String {
    let mut schema = schema.clone();
    schema.sort_all_objects();
    let mut text = serde_json::to_string_pretty(&schema).expect("a schema is JSON");
    text.push('\n');
    text
}

#[test]
fn the_committed_schemas_of_the_dashboard_are_current() {
    for (name, schema) in autonoe_dashboard::schemas() {
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
    jsonschema::validator_for(&autonoe_dashboard::schemas()[name]).expect("a schema")
}

#[test]
fn snapshot_matches_schema_and_round_trips() {
    let json = serde_json::to_value(fleet()).expect("it serialises");

    assert!(validator("dashboard").is_valid(&json), "{json:#}");
    let read: Dashboard = serde_json::from_value(json.clone()).expect("it is read");
    assert_eq!(read, fleet());

    assert_eq!(json["elapsedMs"], 3_605_000);
    assert_eq!(json["phase"], "running");
    assert_eq!(
        json["members"][1]["cost"],
        json!({"knownUsd": "0.2", "unknownParts": 1})
    );
    assert_eq!(
        json["alerts"][0],
        json!({"severity": "CRITICAL", "type": "stuck", "member": "tests",
            "message": "five times the same", "timestamp": "2026-01-31T18:00:05Z"})
    );
    assert_eq!(
        json["members"][3],
        json!({"id": "docs", "backend": "claude", "status": "completed", "progress": 1.0,
            "iteration": 0, "cost": {"knownUsd": "0", "unknownParts": 0},
            "tokens": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "reasoning": 0}})
    );
}

#[test]
fn intent_matches_schema_and_round_trips() {
    for (action, expected) in [
        (
            FleetAction::Pause,
            json!({"member": "api", "action": "pause"}),
        ),
        (
            FleetAction::Instruct { text: "go".into() },
            json!({"member": "api", "action": "instruct", "text": "go"}),
        ),
    ] {
        let intent = FleetIntent {
            member: "api".into(),
            action,
        };
        let json = serde_json::to_value(&intent).expect("it serialises");

        assert_eq!(json, expected);
        assert!(validator("dashboard.intent").is_valid(&json), "{json}");
        let read: FleetIntent = serde_json::from_value(json).expect("it is read");
        assert_eq!(read, intent);
    }
    let unknown = json!({"member": "api", "action": "explode"});
    assert!(!validator("dashboard.intent").is_valid(&unknown));
    assert!(serde_json::from_value::<FleetIntent>(unknown).is_err());
}
