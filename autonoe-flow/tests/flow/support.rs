//! Shared fixtures.

use std::fs;
use std::path::{Path, PathBuf};

use autonoe_flow::{FlowDefinition, ValidationReport, validate};
use serde_json::{Value, json};

/// The folder of a flow that uses every field.
pub(crate) fn full_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/flow/full")
}

/// A file of the flow that uses every field.
pub(crate) fn full(file: &str) -> Value {
    let text = fs::read_to_string(full_folder().join(file)).expect("it is there");
    serde_json::from_str(&text).expect("JSON")
}

/// The folder of a flow, which is deleted at the end of the test.
pub(crate) struct Folder {
    pub(crate) outer: tempfile::TempDir,
    pub(crate) dir: PathBuf,
}

impl Folder {
    /// Creates the folder of a flow `review` with one valid step.
    pub(crate) fn new() -> Self {
        let outer = tempfile::tempdir().expect("a folder");
        let dir = outer.path().join("review");
        fs::create_dir_all(dir.join("prompts")).expect("writable");
        let folder = Self { outer, dir };
        folder.write("agent.json", &agent(json!({})).to_string());
        folder.write("steps_registry.json", &one_step().to_string());
        folder.write("prompts/a.md", "Go on.");
        folder
    }

    pub(crate) fn write(&self, file: &str, text: &str) {
        let path = self.dir.join(file);
        fs::create_dir_all(path.parent().expect("a folder")).expect("writable");
        fs::write(path, text).expect("writable");
    }

    /// Removes the path of the test's folder from `text`.
    pub(crate) fn without_place(&self, text: &str) -> String {
        text.replace(&format!("{}/", self.outer.path().display()), "")
    }
}

/// The content of an `agent.json` that completes with its steps, overridden by `fields`.
pub(crate) fn agent(fields: Value) -> Value {
    let mut agent = json!({
        "version": "1",
        "name": "review",
        "behavior": {"completionType": "stepMachine"},
    });
    merge(&mut agent, fields);
    agent
}

fn merge(into: &mut Value, fields: Value) {
    match (into, fields) {
        (Value::Object(into), Value::Object(fields)) => {
            for (name, value) in fields {
                merge(into.entry(name).or_insert(Value::Null), value);
            }
        }
        (into, value) => *into = value,
    }
}

/// A registry with one step.
pub(crate) fn one_step() -> Value {
    json!({"entryStep": "a", "steps": {"a": step("end")}})
}

/// A step that leads to `next`.
pub(crate) fn step(next: &str) -> Value {
    json!({"prompt": "prompts/a.md", "transition": {"next": next}})
}

/// A definition in memory with the prompt `prompts/a.md`.
pub(crate) fn definition(agent: Value, registry: Value) -> FlowDefinition {
    let agent = serde_json::from_value(agent).expect("an agent");
    let registry = serde_json::from_value(registry).expect("steps");
    FlowDefinition::new(agent, registry).with_prompt("prompts/a.md", "Go on.")
}

/// Validates steps of a flow that is complete at its end.
pub(crate) fn validated(registry: Value) -> ValidationReport {
    validate(&definition(agent(json!({})), registry))
}

/// Validates one step with `fields` instead of `transition`, beside other steps.
pub(crate) fn validated_step(fields: Value) -> ValidationReport {
    let mut a = json!({"prompt": "prompts/a.md"});
    merge(&mut a, fields);
    validated(json!({
        "entryStep": "a",
        "steps": {"a": a, "b": step("end"), "c": step("end")},
    }))
}
