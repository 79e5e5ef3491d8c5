//! The JSON Schemas of what other programs read and write here.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Dashboard;
use crate::FleetIntent;

/// Returns the JSON Schema of what other programs read and write here, by name.
///
/// ```
/// assert!(autonoe_dashboard::schemas().contains_key("dashboard"));
/// ```
pub fn schemas() -> BTreeMap<String, Value> {
    [
        ("dashboard", schemars::schema_for!(Dashboard)),
        ("dashboard.intent", schemars::schema_for!(FleetIntent)),
    ]
    .into_iter()
    .map(|(name, schema)| (name.to_owned(), schema.to_value()))
    .collect()
}
