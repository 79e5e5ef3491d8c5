//! Tests that the guides show actual output and document every option and field.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::Value;

use crate::commands::fixture::Fixture;

const FLOWS_GUIDE: &str = include_str!("../../../docs/guides/flows.md");
const ASK_GUIDE: &str = include_str!("../../../docs/guides/ask.md");
const HARNESS_GUIDE: &str = include_str!("../../../docs/guides/harness.md");

/// Returns the code block that starts with this line.
fn block(beginning: &str) -> &'static str {
    let (_, rest) = FLOWS_GUIDE
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
    let fixture = Fixture::new();
    let mut found = BTreeSet::new();
    for name in ["flow.agent", "flow.steps-registry"] {
        let output = fixture.autonoe(&["schema", name]);
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
            !tables.iter().any(|heading| FLOWS_GUIDE.contains(heading))
        })
        .collect();
    assert!(missing.is_empty(), "the guide does not tell {missing:?}");
}

#[test]
fn guide_commands_work_as_documented() {
    let fixture = Fixture::new();
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let home = fixture.project().join("../home");
    symlink(checkout, home.join("autonoe")).expect("writable");
    fixture.check_guide(FLOWS_GUIDE);
    assert!(fs::exists(fixture.project().join(".autonoe/flows/fix-bug")).expect("readable"));
}

#[test]
fn every_command_of_the_ask_guide_prints_the_documented_output() {
    Fixture::new().check_guide(ASK_GUIDE);
}

#[test]
fn every_option_and_exit_code_of_ask_is_in_the_guide() {
    let help = Fixture::new().autonoe(&["ask", "--help"]).stdout;
    let options = help
        .split_whitespace()
        .filter(|word| word.starts_with("--"))
        .map(|word| word.trim_end_matches([',', '.', ':', ';', '`']))
        .map(|word| word.split(['[', '=']).next().unwrap_or(word));
    let common = [
        "--force",
        "--help",
        "--no-sandbox",
        "--project-dir",
        "--thinking",
    ];
    let missing: Vec<_> = options
        .filter(|option| !common.contains(option) && !ASK_GUIDE.contains(&format!("`{option}")))
        .collect();
    assert!(missing.is_empty(), "the guide lacks {missing:?}");

    let (_, codes) = help.split_once("Exit codes:").expect("they are there");
    let codes = codes
        .split_whitespace()
        .filter(|it| it.parse::<u8>().is_ok());
    for code in codes {
        assert!(ASK_GUIDE.contains(&format!("| {code} |")), "{code}");
    }
}

#[test]
fn fleet_guide_commands_work_as_documented() {
    let fixture = Fixture::new();
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let home = fixture.project().join("../home");
    symlink(checkout, home.join("autonoe")).expect("writable");
    fixture.check_guide(HARNESS_GUIDE);
}

#[test]
fn every_option_of_a_fleet_is_in_the_guide() {
    let help = Fixture::new().autonoe(&["harness", "run", "--help"]).stdout;
    let words = help
        .split_whitespace()
        .filter(|word| word.starts_with("--"));
    let in_other_guides = [
        "--allow-destructive",
        "--help",
        "--json",
        "--model",
        "--no-sandbox",
        "--project-dir",
        "--thinking",
        "--view",
    ];
    let names = words.map(|word| {
        let end = word.find(|c: char| !c.is_ascii_alphanumeric() && c != '-');
        &word[..end.unwrap_or(word.len())]
    });

    let missing: Vec<_> = names
        .filter(|name| !in_other_guides.contains(name) && !HARNESS_GUIDE.contains(name))
        .collect();

    assert!(missing.is_empty(), "the guide does not tell {missing:?}");
}
