//! Tool that records how it was called.

use async_trait::async_trait;
use autonoe_core::tool::{ToolDefinition, ToolErrorCode};
use autonoe_core::{Tool, ToolContext, ToolError, ToolOutput};
use futures::future;
use serde_json::{Value, json};

use super::ProbeCall;
use super::record::{Record, RecordEntry};

/// The name of the tool in the toolbox.
const NAME: &str = "conformance_probe";

/// The error of a call that is meant to fail.
pub(super) const FAILURE: &str = "the probe fails as it was asked to";

/// A tool that records each call; its input determines what it does.
pub(super) struct ProbeTool {
    definition: ToolDefinition,
    record: Record,
}

impl ProbeTool {
    pub(super) fn new(record: Record) -> Self {
        let schema = json!({
            "type": "object",
            "properties": {
                "number": {"type": "integer", "description": "Comes back in the answer."},
                "does": {"enum": ["answer", "fail", "wait"]},
                "load": {"description": "Anything."},
            },
            "required": ["number", "does"],
        });
        let definition = ToolDefinition::new(NAME, "Checks that tools can be called.", schema);
        Self { definition, record }
    }
}

/// A call that returns [`answer`] of `number`.
pub(super) fn answers(number: u32) -> ProbeCall {
    ProbeCall::new(NAME, json!({"number": number, "does": "answer"}))
}

/// A call with an input that is easily corrupted in transport.
pub(super) fn with_fragile_input() -> ProbeCall {
    let load = json!({
        "text": "a\nb\t\"c\" \\ 'd' $e `f` \u{1F980} e\u{301} <g> &amp; %s {0}",
        "long": "x".repeat(20_000),
        "numbers": [0, -1, 9_007_199_254_740_991_i64, 0.5],
        "empty": [null, {}, [], ""],
        "deep": {"a": {"b": {"c": [{"d": true}]}}},
    });
    ProbeCall::new(NAME, json!({"number": 7, "does": "answer", "load": load}))
}

/// A call that fails with [`FAILURE`].
pub(super) fn fails() -> ProbeCall {
    ProbeCall::new(NAME, json!({"number": 1, "does": "fail"}))
}

/// A call that never ends by itself.
pub(super) fn waits() -> ProbeCall {
    ProbeCall::new(NAME, json!({"number": 1, "does": "wait"}))
}

/// Returns the output of a successful call.
pub(super) fn answer(number: &Value) -> String {
    format!("the probe has seen number {number}.")
}

#[async_trait]
impl Tool for ProbeTool {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    async fn call(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let session = context.session.clone();
        self.record.push(RecordEntry::ToolStarted {
            session,
            input: input.clone(),
        });
        let _over = OverOnDrop(&self.record);
        match input["does"].as_str() {
            Some("answer") => Ok(ToolOutput::new(answer(&input["number"]))),
            // The toolbox ends the call, or its caller drops it.
            Some("wait") => future::pending().await,
            _ => Err(ToolError::new(ToolErrorCode::VALIDATION_ERROR, FAILURE)),
        }
    }
}

struct OverOnDrop<'a>(&'a Record);

impl Drop for OverOnDrop<'_> {
    fn drop(&mut self) {
        self.0.push(RecordEntry::ToolEnded);
    }
}
