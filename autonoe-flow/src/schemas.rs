//! JSON Schemas of the definition files of a flow.

use std::collections::BTreeMap;

use autonoe_core::tool::plain_schema;
use serde_json::Value;

use crate::definition::{FlowAgent, StepsRegistry};

/// Returns the JSON Schemas of `agent.json` and `steps_registry.json`, by name.
///
/// ```
/// let schemas = autonoe_flow::schemas();
///
/// assert_eq!(schemas["flow.agent"]["properties"]["name"]["$ref"], "#/$defs/FlowName");
/// ```
pub fn schemas() -> BTreeMap<String, Value> {
    BTreeMap::from([
        (
            "flow.agent".to_owned(),
            plain_schema::<FlowAgent>().to_value(),
        ),
        (
            "flow.steps-registry".to_owned(),
            plain_schema::<StepsRegistry>().to_value(),
        ),
    ])
}
