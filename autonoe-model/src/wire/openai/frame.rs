//! What an event of a stream carries.

use autonoe_core::TokenUsage;
use serde_json::Value;

use crate::contract::{ModelError, ModelErrorCode};
use crate::wire::ServerEvent;

/// What an event of a stream carries.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::wire) enum Frame {
    /// Nothing: a sign of life.
    Nothing,
    /// The stream is over.
    Done,
    /// An object.
    Object(Value),
    /// Something that makes no sense.
    Nonsense,
}

impl Frame {
    /// Reads `event`.
    pub(in crate::wire) fn read(event: &ServerEvent) -> Self {
        match event.data.trim() {
            "" => Self::Nothing,
            "[DONE]" => Self::Done,
            data => match serde_json::from_str(data) {
                Ok(value @ Value::Object(_)) => Self::Object(value),
                _ => Self::Nonsense,
            },
        }
    }
}

/// Makes an error about an event that makes no sense.
pub(in crate::wire) fn nonsense(what: &str, usage: TokenUsage) -> ModelError {
    ModelError::new(
        ModelErrorCode::InvalidResponse,
        format!("the provider sent {what}"),
    )
    .with_usage(usage)
}

/// Returns the error for an answer that ended before it was complete.
pub(in crate::wire) fn broke_off(usage: TokenUsage) -> ModelError {
    ModelError::new(
        ModelErrorCode::NetworkError,
        "the answer ended before it was complete",
    )
    .with_usage(usage)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_event_carries_an_object_an_end_or_nothing() {
        let table = [
            ("", Frame::Nothing),
            ("  ", Frame::Nothing),
            ("[DONE]", Frame::Done),
            (r#"{"a": 1}"#, Frame::Object(json!({"a": 1}))),
            ("[1]", Frame::Nonsense),
            ("null", Frame::Nonsense),
            ("<html>", Frame::Nonsense),
            (r#"{"a": "#, Frame::Nonsense),
        ];

        for (data, expected) in table {
            let event = ServerEvent {
                name: String::new(),
                data: data.into(),
            };
            assert_eq!(Frame::read(&event), expected, "{data}");
        }
    }
}
