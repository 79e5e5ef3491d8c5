//! The JSON Schemas of what others read and write.

use std::collections::BTreeMap;

use autonoe_core::plain_schema;
use serde_json::Value;

use crate::{ExecutionResult, Task, Verification};

/// Returns the JSON Schemas of tasks, of their results and of verifications, by name.
///
/// ```
/// let schemas = autonoe_harness::schemas();
///
/// assert_eq!(schemas["harness.task"]["required"], serde_json::json!(["id", "goal"]));
/// ```
pub fn schemas() -> BTreeMap<String, Value> {
    [
        ("harness.task", plain_schema::<Task>()),
        (
            "harness.execution-result",
            plain_schema::<ExecutionResult>(),
        ),
        ("harness.verification", plain_schema::<Verification>()),
    ]
    .map(|(name, schema)| (name.to_owned(), schema.to_value()))
    .into()
}
