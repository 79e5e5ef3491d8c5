//! The `verify` tool, which marks a deliverable as checked by a sync.

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::event::RunEventKind;
use crate::ledger::DeliverableId;
use crate::ledger::LedgerStore;
use crate::tool::{ToolContext, ToolDescription, ToolError, ToolOutput, TypedTool};

/// Input of `verify`.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct VerifyInput {
    /// The deliverable that was checked.
    deliverable_id: DeliverableId,
}

pub(super) struct Verify(pub(super) LedgerStore);

#[async_trait]
impl TypedTool for Verify {
    type Input = VerifyInput;

    fn describe(&self) -> ToolDescription {
        ToolDescription::new(
            "verify",
            "Marks a deliverable as checked against the code, whatever the result. \
             Set its status with set_status first.",
        )
        .with_json_errors()
    }

    async fn run(
        &self,
        input: VerifyInput,
        context: &ToolContext,
    ) -> Result<ToolOutput, ToolError> {
        let id = input.deliverable_id;
        self.0
            .update_and_notify(
                |state, _| {
                    let changed = !state.verification.is_verified(&id);
                    state
                        .verification
                        .verify(&id, &state.ledger)
                        .map(|()| changed)
                },
                |changed| {
                    if *changed {
                        context.events().emit(RunEventKind::Verified { id: &id });
                    }
                },
            )
            .await?;
        Ok(ToolOutput::json(&json!({"success": true})).with_title(format!("{id} is verified")))
    }
}
