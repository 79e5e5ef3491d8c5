//! What the text of an error holds.

use serde_json::Value;

/// Returns the sentence of an error whose message may be the JSON of a service.
pub(super) fn sentence(message: &str) -> String {
    let told = serde_json::from_str::<Value>(message).ok();
    let inner = told
        .as_ref()
        .and_then(|json| json["error"]["message"].as_str());
    inner.unwrap_or(message).to_owned()
}

/// Tells whether an error of Google's services says that the key is wrong. It is a 400 there.
pub(super) fn says_invalid_key(message: &str) -> bool {
    let told = serde_json::from_str::<Value>(message).unwrap_or_default();
    let details = told["error"]["details"].as_array().into_iter().flatten();
    details
        .into_iter()
        .any(|detail| detail["reason"] == "API_KEY_INVALID")
}
