//! The JSON Schemas of everything that other programs read and write.

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde_json::{Value, json};

use crate::domain::{
    Budget, Epoch, InstructionName, Ledger, RunReport, SessionResult, StreamEvent,
    VerificationTracker,
};
use crate::port::{
    BackendProbe, Capabilities, McpServer, MemoryRepository, PermissionRule, RunEvent, SpecEntry,
    SystemClock, ToolCall, ToolOutput, all_specs, plain_output_schema, plain_schema,
};
use crate::run::RunLimits;
use crate::tools::{LedgerBook, deliverable_tools};

/// Returns the JSON Schema of everything that other programs read and write, by name.
///
/// Beside the files and events, there is one per deliverable tool and instruction
/// (`tool-input.coding.list`), and one per hook, backend and other spec that this program
/// knows (`hook.core-deny-tool`).
///
/// ```
/// let schemas = autonoe_core::schemas();
///
/// assert!(schemas["run-report"]["properties"]["exitReason"].is_null());
/// assert!(schemas.contains_key("tool-input.coding.set_status"));
/// ```
pub fn schemas() -> BTreeMap<String, Value> {
    let mut schemas: BTreeMap<String, Value> = [
        of::<Ledger>("ledger"),
        of::<VerificationTracker>("verification"),
        of::<StreamEvent>("stream-event"),
        // It is written and never read.
        (
            "run-event".to_owned(),
            plain_output_schema::<RunEvent<'static>>().to_value(),
        ),
        of::<RunReport>("run-report"),
        of::<RunLimits>("run-limits"),
        of::<Budget>("budget"),
        of::<SessionResult>("session-result"),
        of::<ToolCall>("tool-call"),
        of::<ToolOutput>("tool-output"),
        of::<Capabilities>("capabilities"),
        of::<BackendProbe>("backend-probe"),
        of::<McpServer>("mcp-server"),
        of::<PermissionRule>("permission-rule"),
        #[cfg(feature = "project")]
        of::<crate::project::StatusRecord>("status-file"),
        #[cfg(feature = "project")]
        of::<crate::project::AgentConfig>("agent-config"),
        #[cfg(feature = "project")]
        of::<crate::project::JournalEntry>("journal-entry"),
    ]
    .into();
    schemas.extend(tool_inputs());
    schemas.extend(all_specs().map(|spec| {
        let name = format!("{}.{}", spec.port.name(), spec.tag);
        (name, tagged(spec))
    }));
    schemas
}

fn of<T: JsonSchema>(name: &str) -> (String, Value) {
    (name.to_owned(), plain_schema::<T>().to_value())
}

fn tool_inputs() -> impl Iterator<Item = (String, Value)> {
    // The tools are only asked what they take, so any ledger does.
    let repository = Arc::new(MemoryRepository::new());
    let book = LedgerBook::new(repository, Arc::new(SystemClock), Epoch::default());
    InstructionName::BUILT_IN
        .into_iter()
        .flat_map(move |instruction| {
            let tools = deliverable_tools(&book, &instruction);
            tools.into_iter().map(move |tool| {
                let definition = tool.definition();
                let name = format!("tool-input.{instruction}.{}", definition.name);
                (name, definition.input_schema.clone())
            })
        })
}

/// Returns the schema of a spec as it stands in a file, its tag included.
fn tagged(spec: &SpecEntry) -> Value {
    let mut schema = (spec.schema)().to_value();
    schema["properties"]["type"] = json!({"const": spec.tag});
    match schema["required"].as_array_mut() {
        Some(required) => required.push("type".into()),
        None => schema["required"] = json!(["type"]),
    }
    schema
}
