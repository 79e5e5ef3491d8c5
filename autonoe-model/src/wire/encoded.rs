//! A request as it is sent.

use serde_json::Value;

/// A request as it is sent, but for the key.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Encoded {
    /// Where to, below the base of the provider, with the query: `/v1/messages`.
    pub(crate) path: String,
    /// Headers beside those of every request.
    pub(crate) headers: Vec<(&'static str, String)>,
    /// What is asked.
    pub(crate) body: Value,
}
