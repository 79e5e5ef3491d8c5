//! JSON helpers shared by all vendors.

use serde_json::Value;

/// Placeholder for a vendor's signature of reasoning: base64, like all real ones.
pub(super) const SIGNATURE: &str = "c2NyaXB0ZWQ=";

/// Parses the body of a request.
pub(super) fn body(bytes: &[u8]) -> Result<Value, String> {
    serde_json::from_slice(bytes)
        .map_err(|error| format!("the body of the request is not JSON: {error}"))
}

/// Returns the model that a body names.
pub(super) fn model(raw: &Value) -> Result<String, String> {
    let model = raw["model"].as_str();
    Ok(model.ok_or("the request names no model")?.to_owned())
}

/// Returns the texts of a value that is a string or a list of blocks.
pub(super) fn texts(raw: &Value) -> Vec<String> {
    match raw {
        Value::String(text) => vec![text.clone()],
        blocks => items(blocks)
            .filter_map(|block| block["text"].as_str().map(str::to_owned))
            .collect(),
    }
}

/// Returns the items of a list; empty if the value is not a list.
pub(super) fn items(raw: &Value) -> impl Iterator<Item = &Value> {
    raw.as_array().into_iter().flatten()
}

/// Returns a string; empty if the value is not a string.
pub(super) fn text(raw: &Value) -> String {
    raw.as_str().unwrap_or_default().to_owned()
}

/// Returns a string, if the value is one.
pub(super) fn some_text(raw: &Value) -> Option<String> {
    raw.as_str().map(str::to_owned)
}

/// Parses the arguments of a tool from text; invalid JSON stays a string.
pub(super) fn arguments(raw: &Value) -> Value {
    let read = raw.as_str().map(serde_json::from_str);
    match read {
        Some(Ok(arguments)) => arguments,
        _ => raw.clone(),
    }
}
