//! Headers that go with every request.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::KeySource;

/// The value of a header: a text, or a secret that is elsewhere.
///
/// ```
/// use std::collections::BTreeMap;
///
/// use autonoe_model::HeaderSource;
///
/// let headers: BTreeMap<String, HeaderSource> = serde_json::from_str(
///     r#"{"x-team": "blue", "x-gateway-key": {"env": "GATEWAY_KEY"}}"#,
/// )?;
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum HeaderSource {
    /// This text.
    Text(String),
    /// What is there. It never appears in an error.
    Secret(KeySource),
}

impl From<&str> for HeaderSource {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}
