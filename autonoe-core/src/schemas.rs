//! JSON Schemas of every format that other programs read or write.

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde_json::Value;

use crate::agent::{BackendProbe, Capabilities};
use crate::agent::{Budget, SessionReport, StreamEvent};
use crate::event::InstructionName;
use crate::event::RunEvent;
use crate::gate::PermissionRule;
use crate::ledger::MemoryRepository;
use crate::ledger::{Ledger, VerificationTracker};
use crate::ledger::{LedgerStore, deliverable_tools};
use crate::run::RunLimits;
use crate::run::RunReport;
use crate::spec::all_specs;
use crate::time::Epoch;
use crate::time::SystemClock;
use crate::tool::{McpServer, ToolCall, ToolOutput, plain_output_schema, plain_schema};

/// Returns the JSON Schema of every format that other programs read or write, by name.
///
/// Beside files and events, the map holds one schema per deliverable tool and instruction
/// (`tool-input.coding.list`), and one per hook, backend and other spec registered in this program
/// (`hook.core-deny-tool`).
///
/// ```
/// let schemas = autonoe_core::schemas();
///
/// assert!(schemas["run-report"]["properties"]["exitReason"].is_null());
/// assert!(schemas.contains_key("tool-input.coding.set_status"));
/// ```
pub fn schemas() -> BTreeMap<String, Value> {
    let mut schemas: BTreeMap<String, Value> = [
        schema_entry::<Ledger>("ledger"),
        schema_entry::<VerificationTracker>("verification"),
        schema_entry::<StreamEvent>("stream-event"),
        // Events are only ever written, so this is the output schema.
        (
            "run-event".to_owned(),
            plain_output_schema::<RunEvent<'static>>().to_value(),
        ),
        schema_entry::<RunReport>("run-report"),
        schema_entry::<RunLimits>("run-limits"),
        schema_entry::<Budget>("budget"),
        schema_entry::<SessionReport>("session-result"),
        schema_entry::<ToolCall>("tool-call"),
        schema_entry::<ToolOutput>("tool-output"),
        schema_entry::<Capabilities>("capabilities"),
        schema_entry::<BackendProbe>("backend-probe"),
        schema_entry::<McpServer>("mcp-server"),
        schema_entry::<PermissionRule>("permission-rule"),
        #[cfg(feature = "project")]
        schema_entry::<crate::project::StatusRecord>("status-file"),
        #[cfg(feature = "project")]
        schema_entry::<crate::project::AgentConfig>("agent-config"),
        #[cfg(feature = "project")]
        schema_entry::<crate::project::JournalEntry>("journal-entry"),
    ]
    .into();
    schemas.extend(tool_inputs());
    schemas.extend(all_specs().map(|spec| {
        let name = format!("{}.{}", spec.port.name(), spec.tag);
        (name, spec.tagged_schema())
    }));
    schemas
}

fn schema_entry<T: JsonSchema>(name: &str) -> (String, Value) {
    (name.to_owned(), plain_schema::<T>().to_value())
}

fn tool_inputs() -> impl Iterator<Item = (String, Value)> {
    // Only the tool definitions are read, so any ledger works.
    let repository = Arc::new(MemoryRepository::new());
    let store = LedgerStore::new(repository, Arc::new(SystemClock), Epoch::default());
    InstructionName::BUILT_IN
        .into_iter()
        .flat_map(move |instruction| {
            let tools = deliverable_tools(&store, &instruction);
            tools.into_iter().map(move |tool| {
                let definition = tool.definition();
                let name = format!("tool-input.{instruction}.{}", definition.name);
                (name, definition.input_schema.clone())
            })
        })
}
