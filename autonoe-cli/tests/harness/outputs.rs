//! What programs read is as the schemas say.

use std::path::Path;

use serde_json::Value;

use crate::harness::setting::{Setting, UnderWay};

fn is_valid(name: &str, value: &Value) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/schemas");
    let schema = std::fs::read_to_string(folder.join(format!("{name}.json"))).expect("committed");
    let schema: Value = serde_json::from_str(&schema).expect("JSON");
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let problems: Vec<_> = validator
        .iter_errors(value)
        .map(|it| it.to_string())
        .collect();
    assert!(problems.is_empty(), "{name}: {problems:?} in {value:#}");
}

#[test]
fn every_output_in_json_is_as_its_schema_says() {
    let setting = Setting::new();
    let agents = setting.usual_agents(&[("parser", "go")]);
    is_valid("output.harness-status", &setting.json(&["status"]));
    let run = setting.run(&["--backend", &agents, "--json"]);
    setting.until_log_has("parser", "Session 1 started");

    is_valid("output.harness-status", &setting.json(&["status"]));
    is_valid(
        "output.harness-asked",
        &setting.json(&["send", "parser", "Hello."]),
    );
    is_valid("output.harness-asked", &setting.json(&["pause", "parser"]));
    is_valid("output.harness-asked", &setting.json(&["resume"]));
    setting.release("go");
    let ended = run.end();
    let outcome: Value = serde_json::from_str(&ended.stdout).expect("JSON");
    is_valid("output.harness-run", &outcome);
    is_valid("output.harness-status", &setting.json(&["status"]));
    let logs = UnderWay::start(setting.command(&["logs", "--json"])).end();
    assert!(logs.stdout.lines().count() > 3, "{logs:?}");
    for line in logs.stdout.lines() {
        is_valid(
            "output.harness-log-line",
            &serde_json::from_str(line).expect("JSON"),
        );
    }
}
