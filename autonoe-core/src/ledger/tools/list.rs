//! The `list` tool, with and without the filter of verify sessions.

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::ledger::LedgerStore;
use crate::ledger::{Deliverable, DeliverableStatus, LedgerState};
use crate::tool::{ToolContext, ToolDescription, ToolError, ToolErrorCode, ToolOutput, TypedTool};

const DESCRIPTION: &str = "Lists deliverables with their acceptance criteria and status, \
     in the order of their creation. Deprecated ones are left out. \
     `total` is the number of matches, `deliverables` holds the first `limit` of them.";

const DEFAULT_LIMIT: usize = 5;

fn default_limit() -> usize {
    DEFAULT_LIMIT
}

/// Input of `list`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListInput {
    /// Filter for the deliverables; all by default.
    #[serde(default)]
    filter: StatusFilter,
    /// Maximum number of deliverables to list.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1))]
    limit: usize,
}

/// Filter for the deliverables to list.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct StatusFilter {
    /// Only deliverables with this status.
    status: Option<DeliverableStatus>,
}

/// Input of `list` in a verify session.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct VerifyListInput {
    /// Filter for the deliverables; all by default.
    #[serde(default)]
    filter: VerifyFilter,
    /// Maximum number of deliverables to list.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1))]
    limit: usize,
}

/// Filter for the deliverables to list in a verify session.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct VerifyFilter {
    /// Only deliverables with this status.
    status: Option<DeliverableStatus>,
    /// Only deliverables that were verified (true) or not (false).
    verified: Option<bool>,
}

pub(super) struct List(pub(super) LedgerStore);

#[async_trait]
impl TypedTool for List {
    type Input = ListInput;

    fn describe(&self) -> ToolDescription {
        ToolDescription::new("list", DESCRIPTION)
            .read_only()
            .with_json_errors()
    }

    async fn run(&self, input: ListInput, _: &ToolContext) -> Result<ToolOutput, ToolError> {
        let status = input.filter.status;
        let matching = |deliverable: &Deliverable, _: &LedgerState| has_status(deliverable, status);
        list(&self.0, input.limit, matching, |deliverable, _| {
            render(deliverable)
        })
        .await
    }
}

pub(super) struct VerifyList(pub(super) LedgerStore);

#[async_trait]
impl TypedTool for VerifyList {
    type Input = VerifyListInput;

    fn describe(&self) -> ToolDescription {
        ToolDescription::new("list", DESCRIPTION)
            .read_only()
            .with_json_errors()
    }

    async fn run(&self, input: VerifyListInput, _: &ToolContext) -> Result<ToolOutput, ToolError> {
        let VerifyFilter { status, verified } = input.filter;
        let is_verified = |deliverable: &Deliverable, state: &LedgerState| {
            state.verification.is_verified(deliverable.id())
        };
        let matching = |deliverable: &Deliverable, state: &LedgerState| {
            has_status(deliverable, status)
                && verified.is_none_or(|expected| is_verified(deliverable, state) == expected)
        };
        list(&self.0, input.limit, matching, |deliverable, state| {
            let mut value = render(deliverable);
            value["verified"] = is_verified(deliverable, state).into();
            value
        })
        .await
    }
}

async fn list(
    store: &LedgerStore,
    limit: usize,
    matching: impl Fn(&Deliverable, &LedgerState) -> bool,
    render: impl Fn(&Deliverable, &LedgerState) -> Value,
) -> Result<ToolOutput, ToolError> {
    if limit == 0 {
        return Err(ToolError::new(
            ToolErrorCode::VALIDATION_ERROR,
            "limit must be at least 1",
        ));
    }
    let state = store
        .read()
        .await
        .map_err(crate::ledger::UpdateError::from)?;
    let found: Vec<Value> = state
        .iter()
        .flat_map(|state| {
            state
                .ledger
                .active()
                .filter(|deliverable| matching(deliverable, state))
                .map(|deliverable| render(deliverable, state))
        })
        .collect();
    let total = found.len();
    let first: Vec<Value> = found.into_iter().take(limit).collect();
    let title = format!("Listed {} of {total} deliverables", first.len());
    Ok(ToolOutput::json(&json!({"deliverables": first, "total": total})).with_title(title))
}

fn has_status(deliverable: &Deliverable, expected: Option<DeliverableStatus>) -> bool {
    expected.is_none_or(|status| deliverable.status() == status)
}

fn render(deliverable: &Deliverable) -> Value {
    json!({
        "id": deliverable.id(),
        "description": deliverable.description(),
        "acceptanceCriteria": deliverable.acceptance_criteria(),
        "status": deliverable.status(),
    })
}
