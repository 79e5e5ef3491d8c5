//! The tool `create`.

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::ledger_book::tell_changes;
use super::{LedgerBook, UpdateError};
use crate::domain::{Deliverable, DeliverableId, LedgerError};
use crate::port::{ToolContext, ToolDescription, ToolError, ToolOutput, TypedTool};

/// What `create` is called with.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CreateInput {
    /// The deliverables to create: all of them or, if one is refused, none.
    deliverables: Vec<NewDeliverable>,
}

/// A deliverable to create.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct NewDeliverable {
    /// A unique identifier, for example DL-001.
    id: DeliverableId,
    /// A clear description of what a user gets.
    description: String,
    /// Verifiable conditions that show it is done; at least one.
    acceptance_criteria: Vec<String>,
}

pub(super) struct Create(pub(super) LedgerBook);

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
            .update_and_tell(
                |state, today| state.ledger.create(batch.iter().cloned(), today),
                |changes| tell_changes(context.events(), changes),
            )
            .await?;
        let ids: Vec<&DeliverableId> = changes.iter().map(|change| &change.id).collect();
        Ok(ToolOutput::json(&json!({"success": true, "created": ids}))
            .with_title(format!("Created {} deliverables", changes.len())))
    }
}
