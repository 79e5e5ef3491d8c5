//! JSON Schemas of the public data formats.

use std::collections::BTreeMap;

use autonoe_core::tool::plain_schema;
use serde_json::Value;

use crate::executor::{ExecutionReport, Task, Verification};

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
            plain_schema::<ExecutionReport>(),
        ),
        ("harness.verification", plain_schema::<Verification>()),
    ]
    .map(|(name, schema)| (name.to_owned(), schema.to_value()))
    .into()
}
