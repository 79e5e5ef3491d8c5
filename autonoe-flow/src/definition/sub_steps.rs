//! How sub-steps are run.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// That sub-steps are run one after the other; in a file, `true`.
///
/// There is no other way: who wants several agents at once starts several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "bool", into = "bool")]
pub struct Sequential;

impl TryFrom<bool> for Sequential {
    type Error = &'static str;

    fn try_from(is_sequential: bool) -> Result<Self, &'static str> {
        match is_sequential {
            true => Ok(Self),
            false => Err(
                "sub-steps are run one after the other; write true, or start several agents for work at the same time",
            ),
        }
    }
}

impl From<Sequential> for bool {
    fn from(_: Sequential) -> Self {
        true
    }
}

impl JsonSchema for Sequential {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Sequential".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"const": true})
    }
}
