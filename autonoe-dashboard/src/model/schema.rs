//! The JSON Schemas of what other programs read and write here.

use std::collections::BTreeMap;

use autonoe_core::plain_schema;
use serde_json::Value;

use super::Dashboard;
use crate::FleetIntent;

/// Returns the JSON Schemas of snapshots and of what persons ask for, by name.
///
/// ```
/// assert!(autonoe_dashboard::schemas().contains_key("dashboard"));
/// ```
pub fn schemas() -> BTreeMap<String, Value> {
    [
        ("dashboard", plain_schema::<Dashboard>()),
        ("dashboard.intent", plain_schema::<FleetIntent>()),
    ]
    .map(|(name, schema)| (name.to_owned(), schema.to_value()))
    .into()
}
