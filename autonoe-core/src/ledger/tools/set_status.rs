//! The `set_status` tool, which changes the status of a deliverable.

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::ledger::LedgerStore;
use crate::ledger::ledger_store::emit_changes;
use crate::ledger::{DeliverableId, DeliverableStatus};
use crate::tool::{ToolContext, ToolDescription, ToolError, ToolOutput, TypedTool};

/// Input of `set_status`.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct SetStatusInput {
    /// The deliverable to change.
    deliverable_id: DeliverableId,
    /// New status.
    status: DeliverableStatus,
}

pub(super) struct SetStatus(pub(super) LedgerStore);

#[async_trait]
impl TypedTool for SetStatus {
    type Input = SetStatusInput;

    fn describe(&self) -> ToolDescription {
        ToolDescription::new(
            "set_status",
            "Sets the status of a deliverable. passed: every acceptance criterion was verified. \
             pending: work remains, or a bug was found in passed work. \
             blocked: only for external constraints (a missing key or credential, an unavailable \
             service, missing hardware, no network). Work that depends on other work, refactoring \
             and technical debt are pending.",
        )
        .with_json_errors()
    }

    async fn run(
        &self,
        input: SetStatusInput,
        context: &ToolContext,
    ) -> Result<ToolOutput, ToolError> {
        let SetStatusInput {
            deliverable_id: id,
            status,
        } = input;
        let change = self
            .0
            .update_and_notify(
                |state, today| state.ledger.set_status(&id, status, today),
                |change| emit_changes(context.events(), std::slice::from_ref(change)),
            )
            .await?;
        Ok(ToolOutput::json(&json!({
            "success": true,
            "deliverableId": change.id,
            "previousStatus": change.previous,
            "newStatus": change.status,
        }))
        .with_title(format!("{id} is {status}")))
    }
}
