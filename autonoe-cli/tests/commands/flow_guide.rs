//! Tests that the guide on flows shows actual output and documents every field.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::Value;

use crate::commands::fixture::Fixture;

const GUIDE: &str = include_str!("../../../docs/guides/flows.md");

/// Returns the code block that starts with this line.
fn block(beginning: &str) -> &'static str {
    let (_, rest) = GUIDE
        .split_once(&format!("```{beginning}\n"))
        .expect("a block");
    rest.split_once("```").expect("it ends").0
}

#[test]
fn the_files_in_the_guide_are_those_of_the_example() {
    assert_eq!(
        block("json agent"),
        include_str!("../../../examples/flows/fix-bug/agent.json")
    );
    assert_eq!(
        block("json steps"),
        include_str!("../../../examples/flows/fix-bug/steps_registry.json")
    );
}

/// Collects the names of all fields in a schema, and the constant values of fields.
fn words(schema: &Value, found: &mut BTreeSet<String>) {
    if let Value::Object(fields) = schema {
        if let Some(Value::Object(properties)) = fields.get("properties") {
            found.extend(properties.keys().cloned());
        }
        found.extend(
            fields
                .get("const")
                .and_then(Value::as_str)
                .map(str::to_owned),
        );
        fields.values().for_each(|value| words(value, found));
    } else if let Value::Array(items) = schema {
        items.iter().for_each(|value| words(value, found));
    }
}

#[test]
fn guide_documents_every_definition_field() {
    let setting = Fixture::new();
    let mut found = BTreeSet::new();
    for name in ["flow.agent", "flow.steps-registry"] {
        let output = setting.autonoe(&["schema", name]);
        words(
            &serde_json::from_str(&output.stdout).expect("JSON"),
            &mut found,
        );
    }
    assert!(found.len() > 60, "{found:?}");

    let missing: Vec<_> = found
        .iter()
        .filter(|word| {
            let tables = [
                format!("`{word}`"),
                format!("\"{word}\""),
                format!("`{word}: "),
            ];
            !tables.iter().any(|heading| GUIDE.contains(heading))
        })
        .collect();
    assert!(missing.is_empty(), "the guide does not tell {missing:?}");
}

#[test]
fn guide_commands_work_as_documented() {
    let setting = Fixture::new();
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let home = setting.project().join("../home");
    symlink(checkout, home.join("autonoe")).expect("writable");
    setting.check_guide(GUIDE);
    assert!(fs::exists(setting.project().join(".autonoe/flows/fix-bug")).expect("readable"));
}
