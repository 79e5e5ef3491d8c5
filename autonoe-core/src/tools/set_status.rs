//! The tool `set_status`.

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::LedgerBook;
use super::ledger_book::tell_changes;
use crate::domain::{DeliverableId, DeliverableStatus};
use crate::port::{ToolContext, ToolDescription, ToolError, ToolOutput, TypedTool};

/// What `set_status` is called with.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct SetStatusInput {
    /// The deliverable to change.
    deliverable_id: DeliverableId,
    /// Where it stands now.
    status: DeliverableStatus,
}

pub(super) struct SetStatus(pub(super) LedgerBook);

#[async_trait]
impl TypedTool for SetStatus {
    type Input = SetStatusInput;

    fn describe(&self) -> ToolDescription {
        ToolDescription::new(
            "set_status",
            "Sets the status of a deliverable. passed: every acceptance criterion was verified. \
             pending: work is to be done, or a bug was found in passed work. \
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
            .update_and_tell(
                |state, today| state.ledger.set_status(&id, status, today),
                |change| tell_changes(context.events(), std::slice::from_ref(change)),
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
