//! The JSON Schemas of everything that others read, compared with the committed ones.
//!
//! `cargo xtask schemas` writes them anew.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use autonoe_core::{
    Budget, Capabilities, Epoch, InstructionName, Ledger, LedgerBook, McpServer, MemoryRepository,
    PermissionRule, RunEvent, RunLimits, RunReport, SessionResult, SpecPort, StreamEvent,
    SystemClock, ToolCall, ToolOutput, VerificationTracker, deliverable_tools, plain_schema,
    registered_specs,
};
use schemars::JsonSchema;
use serde_json::Value;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/schemas")
}

fn of<T: JsonSchema>(name: &str) -> (String, Value) {
    (name.to_owned(), plain_schema::<T>().to_value())
}

/// Every schema with its file name, without the ending.
fn schemas() -> Vec<(String, Value)> {
    let mut schemas = vec![
        of::<Ledger>("ledger"),
        of::<VerificationTracker>("verification"),
        of::<StreamEvent>("stream-event"),
        of::<RunEvent<'static>>("run-event"),
        of::<RunReport>("run-report"),
        of::<RunLimits>("run-limits"),
        of::<Budget>("budget"),
        of::<SessionResult>("session-result"),
        of::<ToolCall>("tool-call"),
        of::<ToolOutput>("tool-output"),
        of::<Capabilities>("capabilities"),
        of::<McpServer>("mcp-server"),
        of::<PermissionRule>("permission-rule"),
        #[cfg(feature = "project")]
        of::<autonoe_core::StatusRecord>("status-file"),
        #[cfg(feature = "project")]
        of::<autonoe_core::AgentConfig>("agent-config"),
        #[cfg(feature = "project")]
        of::<autonoe_core::JournalEntry>("journal-entry"),
    ];
    let book = LedgerBook::new(
        Arc::new(MemoryRepository::new()),
        Arc::new(SystemClock),
        Epoch(1),
    );
    for instruction in InstructionName::BUILT_IN {
        for tool in deliverable_tools(&book, &instruction) {
            let definition = tool.definition();
            let name = format!("tool-input.{instruction}.{}", definition.name);
            schemas.push((name, definition.input_schema.clone()));
        }
    }
    for entry in registered_specs(SpecPort::Hook) {
        if entry.tag.starts_with("core-") {
            schemas.push((format!("hook.{}", entry.tag), (entry.schema)().to_value()));
        }
    }
    schemas
}

fn written(schema: &Value) -> String {
    let mut text = serde_json::to_string_pretty(schema).expect("a schema is JSON");
    text.push('\n');
    text
}

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
    let known: Vec<String> = schemas()
        .into_iter()
        .map(|(name, _)| format!("{name}.json"))
        .collect();

    for entry in fs::read_dir(folder()).expect("the folder is there") {
        let name = entry
            .expect("readable")
            .file_name()
            .to_string_lossy()
            .into_owned();
        assert!(
            known.contains(&name),
            "docs/schemas/{name} describes nothing"
        );
    }
}
