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

/// A file with one changed value.
pub(crate) struct Mutation {
    pub(crate) description: String,
    pub(crate) value: Value,
}

/// Returns `file` with each of its values removed, of another type, or beside an unknown field.
pub(crate) fn mutations(file: &Value) -> Vec<Mutation> {
    let mut pointers = Vec::new();
    collect(file, String::new(), &mut pointers);
    let mut found = Vec::new();
    for pointer in pointers {
        let value = file.pointer(&pointer).expect("it is there");
        let at = if pointer.is_empty() { "/" } else { &pointer };
        if let Some((parent, name)) = pointer.rsplit_once('/') {
            let mut changed = file.clone();
            if let Some(Value::Object(fields)) = changed.pointer_mut(parent) {
                fields.remove(name);
                found.push(mutation(format!("{at} is left out"), changed));
            }
        }
        for (description, other) in others(value) {
            let mut changed = file.clone();
            *changed.pointer_mut(&pointer).expect("it is there") = other;
            found.push(mutation(format!("{at} is {description}"), changed));
        }
        if value.is_object() {
            let mut changed = file.clone();
            changed.pointer_mut(&pointer).expect("it is there")["surprise"] = json!(1);
            found.push(mutation(format!("{at} has the field surprise"), changed));
        }
    }
    found
}

fn mutation(description: String, value: Value) -> Mutation {
    Mutation { description, value }
}

/// Returns values of other types, and for a string also an unknown one.
fn others(value: &Value) -> Vec<(&'static str, Value)> {
    let mut found = vec![("null", Value::Null)];
    if !value.is_number() {
        found.push(("7", json!(7)));
    }
    if !value.is_string() {
        found.push(("a text", json!("text")));
    }
    if value.is_number() {
        found.push(("-1", json!(-1)));
    }
    if !value.is_array() {
        found.push(("a list", json!([])));
    }
    if !value.is_object() {
        found.push(("an object", json!({})));
    }
    if !value.is_boolean() {
        found.push(("false", json!(false)));
    } else {
        found.push(("the other truth", json!(!value.as_bool().expect("a truth"))));
    }
    if value.is_string() {
        found.push(("an odd text", json!(" ?! ")));
    }
    found
}

fn collect(value: &Value, pointer: String, found: &mut Vec<String>) {
    found.push(pointer.clone());
    match value {
        Value::Object(fields) => fields
            .iter()
            .for_each(|(name, value)| collect(value, format!("{pointer}/{name}"), found)),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .for_each(|(index, value)| collect(value, format!("{pointer}/{index}"), found)),
        _ => {}
    }
}
