//! Deliverable tools that change the ledger: `create`, `set_status`, `verify` and `deprecate`.

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::event::RunEventKind;
use crate::ledger::ledger_store::emit_changes;
use crate::ledger::{
    Deliverable, DeliverableId, DeliverableStatus, LedgerError, LedgerStore, UpdateError,
};
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
