//! Compares the list of events and journal lines in the reference with the schemas.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::features::quoted;

/// Fields by the name of an event or of a journal line.
type Kinds = BTreeMap<String, BTreeSet<String>>;

/// Returns the kinds of a schema. `tag` is the field with the name of the kind.
fn kinds_of_schema(schema: &str, tag: &str) -> Kinds {
    let schema: Value = serde_json::from_str(schema).expect("JSON");
    let variants = schema["oneOf"].as_array().expect("a list of kinds");
    let kind = |variant: &Value| {
        let fields = variant["properties"].as_object().expect("fields");
        let name = fields[tag]["const"].as_str().expect("a name").to_owned();
        let others = fields.keys().filter(|field| *field != tag).cloned();
        (name, others.collect())
    };
    variants.iter().map(kind).collect()
}

/// Returns the kinds in the tables below a heading whose first column is `tag`.
fn kinds_of_page(page: &str, tag: &str) -> Kinds {
    let heading = format!("| `{tag}` |");
    let mut is_table = false;
    let mut kinds = Kinds::new();
    for line in page.lines() {
        is_table = line.starts_with(&heading) || (is_table && line.starts_with('|'));
        if !is_table || !line.starts_with("| `") || line.starts_with(&heading) {
            continue;
        }
        let cells: Vec<&str> = line.split('|').collect();
        for name in quoted(cells[1]) {
            kinds.insert(name, quoted(cells[2]));
        }
    }
    kinds
}

#[test]
fn the_page_lists_every_event_and_every_journal_line_with_its_fields() {
    let page = include_str!("../reference/events.md");
    let events = include_str!("../schemas/run-event.json");
    let lines = include_str!("../schemas/journal-entry.json");

    for (tag, schema) in [("event", events), ("line", lines)] {
        assert_eq!(
            kinds_of_page(page, tag),
            kinds_of_schema(schema, tag),
            "docs/reference/events.md differs from the schema of `{tag}`"
        );
    }
}
