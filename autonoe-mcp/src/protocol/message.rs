//! JSON-RPC messages.

use rmcp::model::{ErrorCode, ErrorData};
use serde_json::{Value, json};

/// Message from an agent.
#[derive(Clone, PartialEq)]
#[cfg_attr(test, derive(Debug))]
pub(crate) enum Incoming {
    /// Requires an answer.
    Request {
        id: Value,
        method: String,
        params: Value,
    },
    /// Requires no answer.
    Notification { method: String, params: Value },
    /// Response to a request that the server never sent.
    Answer,
}

impl Incoming {
    /// Returns the ID for the answer, or `null` if the message has none.
    pub(crate) fn id(&self) -> &Value {
        match self {
            Self::Request { id, .. } => id,
            Self::Notification { .. } | Self::Answer => &Value::Null,
        }
    }
}

/// Parses one message.
///
/// # Errors
///
/// The text is not a valid message. The error is the response to send.
pub(crate) fn parse_message(text: &[u8]) -> Result<Incoming, Value> {
    let message: Value = serde_json::from_slice(text).map_err(|_| {
        let error = ErrorData::new(
            ErrorCode::PARSE_ERROR,
            "the message is not valid JSON",
            None,
        );
        error_response(&Value::Null, &error)
    })?;
    let id = match message.get("id") {
        None => None,
        Some(id) if id.is_string() || id.is_i64() || id.is_u64() => Some(id.clone()),
        Some(_) => return Err(malformed(None, "the id must be a string or a whole number")),
    };
    if message.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return Err(malformed(id, "the message is not a JSON-RPC 2.0 message"));
    }
    let params = match message.get("params") {
        None | Some(Value::Null) => json!({}),
        Some(params @ Value::Object(_)) => params.clone(),
        Some(_) => return Err(malformed(id, "params must be an object")),
    };
    let method = match message.get("method") {
        Some(Value::String(method)) => method.clone(),
        Some(_) => return Err(malformed(id, "method must be a string")),
        None if message.get("result").is_some() || message.get("error").is_some() => {
            return Ok(Incoming::Answer);
        }
        None => return Err(malformed(id, "method is missing")),
    };
    Ok(match id {
        Some(id) => Incoming::Request { id, method, params },
        None => Incoming::Notification { method, params },
    })
}

fn malformed(id: Option<Value>, reason: &'static str) -> Value {
    let error = ErrorData::new(ErrorCode::INVALID_REQUEST, reason, None);
    error_response(&id.unwrap_or_default(), &error)
}

/// Returns the success response to a request.
pub(crate) fn result(id: &Value, result: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": result})
}

/// Returns the error response to a request.
pub(crate) fn error_response(id: &Value, error: &ErrorData) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": error})
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn message_kinds_are_distinguished() {
        let request = |id: Value, params: Value| Incoming::Request {
            id,
            method: "m".into(),
            params,
        };
        for (text, expected) in [
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"m"}"#,
                request(json!(1), json!({})),
            ),
            (
                r#"{"jsonrpc":"2.0","id":"a","method":"m","params":{"x":1}}"#,
                request(json!("a"), json!({"x": 1})),
            ),
            (
                r#"{"jsonrpc":"2.0","method":"m","params":null}"#,
                Incoming::Notification {
                    method: "m".into(),
                    params: json!({}),
                },
            ),
            (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, Incoming::Answer),
            (r#"{"jsonrpc":"2.0","id":1,"error":{}}"#, Incoming::Answer),
        ] {
            assert_eq!(parse_message(text.as_bytes()), Ok(expected), "{text}");
        }
    }

    #[test]
    fn invalid_message_is_answered_with_an_error() {
        for (text, code, id) in [
            ("", -32700, json!(null)),
            ("{", -32700, json!(null)),
            ("[]", -32600, json!(null)),
            ("7", -32600, json!(null)),
            (r#"{"id":1,"method":"m"}"#, -32600, json!(1)),
            (r#"{"jsonrpc":"1.0","id":1,"method":"m"}"#, -32600, json!(1)),
            (r#"{"jsonrpc":"2.0","id":1}"#, -32600, json!(1)),
            (r#"{"jsonrpc":"2.0","id":1,"method":2}"#, -32600, json!(1)),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"m","params":[]}"#,
                -32600,
                json!(1),
            ),
            (
                r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#,
                -32600,
                json!(null),
            ),
            (
                r#"{"jsonrpc":"2.0","id":1.5,"method":"m"}"#,
                -32600,
                json!(null),
            ),
            (
                r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#,
                -32600,
                json!(null),
            ),
        ] {
            let answer = parse_message(text.as_bytes()).expect_err(text);

            assert_eq!(answer["error"]["code"], json!(code), "{text}");
            assert_eq!(answer["id"], id, "{text}");
        }
    }

    proptest! {
        #[test]
        fn arbitrary_text_never_panics(text in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = parse_message(&text);
        }
    }
}
