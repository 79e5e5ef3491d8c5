//! [`Encoded`]: HTTP request to a model.

use serde_json::Value;

/// HTTP request without the key.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Encoded {
    /// Path below the provider's base URL, with the query: `/v1/messages`.
    pub(crate) path: String,
    /// Headers in addition to those of every request.
    pub(crate) headers: Vec<(&'static str, String)>,
    /// JSON body.
    pub(crate) body: Value,
}
