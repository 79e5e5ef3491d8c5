//! The tool `verdict`.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use autonoe_core::{ToolContext, ToolDefinition, ToolError, ToolOutput, TypedTool};
use serde_json::json;

use super::{LONGEST, VERDICT, refused};
use crate::check::Verdict;

/// Where the tool `verdict` puts what a model judged. Clones are the same place.
///
/// A verdict is given once. A model that says something else afterwards is told
/// that it has judged already.
#[derive(Clone, Debug, Default)]
pub struct VerdictSlot(Arc<Mutex<Option<Verdict>>>);

impl VerdictSlot {
    /// Takes the verdict; `None` if none was given.
    pub fn take(&self) -> Option<Verdict> {
        let mut given = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        given.take()
    }

    fn give(&self, verdict: Verdict) -> Result<(), ToolError> {
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

pub(super) struct GiveVerdict(pub(super) VerdictSlot);

#[async_trait]
impl TypedTool for GiveVerdict {
    type Input = Verdict;

    fn describe(&self) -> ToolDefinition {
        ToolDefinition::of::<Verdict>(
            VERDICT,
            "Gives your verdict on the work that you judge: whether it passed, and why. \
             Call it once, at the end. Without it there is no verdict, whatever you write.",
        )
    }

    async fn run(&self, verdict: Verdict, _: &ToolContext) -> Result<ToolOutput, ToolError> {
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
