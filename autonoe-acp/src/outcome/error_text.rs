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
    has_reason(message, "API_KEY_INVALID")
}

/// Tells whether an error of Google's services says that nobody pays. It is a 403 there.
pub(super) fn says_unpaid(message: &str) -> bool {
    has_reason(message, "BILLING_DISABLED")
}

/// Tells whether an error of Google's services says that there is no such model. Gemini CLI makes
/// a 500 of the 404, and leaves nothing of it but the sentence of the service.
pub(super) fn says_unknown_model(message: &str) -> bool {
    message.starts_with("models/") && message.contains(" is not found for API version ")
}

fn has_reason(message: &str, reason: &str) -> bool {
    let told = serde_json::from_str::<Value>(message).unwrap_or_default();
    let mut details = told["error"]["details"].as_array().into_iter().flatten();
    details.any(|detail| detail["reason"] == reason)
}
