//! The tool `deprecate`.

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::LedgerBook;
use crate::domain::{Deliverable, DeliverableId};
use crate::port::{RunEventKind, ToolContext, ToolDescription, ToolError, ToolOutput, TypedTool};

/// What `deprecate` is called with.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct DeprecateInput {
    /// The deliverable that the specification no longer asks for.
    deliverable_id: DeliverableId,
}

pub(super) struct Deprecate(pub(super) LedgerBook);

#[async_trait]
impl TypedTool for Deprecate {
    type Input = DeprecateInput;

    fn describe(&self) -> ToolDescription {
        ToolDescription::new(
            "deprecate",
            "Marks a deliverable that the specification no longer asks for. \
             Its record stays, but it no longer counts.",
        )
        .with_json_errors()
    }

    async fn run(
        &self,
        input: DeprecateInput,
        context: &ToolContext,
    ) -> Result<ToolOutput, ToolError> {
        let id = input.deliverable_id;
        self.0
            .update_and_tell(
                |state, today| {
                    let active = |id| state.ledger.get(id).is_some_and(Deliverable::is_active);
                    let news = active(&id);
                    state.ledger.deprecate(&id, today).map(|()| news)
                },
                |news| {
                    if *news {
                        context.events().emit(RunEventKind::Deprecated { id: &id });
                    }
                },
            )
            .await?;
        Ok(ToolOutput::json(&json!({"success": true})).with_title(format!("{id} is deprecated")))
    }
}
