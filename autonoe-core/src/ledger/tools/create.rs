//! The `create` tool, which adds deliverables to the ledger.

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::ledger::ledger_store::emit_changes;
use crate::ledger::{Deliverable, DeliverableId, LedgerError};
use crate::ledger::{LedgerStore, UpdateError};
use crate::tool::{ToolContext, ToolDescription, ToolError, ToolOutput, TypedTool};

/// Input of `create`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CreateInput {
    /// The deliverables to create: either all of them or, if one is rejected, none.
    deliverables: Vec<NewDeliverable>,
}

/// A deliverable to create.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct NewDeliverable {
    /// A unique identifier, for example DL-001.
    id: DeliverableId,
    /// A clear description of the result for the user.
    description: String,
    /// Acceptance criteria, which must be verifiable; at least one.
    acceptance_criteria: Vec<String>,
}

pub(super) struct Create(pub(super) LedgerStore);

#[async_trait]
impl TypedTool for Create {
    type Input = CreateInput;

    fn describe(&self) -> ToolDescription {
        ToolDescription::new(
            "create",
            "Creates one or more deliverables with their acceptance criteria. \
             All are created as pending, or none if one of them is refused.",
        )
        .with_json_errors()
    }

    async fn run(
        &self,
        input: CreateInput,
        context: &ToolContext,
    ) -> Result<ToolOutput, ToolError> {
        let batch = input
            .deliverables
            .into_iter()
            .map(|new| Deliverable::new(new.id, new.description, new.acceptance_criteria))
            .collect::<Result<Vec<_>, LedgerError>>()
            .map_err(UpdateError::from)?;
        let changes = self
            .0
            .update_and_notify(
                |state, today| state.ledger.create(batch.iter().cloned(), today),
                |changes| emit_changes(context.events(), changes),
            )
            .await?;
        let ids: Vec<&DeliverableId> = changes.iter().map(|change| &change.id).collect();
        Ok(ToolOutput::json(&json!({"success": true, "created": ids}))
            .with_title(format!("Created {} deliverables", changes.len())))
    }
}
