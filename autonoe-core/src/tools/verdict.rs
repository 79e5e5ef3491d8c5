//! The tool with which a model that judges says what it found.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::port::{
    Tool, ToolContext, ToolDescription, ToolError, ToolErrorCode, ToolOutput, TypedTool,
};

/// The name of the tool by which a model that judges gives its verdict.
pub const VERDICT: &str = "verdict";

/// The longest reason, in bytes. It is written down and stands in prompts.
const LONGEST: usize = 64 * 1024;

/// What a model that judges says, through the tool `verdict`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "Verdict")]
pub struct JudgeVerdict {
    /// Whether the step passed.
    pub passed: bool,
    /// Why, in a sentence or two.
    pub reason: String,
}

/// Where the tool `verdict` puts what a model judged. Clones are the same place.
///
/// A verdict is given once. A model that says something else afterwards is told
/// that it has judged already.
#[derive(Clone, Debug, Default)]
pub struct VerdictSlot(Arc<Mutex<Option<JudgeVerdict>>>);

impl VerdictSlot {
    /// Takes the verdict; `None` if none was given.
    pub fn take(&self) -> Option<JudgeVerdict> {
        let mut given = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        given.take()
    }

    fn give(&self, verdict: JudgeVerdict) -> Result<(), ToolError> {
        let mut given = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &*given {
            Some(before) if before.passed != verdict.passed => {
                Err(refused("the verdict was given already, and it was another"))
            }
            Some(_) => Ok(()),
            None => {
                *given = Some(verdict);
                Ok(())
            }
        }
    }
}

/// Returns the tool `verdict` of a session that judges. What it is told is in `slot`.
///
/// Without a call of it there is no verdict, whatever the model says.
///
/// ```
/// use autonoe_core::{SessionAccess, SessionOrder, VerdictSlot, verdict_tool};
///
/// let slot = VerdictSlot::default();
/// let order = SessionOrder::new("Is the work done?")
///     .access(SessionAccess::reading())
///     .tool(verdict_tool(&slot));
/// # drop(order);
///
/// assert_eq!(slot.take(), None);
/// ```
pub fn verdict_tool(slot: &VerdictSlot) -> Arc<dyn Tool> {
    GiveVerdict(slot.clone()).into_tool()
}

struct GiveVerdict(VerdictSlot);

#[async_trait]
impl TypedTool for GiveVerdict {
    type Input = JudgeVerdict;

    fn describe(&self) -> ToolDescription {
        ToolDescription::new(
            VERDICT,
            "Gives your verdict on the work that you judge: whether it passed, and why. \
             Call it once, at the end. Without it there is no verdict, whatever you write.",
        )
    }

    async fn run(&self, verdict: JudgeVerdict, _: &ToolContext) -> Result<ToolOutput, ToolError> {
        if verdict.reason.trim().is_empty() {
            return Err(refused("say in `reason` why it passed or did not"));
        }
        if verdict.reason.len() > LONGEST {
            return Err(refused(
                "`reason` is too long: a sentence or two are enough",
            ));
        }
        let title = match verdict.passed {
            true => "Passed",
            false => "Not passed",
        };
        self.0.give(verdict)?;
        Ok(ToolOutput::json(&json!({"success": true})).with_title(title))
    }
}

fn refused(message: impl Into<String>) -> ToolError {
    ToolError::new(ToolErrorCode::VALIDATION_ERROR, message)
}
