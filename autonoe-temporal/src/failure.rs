//! Root causes of failures that the server reports, and the spending of lost work.

use autonoe_core::agent::{BudgetUsage, CostTotal};
use temporalio_common::protos::temporal::api::failure::v1::Failure;

/// Returns the message of the root cause. The outer messages only wrap it.
pub(crate) fn reason(mut failure: &Failure) -> String {
    while let Some(cause) = &failure.cause {
        failure = cause;
    }
    failure.message.clone()
}

/// Returns the spending of work whose worker is lost.
pub(crate) fn unknown_spending() -> BudgetUsage {
    BudgetUsage {
        cost: CostTotal::unknown(),
        ..BudgetUsage::default()
    }
}
