//! What vendors' JSON has in common.

use serde_json::Value;

/// Stands where a vendor signs what its model thought: base64, as all of them do.
pub(super) const SIGNATURE: &str = "c2NyaXB0ZWQ=";

/// Reads the body of a request.
pub(super) fn body(bytes: &[u8]) -> Result<Value, String> {
    serde_json::from_slice(bytes)
        .map_err(|error| format!("the body of the request is no JSON: {error}"))
}

/// Returns the model that a body names.
pub(super) fn model(raw: &Value) -> Result<String, String> {
    let model = raw["model"].as_str();
    Ok(model.ok_or("the request names no model")?.to_owned())
}

/// Returns the texts of what may be one string or a list of blocks.
pub(super) fn texts(raw: &Value) -> Vec<String> {
    match raw {
        Value::String(text) => vec![text.clone()],
        blocks => items(blocks)
            .filter_map(|block| block["text"].as_str().map(str::to_owned))
            .collect(),
    }
}

/// Returns the items of a list; what is no list has none.
pub(super) fn items(raw: &Value) -> impl Iterator<Item = &Value> {
    raw.as_array().into_iter().flatten()
}

/// Returns a text; what is none is empty.
pub(super) fn text(raw: &Value) -> String {
    raw.as_str().unwrap_or_default().to_owned()
}

/// Returns a text, if it is one.
pub(super) fn some_text(raw: &Value) -> Option<String> {
    raw.as_str().map(str::to_owned)
}

/// Returns what a tool is called with, from text; what is no JSON stays a text.
pub(super) fn arguments(raw: &Value) -> Value {
    let read = raw.as_str().map(serde_json::from_str);
    match read {
        Some(Ok(arguments)) => arguments,
        _ => raw.clone(),
    }
}
