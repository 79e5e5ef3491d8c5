//! The `deprecate` tool, which marks a deliverable as dropped from the specification.

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::event::RunEventKind;
use crate::ledger::LedgerStore;
use crate::ledger::{Deliverable, DeliverableId};
use crate::tool::{ToolContext, ToolDescription, ToolError, ToolOutput, TypedTool};

/// Input of `deprecate`.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct DeprecateInput {
    /// The deliverable that the specification no longer requires.
    deliverable_id: DeliverableId,
}

pub(super) struct Deprecate(pub(super) LedgerStore);

#[async_trait]
impl TypedTool for Deprecate {
    type Input = DeprecateInput;

    fn describe(&self) -> ToolDescription {
        ToolDescription::new(
            "deprecate",
            "Marks a deliverable as deprecated because the specification no longer requires it. \
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
            .update_and_notify(
                |state, today| {
                    let is_active = |id| state.ledger.get(id).is_some_and(Deliverable::is_active);
                    let changed = is_active(&id);
                    state.ledger.deprecate(&id, today).map(|()| changed)
                },
                |changed| {
                    if *changed {
                        context.events().emit(RunEventKind::Deprecated { id: &id });
                    }
                },
            )
            .await?;
        Ok(ToolOutput::json(&json!({"success": true})).with_title(format!("{id} is deprecated")))
    }
}
