//! Tests of the output of fleets: JSON that matches the schemas, and warnings at the start.

use std::path::Path;

use serde_json::Value;

use crate::harness::fixture::{Fixture, RunningCommand};

fn assert_valid(name: &str, value: &Value) {
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
fn json_outputs_match_their_schemas() {
    let fixture = Fixture::new();
    let agents = fixture.usual_agents(&[("parser", "go")]);
    assert_valid("output.harness-status", &fixture.json(&["status"]));
    let run = fixture.run(&["--backend", &agents, "--json"]);
    fixture.until_log_has("parser", "Session 1 started");

    assert_valid("output.harness-status", &fixture.json(&["status"]));
    assert_valid(
        "output.harness-request",
        &fixture.json(&["send", "parser", "Hello."]),
    );
    assert_valid(
        "output.harness-request",
        &fixture.json(&["pause", "parser"]),
    );
    assert_valid("output.harness-request", &fixture.json(&["resume"]));
    fixture.release("go");
    let ended = run.end();
    let outcome: Value = serde_json::from_str(&ended.stdout).expect("JSON");
    assert_valid("output.harness-run", &outcome);
    assert_valid("output.harness-status", &fixture.json(&["status"]));
    let logs = RunningCommand::start(fixture.command(&["logs", "--json"])).end();
    assert!(logs.stdout.lines().count() > 3, "{logs:?}");
    for line in logs.stdout.lines() {
        assert_valid(
            "output.harness-log-line",
            &serde_json::from_str(line).expect("JSON"),
        );
    }
}

#[test]
fn a_fleet_warns_once_about_options_that_remove_protection() {
    let fixture = Fixture::new();
    let agents = fixture.usual_agents(&[]);
    let options = ["--allow-destructive", "--no-sandbox", "--backend", &agents];

    let ended = fixture.run(&options).end();

    assert_eq!(ended.code, Some(0), "{ended:?}");
    let start = ended.stderr.split("parser started").next();
    for warning in [
        "--allow-destructive is on: agents can delete and move files",
        "the sandbox is switched off: commands of agents reach everything",
    ] {
        let in_start = start.map(|start| start.matches(warning).count());
        let in_all = ended.stderr.matches(warning).count();
        assert_eq!((in_start, in_all), (Some(1), 1), "{warning}: {ended:?}");
    }
}
