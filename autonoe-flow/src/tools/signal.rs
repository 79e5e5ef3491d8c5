//! The tool `signal`.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use autonoe_core::{Tool, ToolContext, ToolDefinition, ToolError, ToolOutput};
use serde_json::{Map, Value, json};

use super::{SIGNAL, fields, refused};
use crate::definition::StructuredSignal;
use crate::progress::Signal;

/// Gives a signal that the flow waits for, and no other.
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
                "fields": {"type": "object", "description": "What the signal says."},
            },
            "required": ["name"],
            "additionalProperties": false,
        });
        let told: Vec<String> = awaited.iter().map(told).collect();
        let description = format!(
            "Gives a signal to the flow that you work in. Give it only when it is true. Signals: {}.",
            told.join("; ")
        );
        Self {
            definition: ToolDefinition::new(SIGNAL, description, schema),
            awaited: awaited.to_vec(),
            slot: slot.clone(),
        }
    }

    /// Says what is wrong with a signal that nobody waits for.
    fn problem(&self, signal: &Signal) -> Option<String> {
        if self.awaited.iter().any(|awaited| awaited.fits(signal)) {
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
                let known: Vec<String> = self.awaited.iter().map(told).collect();
                format!(
                    "there is no signal {}; there are: {}",
                    signal.name,
                    known.join("; ")
                )
            }
        })
    }
}

fn told(awaited: &StructuredSignal) -> String {
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
        let signal: Signal = serde_json::from_value(input)
            .map_err(|error| refused(format!("the input of {SIGNAL} does not fit: {error}")))?;
        if let Some(problem) = self.problem(&signal) {
            return Err(refused(problem));
        }
        let title = format!("Signal {}", signal.name);
        self.slot.lock().signals.push(signal);
        Ok(ToolOutput::json(&json!({"success": true})).with_title(title))
    }
}

/// Where tools put what an agent told in one iteration. Clones are the same place.
#[derive(Clone, Debug, Default)]
pub struct IterationSlot(Arc<Mutex<Collected>>);

/// What an agent told in one iteration.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Collected {
    /// The outputs of the step, by name. Of an output that was set twice, the later value.
    pub outputs: Map<String, Value>,
    /// The signals, in their order.
    pub signals: Vec<Signal>,
}

impl IterationSlot {
    /// Takes what was told, and leaves the slot empty.
    pub fn take(&self) -> Collected {
        std::mem::take(&mut *self.lock())
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Collected> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
