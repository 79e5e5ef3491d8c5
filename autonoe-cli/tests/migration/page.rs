//! Compares the names on the migration page with the schemas.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;

const PAGE: &str = include_str!("../../../docs/migration.md");

/// A section of the page with the table of one schema.
struct Mapping {
    schema: String,
    /// The names in the column "here".
    names: BTreeSet<String>,
}

/// Returns the section under `heading`.
fn section(heading: &str) -> &'static str {
    let start = PAGE.split_once(&format!("\n## {heading}\n"));
    let (_, rest) = start.unwrap_or_else(|| panic!("there is no section {heading:?}"));
    rest.split("\n## ").next().unwrap_or(rest)
}

/// Returns the rows of the tables in a section, without headings.
fn rows(section: &str) -> Vec<Vec<&str>> {
    let lines = section.lines().filter(|line| line.starts_with("| "));
    lines
        .map(|line| line.trim_matches('|').split(" | ").map(str::trim).collect())
        .filter(|cells: &Vec<&str>| cells[0] != "upstream" && !cells[0].starts_with("---"))
        .collect()
}

/// Returns the texts between backquotes.
fn names(cell: &str) -> impl Iterator<Item = String> {
    let parts = cell.split('`').skip(1).step_by(2);
    parts.map(str::to_owned).collect::<Vec<_>>().into_iter()
}

fn mapping(heading: &str) -> Mapping {
    let section = section(heading);
    let link = section.split_once("[schema](");
    let (_, link) = link.unwrap_or_else(|| panic!("{heading} links no schema"));
    let schema = link.split(')').next().unwrap_or_default().to_owned();
    let cells = rows(section).into_iter().map(|cells| cells[1]);
    let names: BTreeSet<_> = cells.flat_map(names).collect();
    assert!(!names.is_empty(), "{heading}");
    Mapping { schema, names }
}

fn read(schema: &str) -> Value {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
    let text = fs::read_to_string(docs.join(schema)).expect("the link leads somewhere");
    serde_json::from_str(&text).expect("JSON")
}

/// Collects every field name and every constant in a schema.
fn collect(schema: &Value, into: &mut BTreeSet<String>) {
    match schema {
        Value::Object(fields) => {
            if let Some(Value::Object(properties)) = fields.get("properties") {
                into.extend(properties.keys().cloned());
            }
            into.extend(fields.get("const").and_then(Value::as_str).map(Into::into));
            fields.values().for_each(|value| collect(value, into));
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, into)),
        _ => {}
    }
}

/// Returns the top-level fields of a schema, including those of its variants.
fn own_fields(schema: &Value) -> BTreeSet<String> {
    let variants = schema["oneOf"].as_array().into_iter().flatten();
    let objects = variants.chain([schema]);
    objects
        .filter_map(|object| object["properties"].as_object())
        .flat_map(|properties| properties.keys().cloned())
        .collect()
}

const MAPPINGS: [&str; 5] = [
    "The ledger",
    "Settings",
    "The result of a run",
    "The result of a session",
    "Events of an agent",
];

#[test]
fn every_name_on_our_side_of_the_tables_is_in_the_schema() {
    for heading in MAPPINGS {
        let mapping = mapping(heading);
        let mut known = BTreeSet::new();
        collect(&read(&mapping.schema), &mut known);

        let unknown: Vec<_> = mapping.names.difference(&known).collect();
        assert!(unknown.is_empty(), "{heading}: {unknown:?}");
    }
}

#[test]
fn every_field_of_the_schemas_is_in_a_table() {
    for heading in MAPPINGS {
        let mapping = mapping(heading);
        let schema = read(&mapping.schema);
        // Events differ by their type. The other schemas have the fields of one object.
        let fields = if schema["oneOf"][0]["properties"]["type"].is_object() {
            let variants = schema["oneOf"].as_array().expect("a list");
            let types = variants
                .iter()
                .map(|it| it["properties"]["type"]["const"].as_str());
            types.map(|it| it.expect("a name").to_owned()).collect()
        } else {
            own_fields(&schema)
        };

        assert!(fields.len() >= 6, "{heading}: {fields:?}");
        let missing: Vec<_> = fields.difference(&mapping.names).collect();
        assert!(missing.is_empty(), "{heading}: {missing:?}");
    }
}

/// A unit test of the exit codes compares the numbers.
#[test]
fn the_exit_codes_list_every_reason() {
    let rows = rows(section("Exit codes"));
    let listed: BTreeSet<_> = rows.iter().flat_map(|cells| names(cells[0])).collect();
    let report = read("schemas/run-report.json");
    let variants = report["oneOf"].as_array().expect("a list");
    let reasons: BTreeSet<_> = variants
        .iter()
        .filter_map(|it| it["properties"]["exitReason"]["const"].as_str())
        .map(str::to_owned)
        .collect();

    assert_eq!(listed, reasons);
}
