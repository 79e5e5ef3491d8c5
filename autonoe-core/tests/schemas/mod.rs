//! JSON Schemas of everything that other programs read, compared with the committed ones.
//!
//! `cargo xtask schemas` regenerates them.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/schemas")
}

/// Returns every schema of this crate with its file name, without the extension.
fn schemas() -> impl Iterator<Item = (String, Value)> {
    let all = autonoe_core::schemas().into_iter();
    // Other crates describe their own specs.
    all.filter(|(name, _)| name.starts_with("hook.core-") || !name.starts_with("hook."))
        .filter(|(name, _)| !name.starts_with("backend."))
        // Tests of this binary register their own port.
        .filter(|(name, _)| !name.starts_with("cake."))
        // It lists backends, and the command has all of them.
        .filter(|(name, _)| name != "agent-config")
}

fn written(schema: &Value) -> String {
    // Sorted, so that the order of creation does not matter.
    let mut schema = schema.clone();
    schema.sort_all_objects();
    let mut text = serde_json::to_string_pretty(&schema).expect("a schema is JSON");
    text.push('\n');
    text
}

// Shows: interfaces/session-runner/json-shape-result, spec/2.3/mcp-server
#[test]
fn the_committed_schemas_are_current() {
    if std::env::var_os("AUTONOE_UPDATE_SCHEMAS").is_some() {
        fs::create_dir_all(folder()).expect("the folder can be made");
        for (name, schema) in schemas() {
            fs::write(folder().join(format!("{name}.json")), written(&schema)).expect("writable");
        }
    }
    for (name, schema) in schemas() {
        let path = folder().join(format!("{name}.json"));
        let committed = fs::read_to_string(&path).unwrap_or_default();

        assert!(
            committed == written(&schema),
            "{} is not current; run `cargo xtask schemas`",
            path.display()
        );
    }
}

#[test]
fn no_schema_is_left_over() {
    let known: Vec<String> = schemas().map(|(name, _)| format!("{name}.json")).collect();

    for entry in fs::read_dir(folder()).expect("the folder is there") {
        let name = entry
            .expect("readable")
            .file_name()
            .to_string_lossy()
            .into_owned();
        // The output and input of the command, and the content of flows, tasks and views, are
        // described by other crates.
        let is_of_others = ["output.", "flow.", "harness.", "dashboard."]
            .iter()
            .any(|prefix| name.starts_with(prefix));
        if is_of_others || ["models.json", "agent-config.json"].contains(&name.as_str()) {
            continue;
        }
        assert!(
            known.contains(&name),
            "docs/schemas/{name} describes nothing"
        );
    }
}
