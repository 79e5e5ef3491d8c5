//! The `verdict` tool, through which a judging model reports its verdict.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::tool::{
    Tool, ToolContext, ToolDescription, ToolError, ToolErrorCode, ToolOutput, TypedTool,
};

/// Name of the tool through which a judging model reports its verdict.
pub const VERDICT_TOOL: &str = "verdict";

/// Maximum length of a reason in bytes. Reasons are recorded and become part of prompts.
const MAX_REASON_LEN: usize = 64 * 1024;

/// Verdict of a judging model, reported through the tool `verdict`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "Verdict")]
pub struct JudgeVerdict {
    /// Whether the step passed.
    pub passed: bool,
    /// Reason for the verdict, in a sentence or two.
    pub reason: String,
}

/// Receives the verdict that a model reports through the tool `verdict`. Clones share the same
/// slot.
///
/// A verdict is final. If the model reports a different one afterwards, the tool returns an error.
#[derive(Clone, Debug, Default)]
pub struct VerdictSlot(Arc<Mutex<Option<JudgeVerdict>>>);

impl VerdictSlot {
    /// Removes and returns the verdict; `None` if the model reported none.
    pub fn take(&self) -> Option<JudgeVerdict> {
        let mut slot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        slot.take()
    }

    fn set(&self, verdict: JudgeVerdict) -> Result<(), ToolError> {
        let mut slot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &*slot {
            Some(previous) if previous.passed != verdict.passed => {
                Err(invalid("a different verdict was given before; it stays"))
            }
            Some(_) => Ok(()),
            None => {
                *slot = Some(verdict);
                Ok(())
            }
        }
    }
}

/// Returns the tool `verdict` of a judging session. It stores the verdict in `slot`.
///
/// Only a call of this tool counts as a verdict, whatever else the model writes.
///
/// ```
/// use autonoe_core::run::SessionAccess;
/// use autonoe_core::tool::{VerdictSlot, verdict_tool};
/// use autonoe_core::SessionOrder;
///
/// let slot = VerdictSlot::default();
/// let order = SessionOrder::new("Is the work done?")
///     .access(SessionAccess::read_only())
///     .tool(verdict_tool(&slot));
/// # drop(order);
///
/// assert_eq!(slot.take(), None);
/// ```
pub fn verdict_tool(slot: &VerdictSlot) -> Arc<dyn Tool> {
    VerdictTool(slot.clone()).into_tool()
}

struct VerdictTool(VerdictSlot);

#[async_trait]
impl TypedTool for VerdictTool {
    type Input = JudgeVerdict;

    fn describe(&self) -> ToolDescription {
        ToolDescription::new(
            VERDICT_TOOL,
            "Reports your verdict on the work that you judge: whether it passed, and why. Call \
             it once, at the end. Only this call counts as a verdict, whatever you write.",
        )
    }

    async fn run(&self, verdict: JudgeVerdict, _: &ToolContext) -> Result<ToolOutput, ToolError> {
        if verdict.reason.trim().is_empty() {
            return Err(invalid("say in `reason` why it passed or did not"));
        }
        if verdict.reason.len() > MAX_REASON_LEN {
            return Err(invalid(
                "`reason` is too long: a sentence or two are enough",
            ));
        }
        let title = if verdict.passed {
            "Passed"
        } else {
            "Not passed"
        };
        self.0.set(verdict)?;
        Ok(ToolOutput::json(&json!({"success": true})).with_title(title))
    }
}

fn invalid(message: impl Into<String>) -> ToolError {
    ToolError::new(ToolErrorCode::VALIDATION_ERROR, message)
}
