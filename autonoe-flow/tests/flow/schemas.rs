//! JSON Schemas of the definition files of a flow.

use std::fs;
use std::path::{Path, PathBuf};

use autonoe_flow::definition::{
    FlowAgent, NotificationMethod, ReturnFlow, StepEscalation, StepLimits, StepRetryPolicy,
    StepsRegistry,
};
use autonoe_flow::load;
use autonoe_flow::load::AGENT_FILE;
use autonoe_flow::validate::FindingKind;
use serde_json::{Value, json};

use crate::support::{Folder, full, mutations};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/schemas")
}

fn written(schema: &Value) -> String {
    // In a fixed order, even if maps keep their insertion order.
    let mut schema = schema.clone();
    schema.sort_all_objects();
    let mut text = serde_json::to_string_pretty(&schema).expect("a schema is JSON");
    text.push('\n');
    text
}

#[test]
fn the_committed_schemas_of_flows_are_current() {
    for (name, schema) in autonoe_flow::schemas() {
        let path = folder().join(format!("{name}.json"));
        if std::env::var_os("AUTONOE_UPDATE_SCHEMAS").is_some() {
            fs::write(&path, written(&schema)).expect("writable");
        }
        let committed = fs::read_to_string(&path).unwrap_or_default();

        let is_current = committed == written(&schema);
        assert!(is_current, "{} is not current", path.display());
    }
}

#[test]
fn the_schemas_and_the_types_take_and_refuse_the_same() {
    let schemas = autonoe_flow::schemas();
    for (file, schema) in [
        (AGENT_FILE, "flow.agent"),
        ("steps_registry.json", "flow.steps-registry"),
    ] {
        let validator = jsonschema::validator_for(&schemas[schema]).expect("a schema");
        let folder = Folder::new();
        let is_read = |value: &Value| {
            // Only one of the files is changed, and the other is valid.
            folder.write(file, &value.to_string());
            match load(&folder.dir) {
                Ok(_) => true,
                Err(error) => error.finding().kind != FindingKind::Shape,
            }
        };
        let whole = full(file);
        assert!(validator.is_valid(&whole) && is_read(&whole), "{file}");

        let differing: Vec<String> = mutations(&whole)
            .into_iter()
            // The schema does not cover blanks around the ID of a deliverable.
            .filter(|it| !it.description.ends_with("/ids/0 is an odd text"))
            .filter(|it| validator.is_valid(&it.value) != is_read(&it.value))
            .map(|it| it.description)
            .collect();

        assert_eq!(differing, Vec::<String>::new(), "{file}");
    }
}

#[test]
fn a_definition_is_written_as_it_was_read() {
    let agent: FlowAgent = serde_json::from_value(full(AGENT_FILE)).expect("an agent");
    let registry: StepsRegistry =
        serde_json::from_value(full("steps_registry.json")).expect("steps");

    let agent_json = serde_json::to_value(&agent).expect("JSON");
    let registry_json = serde_json::to_value(&registry).expect("JSON");

    let reread: FlowAgent = serde_json::from_value(agent_json.clone()).expect("an agent");
    let same = serde_json::to_value(&reread).expect("JSON");
    assert_eq!(agent_json, same);
    assert_eq!(
        agent_json["behavior"]["completionConfig"]["conditions"][1],
        full(AGENT_FILE)["behavior"]["completionConfig"]["conditions"][1]
    );
    assert_eq!(
        serde_json::from_value::<StepsRegistry>(registry_json).expect("steps"),
        registry
    );
}

#[test]
fn the_numbers_of_the_design_are_the_defaults() {
    let escalation: StepEscalation =
        serde_json::from_value(json!({"escalateTo": "a"})).expect("one");
    let limits = StepLimits::default();
    let policy = StepRetryPolicy::default();

    assert_eq!((limits.step_loop, limits.max_visits), (10, 100));
    assert_eq!(policy.max_retries, 3);
    assert_eq!(
        (policy.backoff.initial_ms, policy.backoff.max_ms),
        (1_000, 30_000)
    );
    assert_eq!(escalation.notification_method, NotificationMethod::InAgent);
    assert_eq!(escalation.return_flow, ReturnFlow::Resume);
}
