//! The tool `signal`, and the slot for the reports of an iteration.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use autonoe_core::tool::ToolDefinition;
use autonoe_core::{Tool, ToolContext, ToolError, ToolOutput};
use serde_json::{Map, Value, json};

use super::{SIGNAL, fields, refused};
use crate::definition::StructuredSignal;
use crate::progress::AgentSignal;

/// Sends a signal that the flow waits for, and no other.
pub(super) struct GiveSignal {
    definition: ToolDefinition,
    awaited: Vec<StructuredSignal>,
    slot: IterationSlot,
}

impl GiveSignal {
    pub(super) fn new(awaited: &[StructuredSignal], slot: &IterationSlot) -> Self {
        let names: BTreeSet<&str> = awaited.iter().map(|it| it.signal.as_str()).collect();
        let schema = json!({
            "type": "object",
            "properties": {
                "name": {"type": "string", "enum": names, "description": "The name of the signal."},
                "fields": {"type": "object", "description": "The content of the signal."},
            },
            "required": ["name"],
            "additionalProperties": false,
        });
        let signals: Vec<String> = awaited.iter().map(describe).collect();
        let description = format!(
            "Sends a signal to the flow that you work in. Send it only when it is true. Signals: \
             {}.",
            signals.join("; ")
        );
        Self {
            definition: ToolDefinition::new(SIGNAL, description, schema),
            awaited: awaited.to_vec(),
            slot: slot.clone(),
        }
    }

    /// Returns the problem of a signal that the flow does not wait for.
    fn problem(&self, signal: &AgentSignal) -> Option<String> {
        if self.awaited.iter().any(|awaited| awaited.matches(signal)) {
            return None;
        }
        let mut named = self.awaited.iter().filter(|it| it.signal == signal.name);
        Some(match named.next() {
            Some(awaited) => {
                let missing: Vec<&str> = awaited.missing_in(signal).collect();
                format!(
                    "the signal {} lacks the fields {}",
                    signal.name,
                    missing.join(", ")
                )
            }
            None => {
                let known: Vec<String> = self.awaited.iter().map(describe).collect();
                format!(
                    "there is no signal {}; known signals: {}",
                    signal.name,
                    known.join("; ")
                )
            }
        })
    }
}

fn describe(awaited: &StructuredSignal) -> String {
    match awaited.required_fields.as_slice() {
        [] => awaited.signal.clone(),
        fields => format!("{} with the fields {}", awaited.signal, fields.join(", ")),
    }
}

#[async_trait]
impl Tool for GiveSignal {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    async fn call(&self, input: Value, _: &ToolContext) -> Result<ToolOutput, ToolError> {
        let input = Value::Object(fields(SIGNAL, input)?);
        let signal: AgentSignal = serde_json::from_value(input)
            .map_err(|error| refused(format!("invalid input of {SIGNAL}: {error}")))?;
        if let Some(problem) = self.problem(&signal) {
            return Err(refused(problem));
        }
        let title = format!("Signal {}", signal.name);
        self.slot.lock().signals.push(signal);
        Ok(ToolOutput::json(&json!({"success": true})).with_title(title))
    }
}

/// Collects the tool inputs of one iteration. Clones share the same content.
#[derive(Clone, Debug, Default)]
pub struct IterationSlot(Arc<Mutex<IterationReport>>);

/// Outputs and signals of one iteration.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IterationReport {
    /// The outputs of the step, by name. A later value replaces an earlier one.
    pub outputs: Map<String, Value>,
    /// The signals, in order.
    pub signals: Vec<AgentSignal>,
}

impl IterationSlot {
    /// Returns the collected inputs, and leaves the slot empty.
    pub fn take(&self) -> IterationReport {
        std::mem::take(&mut *self.lock())
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, IterationReport> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
